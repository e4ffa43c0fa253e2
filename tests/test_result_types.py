"""Dtypes and weak types of results, beside JAX's: every function of one to three operands.

The operands are Python numbers, weak arrays, and arrays of many dtypes.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import config

for package in ("nn", "numpy"):
    pytest.importorskip(f"bindax_{package}", reason="the package is not installed")

MODULES = ("numpy", "nn")
NUMBERS = {"True": True, "3": 3, "2.5": 2.5, "2j": 2j}
NAMES = ("bool", "int8", "uint8", "int32", "float16", "bfloat16", "float32", "float64", "complex64")
# Which kinds of operands functions of so many are called with.
KINDS = {
    1: (*NUMBERS, "weak 3", "weak 2.5", "weak 2j", "weak [3]", "weak [2.5]", *NAMES),
    2: (
        "True",
        "3",
        "2.5",
        "2j",
        "weak 2.5",
        "weak [3]",
        "int8",
        "float16",
        "float32",
        "complex64",
    ),
    3: ("3", "2.5", "weak 2.5", "int8", "float16", "bool"),
}


def made(m: Any, kind: str) -> Any:
    """The operand of a kind, for JAX or for bindax."""
    if kind in NUMBERS:
        return NUMBERS[kind]
    if kind.startswith("weak ["):
        return m.numpy.broadcast_to(NUMBERS[kind[6:-1]], (2,))
    if kind.startswith("weak "):
        return m.numpy.asarray(NUMBERS[kind[5:]])
    return m.numpy.asarray(np.ones(2), kind)


def public(module: str) -> list[str]:
    """The functions of a module that are there in bindax."""
    found = getattr(bindax, module)
    return [
        name
        for name in getattr(found, "__all__", dir(found))
        if callable(getattr(found, name)) and not inspect.isclass(getattr(found, name))
    ]


def arity(function: Callable[..., Any]) -> int:
    """How many operands a function needs at least."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters
    )


def type_of(x: Any) -> str:
    aval = getattr(x, "aval", x)
    if not (hasattr(aval, "dtype") and hasattr(aval, "shape")):
        return type(x).__name__
    return f"{aval.dtype}{'*' if getattr(aval, 'weak_type', False) else ''}{list(aval.shape)}"


def result(m: Any, function: Callable[..., Any], kinds: tuple[str, ...]) -> str:
    """The types of what a function gives for operands of some kinds; nothing where it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(*[made(m, kind) for kind in kinds])
    except Exception:
        return ""
    leaves = m.tree_util.tree_leaves(found)
    return " ".join(type_of(x) for x in leaves)


def asked(module: str, name: str) -> list[tuple[str, ...]]:
    """The kinds of operands that a function is called with."""
    n = arity(getattr(getattr(bindax, module), name))
    return list(itertools.product(KINDS[n], repeat=n)) if n in KINDS else []


def plain(types: str) -> str:
    """The types of results; JAX has weak booleans, which bindax has not."""
    return types.replace("bool*", "bool")


# Differences that are known, by function. In JAX some formulas with a constant of NumPy forget that
# an operand was weak, or keep the 32 bits of a boolean; the array has the same elements.
STAYS_WEAK = "deg2rad degrees rad2deg radians log10 log2 rint sinc gcd lcm power pow full_like"
STAYS_WEAK += " diagflat angle"
STRONG = "sort insert partition polydiv unravel_index heaviside hypot"
BOOLEANS = """bitwise_left_shift bitwise_right_shift divmod floor_divide left_shift mod remainder
right_shift square squareplus standardize tri polyint"""
WIDER = "argpartition cumulative_prod interp polyfit"
KNOWN = frozenset(f"{STAYS_WEAK} {STRONG} {BOOLEANS} {WIDER}".split())
# They answer in Python's types, and JAX in those of traced programs.
PYTHON = {"can_cast", "isdtype", "issubdtype", "iscomplexobj", "isrealobj", "isscalar", "iterable"}
PYTHON |= {"ndim", "promote_types", "shape", "size"}
NAMES_OF = [
    (module, name)
    for module in MODULES
    for name in public(module)
    if asked(module, name) and name not in PYTHON
]


@pytest.mark.every(16)
@pytest.mark.parametrize(("module", "name"), NAMES_OF, ids=[".".join(n) for n in NAMES_OF])
def test_types_of_results(module: str, name: str, jax_answers: Any) -> None:
    def computed(jax: Any) -> list[Any]:
        function = getattr(getattr(jax, module), name, None)
        if function is None:
            return [None]
        calls = [partial(result, jax, function, kinds) for kinds in asked(module, name)]
        found: list[str] = []
        for call in calls:
            jax.eval_shape(lambda call=call: found.append(call()))
        return ["|".join(found)]

    (wanted,) = jax_answers.each(["types"], computed)
    if wanted is None:
        return
    function = getattr(getattr(bindax, module), name)
    wrong = []
    with config.override(enable_x64=True):
        for kinds, answer in zip(asked(module, name), wanted.split("|"), strict=True):
            got = result(bindax, function, kinds) if answer else ""
            if got and plain(got) != plain(answer):
                wrong.append((kinds, got, answer))
    if name in KNOWN:
        assert wrong, "this is no difference: take it out of the table"
    else:
        assert not wrong


@pytest.mark.parametrize("transformation", ["grad", "jacfwd", "jacrev", "hessian"])
def test_derivatives_at_weak_values_are_weak(transformation):
    derivative = getattr(bindax, transformation)(lambda x: x * x)
    assert derivative(2.0).weak_type
    assert derivative(2.0).dtype == np.float64
    assert not derivative(np.float32(2)).weak_type
