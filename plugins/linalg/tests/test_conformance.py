from bindax_core.testing import conformance

test_rules = conformance("linalg", budget=20.0)
