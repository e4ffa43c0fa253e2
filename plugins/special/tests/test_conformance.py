from bindax_testing import conformance

test_rules = conformance("special", budget=3.0)
