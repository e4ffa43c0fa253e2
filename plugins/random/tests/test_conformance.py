from bindax_testing import conformance

test_rules = conformance("random", budget=8.0)
