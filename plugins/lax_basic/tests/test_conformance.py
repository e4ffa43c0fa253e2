from bindax_testing import conformance

test_rules = conformance("lax_basic", budget=5.0)
