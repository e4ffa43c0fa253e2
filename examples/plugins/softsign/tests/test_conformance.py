from bindax_core.testing import conformance

test_rules = conformance("softsign", budget=10.0)
