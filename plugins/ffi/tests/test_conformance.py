from bindax_testing import conformance

test_rules = conformance("ffi", budget=5.0)
