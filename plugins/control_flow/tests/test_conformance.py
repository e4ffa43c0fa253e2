from bindax_testing import conformance

test_rules = conformance("control_flow", budget=4.0)
