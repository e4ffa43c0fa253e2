"""Sign and absolute value."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, LoweringContext, Primitive, config, primitive, rules, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import NUMBER, SIGNED_NUMBER
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p
from bindax_lax_basic.elementwise.comparison import eq_p
from bindax_lax_basic.elementwise.complex_corners import direction, modulus
from bindax_lax_basic.elementwise.complex_numbers import complex_p, conj_p, imag_p, real_p
from bindax_lax_basic.elementwise.conversion import compare, convert
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.rounding import STEPWISE
from bindax_lax_basic.rules.elementwise import elementwise
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangent
from bindax_lax_basic.rules.lowering import full, operation
from bindax_lax_basic.rules.operands import constant
from bindax_transforms.zeros import Zero

__all__ = ["abs", "abs_p", "sign", "sign_p"]


def sign(x: Any) -> Array:
    """Elementwise sign: -1, 0 or 1; of a complex number, the number of modulus one.

    The derivative is zero, except that a complex sign turns with its argument.

    >>> sign(np.array([-2.0, 0.0, 5.0]))
    Array([-1.,  0.,  1.], dtype=float64)
    """
    return sign_p.bind(x)


def _sign_impl(x: NumPyArray) -> Any:
    if dtypes.is_complex(x.dtype):
        return direction(x)
    if dtypes.kind_of(x.dtype) != "float":
        return np.sign(x)
    # Zeros keep their signs, as in the compiled operation.
    return np.where((x == 0) | np.isnan(x), x, np.copysign(x.dtype.type(1), x))


def _sign_lowering(ctx: LoweringContext, x: Any) -> Any:
    aval = ctx.avals_in[0]
    if dtypes.kind_of(aval.dtype) != "unsigned integer":
        return ctx.op("stablehlo.sign", [x])[0]
    zero, one = full(ctx, aval, 0), full(ctx, aval, 1)
    return ctx.op("stablehlo.select", [compare(ctx, "EQ", x, zero, aval), zero, one])[0]


def _sign_jvp(primals: Values, tangents: Values) -> Dual:
    (x,), (t,) = primals, tangents
    out = sign_p.bind(x)
    dtype = typeof(x).dtype
    if type(t) is Zero or not dtypes.is_complex(dtype):
        return out, zero_tangent(out)
    # The part of t across x turns the result; at zero, which has no direction, it is zero.
    across = imag_p.bind(mul_p.bind(conj_p.bind(out, input_dtype=dtype), t))
    modulus = abs_p.bind(x)
    at_zero = eq_p.bind(modulus, constant(0.0, modulus))
    safe = add_p.bind(modulus, convert(at_zero, typeof(modulus).dtype, False))
    turned = complex_p.bind(constant(0.0, modulus), div_p.bind(across, safe))
    return out, mul_p.bind(out, turned)


sign_p: Primitive = primitive(
    "sign",
    *elementwise("sign", _sign_impl, NUMBER),
    rules.jvp(_sign_jvp, symbolic_zeros=True),
    STEPWISE,
    rules.lowering["stablehlo"](_sign_lowering),
)


def abs(x: Any) -> Array:
    """Elementwise absolute value; of a complex number its modulus, a real number.

    Args:
        x: an array of signed integers, floats or complex numbers.

    The derivative at zero is zero.

    >>> abs(np.array([-2.0, 3.0])), abs(np.array([3 + 4j]))
    (Array([2., 3.], dtype=float64), Array([5.], dtype=float64))
    """
    return abs_p.bind(x)


def _abs_jvp(primals: Values, tangents: Values) -> Dual:
    (x,), (t,) = primals, tangents
    out = abs_p.bind(x)
    if type(t) is Zero:
        return out, zero_tangent(out)
    direction = sign_p.bind(x)
    if config.conventions == "jax" and not dtypes.is_complex(typeof(x).dtype):
        at_zero = eq_p.bind(x, constant(0, x))
        one = convert(at_zero, typeof(x).dtype, typeof(x).weak_type)
        direction = add_p.bind(direction, one)
    if not dtypes.is_complex(typeof(x).dtype):
        return out, mul_p.bind(direction, t)
    # The modulus moves by the part of t along x.
    conjugate = conj_p.bind(direction, input_dtype=typeof(x).dtype)
    return out, real_p.bind(mul_p.bind(conjugate, t))


def _abs_impl(x: NumPyArray) -> Any:
    out = modulus(x)
    dtype = dtypes.real_dtype(x.dtype)
    return out if out.dtype == dtype else out.astype(dtype)


abs_p: Primitive = primitive(
    "abs",
    *elementwise("abs", _abs_impl, SIGNED_NUMBER, result=dtypes.real_dtype),
    rules.jvp(_abs_jvp, symbolic_zeros=True),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](operation("stablehlo.abs")),
)
