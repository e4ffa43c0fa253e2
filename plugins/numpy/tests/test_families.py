"""Values, dtypes, derivatives and transformations of families of functions, beside JAX's."""

import functools
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


def check_evaluated(bits, family, call):
    check_same(evaluated(call, family.operands(bits), bits), family.expected(bits)[call])


def check_staged(backend, family, call):
    check_same(family.staged(backend)[call], family.expected(32)[call])


def check_gradient(family, call):
    check_close(family.gradient(call), family.expected_gradients()[call])


CHECKS = {
    "32 bits": ("calls", functools.partial(check_evaluated, 32)),
    "64 bits": ("calls", functools.partial(check_evaluated, 64)),
    "interpreted": ("calls", functools.partial(check_staged, "numpy")),
    "compiled": ("calls", functools.partial(check_staged, None)),
    "gradient": ("gradients", check_gradient),
    "mapped": ("mapped", check_mapped),
}


# One test for all checks, family by family: a process that runs some of them compiles the programs
# of few families.
@pytest.mark.parametrize(
    ("name", "check", "call"),
    [
        (name, check, call)
        for name, family in FAMILIES.items()
        for check, (calls, _) in CHECKS.items()
        for call in getattr(family, calls)
    ],
)
def test_family(name, check, call):
    CHECKS[check][1](FAMILIES[name], call)
