"""Signs, neighbours and parts of floats, and further functions of them, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from ml_dtypes import finfo

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert, integer_limits
from bindax_numpy._operands import (
    array_operand,
    as_operand,
    constant,
    floats,
    inexact,
    inexact_operand,
    promoted,
    require_real,
    strong_operand,
)
from bindax_numpy.arithmetic import maximum, minimum, power, trunc
from bindax_numpy.comparison import choice, isinf, isnan
from bindax_numpy.exp_log_trigonometry import logaddexp, weak_if_all
from bindax_special import bessel_i0e, bessel_i1e


def _parted(name: str, x: Any) -> Any:
    """The operand of a function of the bits of floats, whose results have a type of their own."""
    (made,) = floats(name, strong_operand(name, x))
    return made


def _bit_pattern(x: Any) -> Any:
    return lax.bitcast_convert_type(x, np.dtype(f"i{typeof(x).dtype.itemsize}"))


def signbit(x: Any, /) -> Array:
    """Tell whether elements have a minus sign, as also -0.0 has.

    >>> jnp.signbit(jnp.array([-1.0, 0.0, -0.0]))
    Array([ True, False,  True], dtype=bool)
    """
    x = array_operand("signbit", x)
    require_real("signbit", x)
    if dtypes.is_inexact(typeof(x).dtype):
        x = _bit_pattern(x)
    return lax.lt(x, constant(0, x))


def copysign(x1: Any, x2: Any, /) -> Array:
    """The size of ``x1`` with the sign of ``x2``.

    >>> jnp.copysign(jnp.array([1.0, -2.0]), jnp.array([-0.0, 3.0]))
    Array([-1.,  2.], dtype=float32)
    """
    x, y = floats("copysign", x1, x2)
    size = lax.abs(x)
    out = choice(signbit(y), -size, size)
    return convert(out, typeof(out).dtype, typeof(x).weak_type and typeof(y).weak_type)


def fmax(x1: Any, x2: Any) -> Array:
    """The larger of two elements; the other one if one is nan.

    >>> jnp.fmax(jnp.array([1.0, jnp.nan]), 0.5)
    Array([1. , 0.5], dtype=float32)
    """
    return _ignoring_nan("fmax", maximum, x1, x2)


def fmin(x1: Any, x2: Any) -> Array:
    """The smaller of two elements; the other one if one is nan.

    >>> jnp.fmin(jnp.array([1.0, jnp.nan]), 0.5)
    Array([0.5, 0.5], dtype=float32)
    """
    return _ignoring_nan("fmin", minimum, x1, x2)


def _ignoring_nan(name: str, choose: Any, x1: Any, x2: Any) -> Any:
    x, y = (as_operand(v) for v in promoted(name, x1, x2))
    return choice(isnan(x), y, choice(isnan(y), x, choose(x, y)))


def nextafter(x: Any, y: Any, /) -> Array:
    """The next float after ``x`` towards ``y``.

    >>> jnp.nextafter(jnp.array(1.0), 2.0) - 1
    Array(1.1920929e-07, dtype=float32, weak_type=True)
    """
    return lax.nextafter(*floats("nextafter", x, y))


def spacing(x: Any, /) -> Array:
    """The distance of each element to the next float away from 0, with the sign of the element.

    >>> jnp.spacing(jnp.array([1.0, -2.0]))
    Array([ 1.1920929e-07, -2.3841858e-07], dtype=float32)
    """
    x = _parted("spacing", x)
    info: Any = finfo(typeof(x).dtype)  # type: ignore[no-untyped-call]
    width = int(info.nmant)
    # By bits, as hardware may take for zero what is subnormal.
    bits = _bit_pattern(x)
    sign = lax.bitwise_and(bits, constant(integer_limits(typeof(bits).dtype)[0], bits))
    field = lax.shift_right_logical(lax.bitwise_xor(bits, sign), constant(width, bits))
    normal = lax.shift_left(maximum(field - width, 0), constant(width, bits))
    subnormal = lax.shift_left(lax.full_like(bits, 1), maximum(minimum(field, width) - 1, 0))
    size = choice(field > width, normal, subnormal)
    unit = lax.bitcast_convert_type(lax.bitwise_or(size, sign), typeof(x).dtype)
    return choice(lax.is_finite(x), unit, math.nan)


def frexp(x: Any, /) -> tuple[Array, Array]:
    """Fractions from 0.5 to below 1, and the powers of 2 to multiply them with.

    Returns:
        The fractions, with the signs of the elements, and the exponents, int32. 0, infinities and
        nan are their own fractions, with the exponent 0.

    >>> jnp.frexp(jnp.array([6.0, -0.5]))
    (Array([ 0.75, -0.5 ], dtype=float32), Array([3, 0], dtype=int32))
    """
    x = _parted("frexp", x)
    info: Any = finfo(typeof(x).dtype)  # type: ignore[no-untyped-call]
    shift = int(info.nmant) + 2
    # Subnormal numbers are made normal first.
    tiny = lax.abs(x) < float(info.smallest_normal)
    normal = choice(tiny, x * 2.0**shift, x)
    # What the hardware takes for zero is its own fraction, too.
    ordinary = lax.is_finite(x) & (normal != 0)
    bits = _bit_pattern(normal)
    field = lax.shift_right_logical(bits, constant(int(info.nmant), bits))
    field = lax.bitwise_and(field, constant(2 ** int(info.nexp) - 1, bits))
    bias = 2 ** (int(info.nexp) - 1) - 2
    exponent = convert(field, np.dtype(np.int32), False) - bias
    exponent = choice(ordinary, choice(tiny, exponent - shift, exponent), 0)
    half = choice(tiny, exponent + shift, exponent)
    # Two steps, as the power of 2 itself may be out of range.
    first = -(half // 2)
    fraction = normal * _power_of_two(first, x) * _power_of_two(-half - first, x)
    return choice(ordinary, fraction, x), exponent


def _power_of_two(exponent: Any, like: Any) -> Any:
    """2.0 to integer powers that are normal numbers, exactly: the exponent's bits."""
    dtype = typeof(like).dtype
    info: Any = finfo(dtype)  # type: ignore[no-untyped-call]
    field = exponent + (2 ** (int(info.nexp) - 1) - 1)
    bits = convert(field, np.dtype(f"i{dtype.itemsize}"), False)
    shifted = lax.shift_left(bits, constant(int(info.nmant), bits))
    return lax.bitcast_convert_type(shifted, dtype)


def ldexp(x1: Any, x2: Any, /) -> Array:
    """``x1 * 2 ** x2``, without overflow on the way.

    Args:
        x1: an array of real numbers.
        x2: integers.

    Raises:
        TypeError: when ``x2`` are not integers.

    >>> jnp.ldexp(jnp.array([0.75, -0.5]), jnp.array([3, 0]))
    Array([ 6. , -0.5], dtype=float32)
    """
    x, power_of_two = _parted("ldexp", x1), array_operand("ldexp", x2)
    aval = typeof(power_of_two)
    if not dtypes.is_integer(aval.dtype):
        raise TypeError(f"ldexp: the exponents must be integers, but they are {aval.str_short()}.")
    info: Any = finfo(typeof(x).dtype)  # type: ignore[no-untyped-call]
    normal = 2 ** (int(info.nexp) - 1) - 2
    # From the least to the greatest number, and what rounding takes, it is four steps at most.
    limit = 4 * normal
    low, high = integer_limits(typeof(power_of_two).dtype)
    left = minimum(maximum(power_of_two, max(-limit, low)), min(limit, high))
    left = convert(left, np.dtype(np.int32), False)
    for _ in range(4):
        step = minimum(maximum(left, -normal), normal)
        x, left = x * _power_of_two(step, x), left - step
    return x


def modf(x: Any, /, out: None = None) -> tuple[Array, Array]:
    """The fractional and the integral parts, both with the signs of the elements.

    >>> jnp.modf(jnp.array([2.5, -1.25]))
    (Array([ 0.5 , -0.25], dtype=float32), Array([ 2., -1.], dtype=float32))
    """
    if out is not None:
        raise TypeError("modf: arrays are immutable, so out must be None; use the results.")
    (x,) = floats("modf", x)
    whole = trunc(x)
    return choice(isinf(x), copysign(constant(0, x), x), x - whole), whole


def float_power(x1: Any, x2: Any, /) -> Array:
    """``x1 ** x2``, a float also for integers.

    >>> jnp.float_power(jnp.array([2, 3]), -1).round(4)
    Array([0.5   , 0.3333], dtype=float32)
    """
    return power(*inexact("float_power", x1, x2))


def logaddexp2(x1: Any, x2: Any, /) -> Array:
    """``log2(2 ** x1 + 2 ** x2)``, without overflow.

    Near 0 results are right up to 3 units in the last place of 1.

    >>> jnp.logaddexp2(jnp.array(3.0), 3.0)
    Array(4., dtype=float32, weak_type=True)
    """
    x, y = inexact("logaddexp2", x1, x2)
    log2 = math.log(2)
    numbers = [v for v in (x1, x2) if typeof(v).dtype != dtypes.bool_]
    return weak_if_all(logaddexp(x * log2, y * log2) / log2, *numbers)


def fabs(x: Any, /) -> Array:
    """The absolute value of real numbers, a float also of integers.

    >>> jnp.fabs(jnp.array([1, -3]))
    Array([1., 3.], dtype=float32)
    """
    (x,) = floats("fabs", x)
    return lax.abs(x)


def sinc(x: Any, /) -> Array:
    """``sin(pi x) / (pi x)``, 1 at 0.

    >>> jnp.sinc(jnp.array([0.0, 0.5])).round(4)
    Array([1.    , 0.6366], dtype=float32)
    """
    x = as_operand(inexact_operand("sinc", x))
    angle = x * math.pi
    # Near 0 the first terms of the series, which have the right derivatives of every order there.
    info: Any = finfo(dtypes.real_dtype(typeof(x).dtype))  # type: ignore[no-untyped-call]
    near = lax.abs(angle) < (float(info.eps) * 5040) ** (1 / 6)
    square = choice(near, angle, 0.0) ** 2
    series = 1 - square / 6 * (1 - square / 20)
    safe = choice(near, 1.0, angle)
    if dtypes.is_complex(typeof(x).dtype):
        return choice(near, series, lax.sin(safe) / safe)
    # The angle from the nearest half turn is exact, that of many turns is not.
    whole = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    odd = lax.ne(whole * 0.5, lax.floor(whole * 0.5))
    wave = lax.sin((x - whole) * math.pi)
    return choice(near, series, choice(odd, -wave, wave) / safe)


def i0(x: Any) -> Array:
    """The modified Bessel function of the first kind of order 0.

    >>> jnp.i0(jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 1.2661], dtype=float32)
    """
    (x,) = floats("i0", x)
    return modified_bessel(x, 0)


def modified_bessel(x: Any, order: int) -> Any:
    """The modified Bessel function of the first kind of order 0 or 1.

    The scaled functions have a kink at 0: there the power series is summed, down to half of the
    last digit of double precision.
    """
    near = lax.lt(lax.abs(x), 1.0)
    quarter = choice(near, x, 0.0) ** 2 / 4
    series = lax.full_like(x, 0.0)
    for k in range(9, -1, -1):
        series = series * quarter + 1 / (math.factorial(k) * math.factorial(k + order))
    far = choice(near, 1.0, x)
    scaled = (bessel_i0e, bessel_i1e)[order](far)
    # In two steps, as the exponential function overflows where the result does not yet.
    root = lax.exp(lax.abs(far) * 0.5)
    return choice(near, series * (x / 2) ** order, root * scaled * root)


def isreal(x: Any) -> Array:
    """Tell whether elements have no imaginary part.

    >>> jnp.isreal(jnp.array([1.0, 1j]))
    Array([ True, False], dtype=bool)
    """
    x = array_operand("isreal", x)
    if dtypes.is_complex(typeof(x).dtype):
        return lax.eq(x.imag, constant(0, x.imag))
    return lax.full_like(x, True, dtypes.bool_)


def iscomplex(x: Any) -> Array:
    """Tell whether elements have an imaginary part that is not 0.

    >>> jnp.iscomplex(jnp.array([1.0, 1j]))
    Array([False,  True], dtype=bool)
    """
    return lax.bitwise_not(isreal(x))
