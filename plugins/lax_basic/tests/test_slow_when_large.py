"""Large arrays of types that NumPy is slow on are compiled: where the results are the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_core import config
from bindax_core.extend import Array, Primitive, as_array
from bindax_lax_basic import plugin
from bindax_lax_basic._large_arrays import LARGE
from bindax_lax_basic.dtypes import is_complex

pytest.importorskip("bindax_xla_backend")
pytest.importorskip("jaxlib")

TYPES = (
    *(f"{kind}{width}" for kind in ("int", "uint") for width in (8, 16, 32, 64)),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool"),
)


def _reduced(exponent_bits: int, mantissa_bits: int) -> Callable[..., Any]:
    return lambda x: lax.reduce_precision(x, exponent_bits, mantissa_bits)


INTEGERS = {t for t in TYPES if "int" in t}
HALF = {"float16"}
SHORT = {"float16", "bfloat16"}
FLOATS = {"float16", "bfloat16", "float32", "float64"}
PRECISIONS = ((5, 10), (8, 23), (8, 7), (5, 4), (11, 52), (3, 2), (1, 0))

Function = Callable[..., Any]
# Of zeros that are equal, but for their signs, each of these may give either.
EITHER_ZERO = {"clamp", "max", "min", "nextafter"}
# The types that each is slow on, how many operands it takes, and it with parameters.
SLOW: dict[str, tuple[set[str], int, list[Function]]] = {
    **{
        name: (HALF, 1, [getattr(lax, name)])
        for name in ("ceil", "floor", "sign", "sqrt", "square")
    },
    **{
        name: (HALF, 2, [getattr(lax, name)])
        for name in ("add", "max", "min", "mul", "nextafter", "rem", "sub")
    },
    **{name: (HALF, 2, [getattr(lax, name)]) for name in ("eq", "ge", "gt", "le", "lt", "ne")},
    **{name: (INTEGERS, 1, [getattr(lax, name)]) for name in ("clz", "population_count")},
    **{
        name: (INTEGERS, 2, [getattr(lax, name)])
        for name in ("mulhi", "shift_left", "shift_right_arithmetic", "shift_right_logical")
    },
    "div": (INTEGERS | HALF, 2, [lax.div]),
    "is_finite": (SHORT, 1, [lax.is_finite]),
    "clamp": (HALF, 3, [lax.clamp]),
    "round": (SHORT, 1, [partial(lax.round, rounding_method=m) for m in lax.RoundingMethod]),
    "integer_pow": (HALF, 1, [partial(lax.integer_pow, y=y) for y in (-3, 0, 2, 5)]),
    "reduce_precision": (FLOATS, 1, [_reduced(*p) for p in PRECISIONS]),
}


def slow_primitives() -> set[str]:
    every = [x for x in vars(plugin).values() if isinstance(x, Primitive)]
    return {p.name for p in every if callable(p.prefers_compiler)}


def test_the_table_has_every_primitive() -> None:
    assert slow_primitives() == {*SLOW, "convert_element_type"}


def numbers(dtype: np.dtype[Any], seed: int) -> np.ndarray[Any, Any]:
    """Any bits, ordinary numbers, and what is special, so often that each meets each other."""
    generator = np.random.default_rng(seed)
    if dtype == np.bool_:
        return generator.random(LARGE) > 0.5
    if is_complex(dtype):
        parts = np.dtype(f"f{dtype.itemsize // 2}")
        return np.stack([numbers(parts, seed), numbers(parts, seed + 10)], -1).view(dtype)[:, 0]
    bits = generator.bytes(LARGE * dtype.itemsize)
    out = np.frombuffer(bits, f"u{dtype.itemsize}").view(dtype).copy()
    small = generator.normal(size=LARGE // 4) * 10
    out[: LARGE // 4] = np.abs(small).astype(dtype) if dtype.kind == "u" else small.astype(dtype)
    special = np.array([0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 127], dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        special = np.concatenate([special, np.array([limits.max, limits.min], dtype), ~special])
    else:
        halves = [0.5, 1.5, 2.5, 1e-4, 1e-7, 6e-8, 65504, 65519, np.inf, np.nan]
        special = np.concatenate([special, np.array(halves).astype(dtype)])
        special = np.concatenate([special, -special])
    out[LARGE // 4 : LARGE // 2] = generator.choice(special, LARGE // 4)
    return generator.permutation(out)


def operands_of(count: int, dtype: str) -> list[Array]:
    return [as_array(numbers(lax.dtype(dtype), seed)) for seed in range(count)]


def is_slow(function: Function, operands: list[Array], *, either_zero: bool = False) -> bool:
    """Whether large arrays are compiled, and give the bits that NumPy gives."""
    with config.override(backend="numpy"):
        expected = np.asarray(function(*operands))
    found = function(*operands)
    assert_same_bits(np.asarray(found), expected, either_zero=either_zero)
    return found._buffer is not None


def assert_same_bits(
    found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], *, either_zero: bool
) -> None:
    assert found.dtype == expected.dtype
    if is_complex(found.dtype):
        found, expected = found.view(found.real.dtype), expected.view(found.real.dtype)
    with np.errstate(invalid="ignore"):  # signalling nan
        other = found != found  # nan has many patterns
        np.testing.assert_array_equal(other, expected != expected)
        other |= (found == 0) & (expected == 0) & either_zero
    bits = f"u{found.itemsize}"
    np.testing.assert_array_equal(found[~other].view(bits), expected[~other].view(bits))


CASES = [
    pytest.param(name, count, function, dtype, id=f"{name}-{i}-{dtype}")
    for name, (slow, count, functions) in SLOW.items()
    for dtype in sorted(slow)
    for i, function in enumerate(functions)
]


@pytest.mark.parametrize(("name", "count", "function", "dtype"), CASES)
def test_results_do_not_depend_on_the_size(
    name: str, count: int, function: Function, dtype: str
) -> None:
    operands = operands_of(count, dtype)
    with config.override(backend=None):
        assert is_slow(function, operands, either_zero=name in EITHER_ZERO)


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_conversions_do_not_depend_on_the_size(dtype: str, target: str) -> None:
    operands = operands_of(1, dtype)
    slow = dtype == "float16" or (target == "float16" and dtype not in ("float64", "complex128"))
    with config.override(backend=None):
        compiled = is_slow(lambda x: lax.convert_element_type(x, target), operands)
    assert compiled == (slow and dtype != target)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_other_types_and_few_numbers_stay_with_numpy(dtype: str) -> None:
    few = lax.full((LARGE - 1,), 2, "float16")
    many = lax.full((LARGE,), 2, dtype)
    with config.override(backend=None):
        assert lax.add(few, few)._buffer is None
        assert lax.sign(few)._buffer is None
        assert lax.add(many, many)._buffer is None
        assert lax.sign(many)._buffer is None


def test_the_largest_operand_counts() -> None:
    one, many = lax.full((), 2, "float16"), lax.full((LARGE,), 2, "float16")
    with config.override(backend=None):
        assert lax.add(many, one)._buffer is not None
        assert lax.add(one, many)._buffer is not None
