from bindax_testing import conformance

test_rules = conformance("cpp_kernel", budget=5.0)
