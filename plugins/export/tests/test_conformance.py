import pytest

from bindax_testing import conformance

pytest.importorskip("jaxlib")

test_rules = conformance("export", budget=10.0)
