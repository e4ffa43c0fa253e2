from bindax_testing import conformance

test_rules = conformance("parallel", budget=4.0)
