from bindax_testing import conformance

test_rules = conformance("export", budget=10.0)
