import pytest

from bindax_testing import conformance

check = conformance("random", budget=8.0)


# The kit draws numbers; what the primitives on keys do is shown in test_key_arrays.py.
@pytest.mark.parametrize(
    "primitive", ["samples", "random.unit_floats", "threefry2x32", "threefry2x32_numbers"]
)
def test_rules(primitive):
    check(primitive)
