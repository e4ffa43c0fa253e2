from bindax_testing import conformance

test_rules = conformance("lax_basic", budget=8.0)
