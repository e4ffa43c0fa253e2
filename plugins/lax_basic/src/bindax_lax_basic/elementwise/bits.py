"""Operations on the bits of integers: counts, shifts, and the upper half of a product."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, LoweringContext, Primitive, Rule, primitive
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import INTEGER, DType
from bindax_lax_basic.elementwise.comparison import discrete
from bindax_lax_basic.rules.elementwise import elementwise
from bindax_lax_basic.rules.evaluation import NumPyArray, NumPyFunction
from bindax_lax_basic.rules.lowering import full, inlined, same_shape
from bindax_lax_basic.rules.operands import adopt_type

__all__ = [
    "clz",
    "clz_p",
    "mulhi",
    "mulhi_p",
    "population_count",
    "population_count_p",
    "shift_left",
    "shift_left_p",
    "shift_right_arithmetic",
    "shift_right_arithmetic_p",
    "shift_right_logical",
    "shift_right_logical_p",
]


def bit_width(dtype: DType) -> int:
    """The bits of a value of an integer dtype, also of those narrower than a byte."""
    low, high = dtypes.integer_limits(dtype)
    return (high - low).bit_length()


def _unsigned(x: NumPyArray) -> NumPyArray:
    """The bits of integers as uint64."""
    width = bit_width(x.dtype)
    wide = x.astype(np.int64 if dtypes.kind_of(x.dtype) == "signed integer" else np.uint64)
    return wide.view(np.uint64) & np.uint64((1 << width) - 1)


def population_count(x: Any) -> Array:
    """Elementwise number of bits that are set in an array of integers.

    >>> population_count(np.array([0, 7, -1], np.int8))
    Array([0, 3, 8], dtype=int8)
    """
    return population_count_p.bind(x)


def _population_count_lowering(ctx: LoweringContext, x: Any) -> Any:
    aval = ctx.avals_in[0]
    width = bit_width(aval.dtype)
    if width >= 8:
        return ctx.op("stablehlo.popcnt", [x])[0]
    # XLA counts the copies of the sign in the byte that holds a narrower integer.
    byte = aval.update(dtype=np.dtype(np.uint8))
    (wide,) = ctx.op("stablehlo.convert", [x], [byte])
    mask = full(ctx, byte, (1 << width) - 1)
    bits = ctx.op("stablehlo.and", [wide, mask], [byte])
    return ctx.op("stablehlo.convert", ctx.op("stablehlo.popcnt", bits, [byte]))[0]


population_count_p: Primitive = primitive(
    "population_count",
    *elementwise("population_count", lambda x: np.bitwise_count(_unsigned(x)), INTEGER),
    *discrete(_population_count_lowering),
)


def clz(x: Any) -> Array:
    """Elementwise number of leading zero bits of an array of integers.

    >>> clz(np.array([0, 1, -1], np.int8))
    Array([8, 7, 0], dtype=int8)
    """
    return clz_p.bind(x)


def _clz(x: NumPyArray) -> Any:
    bits = _unsigned(x)
    # With all bits below the highest one set, their number is its position.
    for shift in (1, 2, 4, 8, 16, 32):
        bits = bits | (bits >> np.uint64(shift))
    return (bit_width(x.dtype) - np.bitwise_count(bits).astype(np.int64)).astype(np.int64)


clz_p: Primitive = primitive(
    "clz", *elementwise("clz", _clz, INTEGER), *discrete("stablehlo.count_leading_zeros")
)


def _amounts(y: NumPyArray, width: int) -> NumPyArray:
    """By how many bits to shift: a count of the width or more, or below zero, moves all out."""
    return np.minimum(_unsigned(y), np.uint64(width))


def _logical(shift: np.ufunc) -> NumPyFunction:
    """A shift on NumPy arrays that fills with zeros."""

    def run(x: NumPyArray, y: NumPyArray) -> Any:
        width = bit_width(x.dtype)
        amount = _amounts(y, width)
        kept = np.where(amount < width, _unsigned(x), np.uint64(0))
        return _as_dtype(shift(kept, amount & np.uint64(63)), x.dtype, width)

    return run


def _right_arithmetic(x: NumPyArray, y: NumPyArray) -> Any:
    width = bit_width(x.dtype)
    signed = _as_dtype(_unsigned(x), np.dtype(np.int64), width)
    moved = signed >> np.minimum(_amounts(y, width), np.uint64(width - 1)).astype(np.int64)
    return _as_dtype(np.asarray(moved).view(np.uint64), x.dtype, width)


def _as_dtype(bits: NumPyArray, dtype: DType, width: int) -> Any:
    """The value of the low bits, with their sign."""
    unused = np.uint64(64 - width)
    top = bits << unused
    if dtypes.kind_of(dtype) == "signed integer":
        return (top.view(np.int64) >> unused.astype(np.int64)).astype(dtype)
    return (top >> unused).astype(dtype)


def _shift(name: str, function: NumPyFunction) -> tuple[Rule, ...]:
    return *elementwise(name, function, INTEGER, INTEGER), *discrete(f"stablehlo.{name}")


def shift_left(x: Any, y: Any) -> Array:
    """Elementwise shift of bits to the left, filling with zeros.

    Args:
        x: an array of integers.
        y: by how many bits, an array of the same dtype; all of them from the width of the dtype on,
            and where it is negative.

    >>> shift_left(np.array([1, -3, 1], np.int8), np.array([3, 1, 8], np.int8))
    Array([ 8, -6,  0], dtype=int8)
    """
    return shift_left_p.bind(*adopt_type(x, y))


shift_left_p: Primitive = primitive("shift_left", *_shift("shift_left", _logical(np.left_shift)))


def shift_right_arithmetic(x: Any, y: Any) -> Array:
    """Elementwise shift of bits to the right, filling with the highest bit.

    Operands are as for ``shift_left``.

    >>> shift_right_arithmetic(np.array([8, -3, -1], np.int8), np.array([2, 1, 9], np.int8))
    Array([ 2, -2, -1], dtype=int8)
    """
    return shift_right_arithmetic_p.bind(*adopt_type(x, y))


shift_right_arithmetic_p: Primitive = primitive(
    "shift_right_arithmetic", *_shift("shift_right_arithmetic", _right_arithmetic)
)


def shift_right_logical(x: Any, y: Any) -> Array:
    """Elementwise shift of bits to the right, filling with zeros.

    Operands are as for ``shift_left``.

    >>> shift_right_logical(np.array([8, -3, -1], np.int8), np.array([2, 1, 9], np.int8))
    Array([  2, 126,   0], dtype=int8)
    """
    return shift_right_logical_p.bind(*adopt_type(x, y))


shift_right_logical_p: Primitive = primitive(
    "shift_right_logical", *_shift("shift_right_logical", _logical(np.right_shift))
)


def mulhi(x: Any, y: Any) -> Array:
    """Elementwise upper half of the product of twice the width.

    Args:
        x: an array of integers.
        y: an array of the same dtype and shape, but that axes of size 1 are repeated; or a scalar,
            as ``x`` may be one.

    >>> mulhi(np.array([100, -128], np.int8), np.array([100, 127], np.int8))
    Array([ 39, -64], dtype=int8)
    """
    return mulhi_p.bind(*adopt_type(x, y))


def _mulhi(x: NumPyArray, y: NumPyArray) -> Any:
    width = bit_width(x.dtype)
    if width < 64:
        # NumPy shifts signed numbers by their sign; up to 32 bits the product fits.
        wide = np.int64 if dtypes.kind_of(x.dtype) == "signed integer" else np.uint64
        product = x.astype(wide) * y.astype(wide)
        return (product >> wide(width)).astype(x.dtype)
    return _high_of_halves(x, y)


def _high_of_halves(x: Any, y: Any) -> Any:
    """The upper 64 bits of products, from products of halves; traceable."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b = x.astype(np.uint64), y.astype(np.uint64)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & mask)
    high = (a1 * b1 + (middle >> half) + (other >> half)).astype(x.dtype)
    if x.dtype == np.uint64:
        return high
    # A negative factor is less than its bits say by 2^64 (H. S. Warren, Hacker's Delight, 8-3).
    return high - ((x >> 63) & y) - ((y >> 63) & x)


def _mulhi_lowering(ctx: LoweringContext, *values: Any) -> Any:
    aval = ctx.avals_out[0]
    width = bit_width(aval.dtype)
    if width == 64 and ctx.device_count > 1:
        # XLA has no operation for it in programs that it divides.
        return inlined(ctx, lambda x, y: [_high_of_halves(x, y)], values, ctx.avals_in)[0]
    x, y = same_shape(ctx, values)
    if width == 64:
        return ctx.op("chlo.mulhi", [x, y])[0]
    signed = dtypes.kind_of(aval.dtype) == "signed integer"
    wide = aval.update(dtype=np.dtype(np.int64 if signed else np.uint64))
    both = [ctx.op("stablehlo.convert", [v], [wide])[0] for v in (x, y)]
    (product,) = ctx.op("stablehlo.multiply", both, [wide])
    shift = "arithmetic" if signed else "logical"
    moved = ctx.op(f"stablehlo.shift_right_{shift}", [product, full(ctx, wide, width)], [wide])
    return ctx.op("stablehlo.convert", moved)[0]


mulhi_p: Primitive = primitive(
    "mulhi", *elementwise("mulhi", _mulhi, INTEGER, INTEGER), *discrete(_mulhi_lowering)
)
