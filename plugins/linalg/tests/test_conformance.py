from bindax_testing import conformance

test_rules = conformance("linalg", budget=3.0)
