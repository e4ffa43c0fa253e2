"""Large arrays of types that NumPy is slow on are compiled, with the results that it gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
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
NARROW_INTEGERS = INTEGERS - {"int64", "uint64"}
HALF = {"float16"}
BRAIN = {"bfloat16"}
SINGLE = {"float32"}
LONG = {"float32", "float64"}
COMPLEX = {"complex64", "complex128"}
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
    "is_finite": (FLOATS, 1, [lax.is_finite]),
    "clamp": (HALF | NARROW_INTEGERS, 3, [lax.clamp]),
    "select_n": (
        SHORT | NARROW_INTEGERS | COMPLEX | SINGLE | {"bool"},
        2,
        [lambda x, y: lax.select_n(lax.iota("int32", LARGE) % 3 == 0, x, y)],
    ),
    "round": (FLOATS, 1, [partial(lax.round, rounding_method=m) for m in lax.RoundingMethod]),
    "integer_pow": (INTEGERS | HALF, 1, [partial(lax.integer_pow, y=y) for y in (0, 2, 5)]),
    "neg": (HALF, 1, [lax.neg]),
    "complex": ({"float32", "float64"}, 2, [lax.complex]),
    "reduce_precision": (FLOATS, 1, [_reduced(*p) for p in PRECISIONS]),
}
# The same where compiled results differ: numbers below the least normal one are taken for zero,
# and others may be off by some units of the last digit.
CLOSE: dict[str, tuple[set[str], int, list[Function], float]] = {
    **{
        name: (BRAIN, 1, [getattr(lax, name)], 0)
        for name in ("abs", "ceil", "floor", "neg", "square")
    },
    **{
        name: (BRAIN, 2, [getattr(lax, name)], 0)
        for name in ("add", "div", "ge", "gt", "le", "lt", "max", "min", "mul", "rem", "sub")
    },
    **{
        name: (BRAIN, 1, [getattr(lax, name)], 1.2)
        for name in ("acosh", "asinh", "atanh", "cosh", "exp2", "expm1", "log", "log1p", "sinh")
    },
    **{name: (BRAIN | COMPLEX, 2, [getattr(lax, name)], 0) for name in ("eq", "ne")},
    "exp": (BRAIN | SINGLE, 1, [lax.exp], 4),
    **{name: (HALF, 2, [getattr(lax, name)], 1.2) for name in ("atan2", "pow")},
    "sqrt": (BRAIN | LONG, 1, [lax.sqrt], 0),
    "rsqrt": (SHORT, 1, [lax.rsqrt], 1.2),
    "sign": (BRAIN | LONG, 1, [lax.sign], 0),
    "tanh": (BRAIN | LONG, 1, [lax.tanh], 4),
    "logistic": (FLOATS, 1, [lax.logistic], 4),
    "nextafter": (BRAIN | LONG, 2, [lax.nextafter], 0),
    "clamp": (BRAIN | SINGLE, 3, [lax.clamp], 0),
    "integer_pow": (
        FLOATS - HALF,
        1,
        [partial(lax.integer_pow, y=y) for y in (-1, 0, 2, 5)],
        0,
    ),
}


def slow_primitives() -> set[str]:
    every = [x for x in vars(plugin).values() if isinstance(x, Primitive)]
    return {p.name for p in every if callable(p.prefers_compiler)}


def test_the_table_has_every_primitive() -> None:
    assert slow_primitives() == {*SLOW, *CLOSE, "convert_element_type"}


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


CLOSE_CASES = [
    pytest.param(count, function, units, dtype, id=f"{name}-{i}-{dtype}")
    for name, (slow, count, functions, units) in CLOSE.items()
    for dtype in sorted(slow)
    for i, function in enumerate(functions)
]


@pytest.mark.parametrize(("count", "function", "units", "dtype"), CLOSE_CASES)
def test_results_hardly_depend_on_the_size(
    count: int, function: Function, units: float, dtype: str
) -> None:
    operands = [as_array(quiet(np.asarray(x))) for x in operands_of(count, dtype)]
    with config.override(backend="numpy"):
        expected = np.asarray(function(*[as_array(flushed(np.asarray(x))) for x in operands]))
    with config.override(backend=None):
        found = function(*operands)
    assert found._buffer is not None
    assert_close(np.asarray(found), expected, units)


def quiet(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Without signalling nan, of which NumPy knows no power but nan."""
    with np.errstate(invalid="ignore"):
        return np.where(x != x, np.array(np.nan, x.dtype), x)


def flushed(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Zeros in place of numbers below the least normal one, as compiled programs take them."""
    if x.dtype == np.float16:
        return x  # of which all numbers are normal in float32, in which they are computed
    parts = x.view(np.finfo(x.dtype).dtype) if is_complex(x.dtype) else x
    with np.errstate(invalid="ignore"):  # signalling nan
        small = np.abs(parts) < ml_dtypes.finfo(parts.dtype).smallest_normal
        return np.where(small, parts * np.zeros((), parts.dtype), parts).view(x.dtype)


def assert_close(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], units: float) -> None:
    assert found.dtype == expected.dtype
    if expected.dtype == np.bool_:
        np.testing.assert_array_equal(found, expected)
        return
    limits = ml_dtypes.finfo(expected.dtype)
    wide = np.complex128 if is_complex(expected.dtype) else np.float64
    with np.errstate(invalid="ignore"):
        found, expected = found.astype(wide), expected.astype(wide)
        size = np.abs(expected)
    small = size <= float(limits.smallest_normal)
    assert np.all(np.abs(found[small]) <= float(limits.smallest_normal))
    regular = np.isfinite(size) & ~small
    off = np.abs(found[regular] - expected[regular])
    assert np.all(off <= units * float(limits.eps) * size[regular])
    np.testing.assert_array_equal(found[~regular & ~small], expected[~regular & ~small])


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_conversions_do_not_depend_on_the_size(dtype: str, target: str) -> None:
    operands = operands_of(1, dtype)
    slow = dtype == "float16" or (target == "float16" and dtype not in ("float64", "complex128"))
    with config.override(backend=None):
        compiled = is_slow(lambda x: lax.convert_element_type(x, target), operands)
    assert compiled == (slow and dtype != target)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_other_types_and_few_numbers_stay_with_numpy(dtype: str) -> None:
    few = lax.full((LARGE - 1,), 2, "float16")
    many = lax.full((LARGE,), 2, dtype)
    with config.override(backend=None):
        assert lax.add(few, few)._buffer is None
        assert lax.sign(few)._buffer is None
        assert lax.add(many, many)._buffer is None
        assert lax.abs(many)._buffer is None


def test_the_largest_operand_counts() -> None:
    one, many = lax.full((), 2, "float16"), lax.full((LARGE,), 2, "float16")
    with config.override(backend=None):
        assert lax.add(many, one)._buffer is not None
        assert lax.add(one, many)._buffer is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_process_never_waits_for_the_threads_of_the_compiler() -> None:
    code = f"""
import os
import numpy as np
import bindax_lax_basic as lax

x = lax.full(({LARGE},), 2.5, np.float32)
assert lax.exp(x)._buffer is not None
child = os.fork()
if child == 0:
    same = bool((lax.round(lax.exp(x)).numpy() == 12).all() and lax.erf(x)[0] < 1)
    os._exit(0 if same else 1)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "0\n"
