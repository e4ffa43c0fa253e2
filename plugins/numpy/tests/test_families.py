"""Values, dtypes, derivatives and transformations of families of functions, beside JAX's."""

import warnings

import pytest

pytest.importorskip("jax")

import _family_list
import _more_families
from _numpy_families import Family, check_close, check_mapped, check_same, evaluated

FAMILIES = {
    name: family
    for module in (_family_list, _more_families)
    for name, family in vars(module).items()
    if isinstance(family, Family)
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def every(attribute):
    return [(name, call) for name, f in FAMILIES.items() for call in getattr(f, attribute)]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(("name", "call"), every("calls"))
def test_evaluated(name, call, bits):
    family = FAMILIES[name]
    check_same(evaluated(call, family.operands(bits), bits), family.expected(bits)[call])


@pytest.mark.parametrize("backend", ["numpy", None], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(("name", "call"), every("calls"))
def test_staged(name, call, backend):
    family = FAMILIES[name]
    check_same(family.staged(backend)[call], family.expected(32)[call])


@pytest.mark.parametrize(("name", "call"), every("gradients"))
def test_gradients(name, call):
    family = FAMILIES[name]
    check_close(family.gradient(call), family.expected_gradients()[call])


@pytest.mark.parametrize(("name", "call"), every("mapped"))
def test_mapping_is_a_loop(name, call):
    check_mapped(FAMILIES[name], call)
