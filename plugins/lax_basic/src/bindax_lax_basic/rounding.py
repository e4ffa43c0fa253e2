"""Sign, absolute value and rounding."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Zero,
    abstract_eval,
    impl,
    jvp,
    lowering,
    primitive,
    register_text_form,
    transpose,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic._elementwise import elementwise
from bindax_lax_basic._large_arrays import BRAIN, FLOATS, SHORT, slow_when_large
from bindax_lax_basic._linear import no_derivative, zero_tangent
from bindax_lax_basic._lowering import full, operation
from bindax_lax_basic._numpy import NumPyArray, exact, quiet
from bindax_lax_basic._operands import constant
from bindax_lax_basic._types import elementwise_type
from bindax_lax_basic.arithmetic import add_p, mul_p
from bindax_lax_basic.complex_numbers import complex_p, conj_p, imag_p, real_p
from bindax_lax_basic.conversion import compare, convert, same_dims
from bindax_lax_basic.dtypes import FLOAT, NUMBER, SIGNED_NUMBER

_SIGN_BITS: dict[np.dtype[Any], NumPyArray] = {
    np.dtype(np.float16): np.array(-(1 << 15), np.int16),
    np.dtype(np.float32): np.array(-(1 << 31), np.int32),
    np.dtype(np.float64): np.array(-(1 << 63), np.int64),
}
_MANY = 1 << 14
"""The fewest elements whose signs are found by clipping, in fewer passes but slower calls."""

_CLIP_FACTORS: dict[np.dtype[Any], float] = {
    np.dtype(np.float32): 2.0**75,
    np.dtype(np.float64): 2.0**537,
}
"""What takes the least positive number to one or more, in two multiplications."""

STEPWISE = transpose.absent("its derivative is zero, so nothing linear is left to transpose")

# -------------------------------------------------------------------------------------- sign


def sign(x: Any) -> Array:
    """Elementwise sign: -1, 0 or 1; of a complex number, the number of modulus one.

    The derivative is zero, except that a complex sign turns with its argument.

    >>> sign(np.array([-2.0, 0.0, 5.0]))
    Array([-1.,  0.,  1.], dtype=float64)
    """
    return sign_p.bind(x)


def _sign_impl(x: NumPyArray) -> Any:
    if dtypes.kind_of(x.dtype) != "float":
        return np.sign(x)
    if x.size >= _MANY and (factor := _CLIP_FACTORS.get(x.dtype)) is not None:
        out = np.multiply(x, factor)
        np.multiply(out, factor, out=out)
        return np.clip(out, -1, 1, out=out)
    out = _with_sign(1, x)
    # Zeros keep their signs, as in the compiled operation.
    stays = np.logical_or(x == 0, np.isnan(x))
    return np.where(stays, x, out) if stays.any() else out


def _with_sign(value: Any, x: NumPyArray) -> NumPyArray:
    """``np.copysign`` of a positive number; by bits, four times faster, where there are such."""
    bit = _SIGN_BITS.get(x.dtype)
    if bit is None:
        return np.asarray(np.copysign(x.dtype.type(value), x))
    out = np.bitwise_and(x.view(bit.dtype), bit)
    out |= np.asarray(value, x.dtype).view(bit.dtype)
    return np.asarray(out).view(x.dtype)


def _sign_lowering(ctx: LoweringContext, x: Any) -> Any:
    aval = ctx.avals_in[0]
    if dtypes.kind_of(aval.dtype) != "unsigned integer":
        return ctx.op("stablehlo.sign", [x])[0]
    zero, one = full(ctx, aval, 0), full(ctx, aval, 1)
    return ctx.op("stablehlo.select", [compare(ctx, "EQ", x, zero, aval), zero, one])[0]


def _sign_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = sign_p.bind(x)
    dtype = typeof(x).dtype
    if type(t) is Zero or not dtypes.is_complex(dtype):
        return out, zero_tangent(out)
    # Imported here, because division is declared with the help of this module.
    from bindax_lax_basic.comparison import eq_p
    from bindax_lax_basic.division import div_p

    # The part of t across x turns the result; at zero, which has no direction, it is zero.
    across = imag_p.bind(mul_p.bind(conj_p.bind(out, input_dtype=dtype), t))
    modulus = abs_p.bind(x)
    at_zero = eq_p.bind(modulus, constant(0.0, modulus))
    safe = add_p.bind(modulus, convert(at_zero, typeof(modulus).dtype, False))
    turned = complex_p.bind(constant(0.0, modulus), div_p.bind(across, safe))
    return out, mul_p.bind(out, turned)


sign_p: Primitive = primitive(
    "sign",
    *elementwise("sign", sign, _sign_impl, NUMBER, slow=FLOATS),
    jvp(_sign_jvp, symbolic_zeros=True),
    STEPWISE,
    lowering["stablehlo"](_sign_lowering),
)

# ------------------------------------------------------------------------------------- floor


def floor(x: Any) -> Array:
    """Elementwise greatest integer not above a real float, as a float.

    >>> floor(np.array([1.7, -1.2]))
    Array([ 1., -2.], dtype=float64)
    """
    return floor_p.bind(x)


floor_p: Primitive = primitive(
    "floor",
    *elementwise("floor", floor, np.floor, FLOAT, slow=SHORT),
    no_derivative(floor),
    STEPWISE,
    lowering["stablehlo"](operation("stablehlo.floor")),
)


def ceil(x: Any) -> Array:
    """Elementwise least integer not below a real float, as a float.

    >>> ceil(np.array([1.2, -1.7]))
    Array([ 2., -1.], dtype=float64)
    """
    return ceil_p.bind(x)


ceil_p: Primitive = primitive(
    "ceil",
    *elementwise("ceil", ceil, np.ceil, FLOAT, slow=SHORT),
    no_derivative(ceil),
    STEPWISE,
    lowering["stablehlo"](operation("stablehlo.ceil")),
)


@register_text_form
class RoundingMethod(enum.IntEnum):
    """Where ``round`` takes numbers half-way between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """Elementwise nearest integer to a real float, as a float.

    Args:
        x: an array of real floats.
        rounding_method: where numbers half-way between two integers go.

    >>> round(np.array([0.5, 1.5, -0.5]))
    Array([ 1.,  2., -1.], dtype=float64)
    >>> round(np.array([0.5, 1.5]), RoundingMethod.TO_NEAREST_EVEN)
    Array([0., 2.], dtype=float64)
    """
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))


def _round_impl(x: NumPyArray, *, rounding_method: RoundingMethod) -> Any:
    if x.dtype.itemsize == 1:  # one half and zero, which float8_e8m0fnu lacks
        x = x.astype(np.float32)
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    # The greatest number below a half: where the sum is not exact, it is rounded to the right side.
    half = np.nextafter(x.dtype.type(0.5), x.dtype.type(0))
    out = _with_sign(half, x)
    return np.trunc(np.add(x, out, out=out), out=out)


def _round_lowering(ctx: LoweringContext, x: Any, *, rounding_method: RoundingMethod) -> Any:
    even = rounding_method == RoundingMethod.TO_NEAREST_EVEN
    name = "stablehlo.round_nearest_even" if even else "stablehlo.round_nearest_afz"
    return ctx.op(name, [x])[0]


round_p: Primitive = primitive(
    "round",
    impl(exact(_round_impl), slow=slow_when_large(FLOATS)),
    abstract_eval(elementwise_type("round", FLOAT)),
    no_derivative(lambda x, **params: round_p.bind(x, **params)),
    same_dims(lambda x, **params: round_p.bind(x, **params)),
    STEPWISE,
    lowering["stablehlo"](_round_lowering),
)

# --------------------------------------------------------------------------------------- abs


def abs(x: Any) -> Array:
    """Elementwise absolute value; of a complex number its modulus, a real number.

    Args:
        x: an array of signed integers, floats or complex numbers.

    The derivative at zero is zero.

    >>> abs(np.array([-2.0, 3.0])), abs(np.array([3 + 4j]))
    (Array([2., 3.], dtype=float64), Array([5.], dtype=float64))
    """
    return abs_p.bind(x)


def _abs_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = abs_p.bind(x)
    if type(t) is Zero:
        return out, zero_tangent(out)
    direction = sign_p.bind(x)
    if not dtypes.is_complex(typeof(x).dtype):
        return out, mul_p.bind(direction, t)
    # The modulus moves by the part of t along x.
    conjugate = conj_p.bind(direction, input_dtype=typeof(x).dtype)
    return out, real_p.bind(mul_p.bind(conjugate, t))


@quiet
def _abs_impl(x: NumPyArray) -> Any:
    out = np.abs(x)
    dtype = dtypes.real_dtype(x.dtype)
    return out if out.dtype == dtype else out.astype(dtype)


abs_p: Primitive = primitive(
    "abs",
    impl(_abs_impl, slow=slow_when_large(BRAIN)),
    abstract_eval(elementwise_type("abs", SIGNED_NUMBER, result=dtypes.real_dtype)),
    jvp(_abs_jvp, symbolic_zeros=True),
    same_dims(abs),
    transpose.absent("not linear"),
    lowering["stablehlo"](operation("stablehlo.abs")),
)
