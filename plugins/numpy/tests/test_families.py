"""Values, dtypes, derivatives and transformations of families of functions, beside JAX's."""

import functools
import os
import warnings

import _family_list
import _more_families
import pytest
from _numpy_families import Family, check_close, check_mapped, check_same, evaluated
from _references import check_each, stored

FAMILIES = {
    name: family
    for module in (_family_list, _more_families)
    for name, family in vars(module).items()
    if isinstance(family, Family)
}
# Compilation takes minutes, and what functions are made of is compiled by tests of its own.
COMPILED = os.environ.get("BINDAX_DIFFERENTIAL") == "all"


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check_evaluated(bits, name, family, call):
    check_same(evaluated(call, family.operands(bits), bits), stored(f"{name} {bits} {call}"))


def check_staged(backend, name, family, call):
    check_same(family.staged(backend)[call], stored(f"{name} 32 {call}"))


def check_gradient(name, family, call):
    check_close(family.gradient(call), stored(f"{name} gradient {call}")[0])


CHECKS = {
    "32 bits": ("calls", functools.partial(check_evaluated, 32)),
    "64 bits": ("calls", functools.partial(check_evaluated, 64)),
    "interpreted": ("calls", functools.partial(check_staged, "numpy")),
    **({"compiled": ("calls", functools.partial(check_staged, None))} if COMPILED else {}),
    "gradient": ("gradients", check_gradient),
    "mapped": ("mapped", lambda name, family, call: check_mapped(family, call)),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", FAMILIES)
def test_family(name, check):
    calls, compare = CHECKS[check]
    family = FAMILIES[name]
    check_each(getattr(family, calls), functools.partial(compare, name, family))
