from bindax_testing import conformance

test_rules = conformance("softsign", budget=10.0)
