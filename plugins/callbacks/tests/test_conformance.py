from bindax_testing import conformance

test_rules = conformance("callbacks", budget=10.0)
