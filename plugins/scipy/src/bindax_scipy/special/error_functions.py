"""Error functions of real and complex numbers, and the normal distribution made of them."""

from __future__ import annotations

import decimal
import functools
import math
import operator
from decimal import Decimal
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import exp_of_square, scaled_erfc
from bindax_scipy._operands import (
    aligned,
    epsilon,
    in_single,
    is_double,
    largest,
    promoted,
    real,
    settled,
)
from bindax_transforms import custom_jvp

_ROOT_2 = math.sqrt(2)
_ROOT_PI = math.sqrt(math.pi)
_ROOT_2_PI = math.sqrt(2 * math.pi)


def erf(x: Any) -> Array:
    """The error function.

    >>> special.erf(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8427], dtype=float32)
    """
    return lax.erf(*real("erf", x))


def erfc(x: Any) -> Array:
    """``1 - erf(x)``, precise where it is small.

    >>> special.erfc(jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 0.1573], dtype=float32)
    """
    return lax.erfc(*real("erfc", x))


def erfinv(x: Any) -> Array:
    """The inverse of the error function, from -1 to 1.

    >>> special.erfinv(jnp.array([0.0, 0.5])).round(4)
    Array([0.    , 0.4769], dtype=float32)
    """
    return lax.erf_inv(*real("erfinv", x))


@custom_jvp
def _erfcinv(y: Any) -> Any:
    # Near 0 and 2, where 1 - y is rounded, the quantile of the normal distribution is precise.
    tail = jnp.minimum(y, 2 - y)
    outer = tail < 0.5
    far = -_tail_quantile(jnp.log(jnp.where(outer, tail, 0.1)) - math.log(2)) / _ROOT_2
    far = jnp.where(tail == 0, np.inf, jnp.where(tail < 0, np.nan, far))
    return jnp.where(outer, jnp.where(y > 1, -far, far), lax.erf_inv(1 - y))


_erfcinv.defjvps(lambda t, x, y: -_ROOT_PI / 2 * jnp.exp(x * x) * t)


def erfcinv(y: Any) -> Array:
    """The inverse of ``erfc``, from 0 to 2, precise where ``y`` is small.

    >>> special.erfcinv(jnp.array([0.5, 1.5])).round(4)
    Array([ 0.4769, -0.4769], dtype=float32)
    """
    return _erfcinv(*settled(*real("erfcinv", y)))


# ------------------------------------------------------------------- Faddeeva's function


@functools.cache
def _weideman(count: int) -> tuple[float, Any]:
    """A length, and coefficients of a polynomial of ``(L + i z) / (L - i z)``, highest first.

    Weideman, "Computation of the complex error function", 1994: Fourier coefficients of
    ``exp(-t²) (L² + t²)`` with ``t = L tan(angle / 2)``.
    """
    length = math.sqrt(count / _ROOT_2)
    angles = np.arange(-2 * count + 1, 2 * count) * math.pi / (2 * count)
    t = length * np.tan(angles / 2)
    values = np.concatenate([[0.0], np.exp(-(t**2)) * (length**2 + t**2)])
    coefficients = np.fft.fft(np.fft.fftshift(values)).real / (4 * count)
    return length, coefficients[count:0:-1]


def _upper_faddeeva(iz: Any) -> Any:
    """``exp(-z²) erfc(-i z)`` for ``iz`` with a real part that is not positive."""
    length, coefficients = _weideman(40 if is_double(jnp.real(iz)) else 20)
    below = length - iz
    polynomial = jnp.polyval(jnp.array(coefficients, typeof(iz).dtype), (length + iz) / below)
    return 2 * polynomial / (below * below) + 1 / (_ROOT_PI * below)


@custom_jvp
def _wofz(z: Any) -> Any:
    lower = jnp.imag(z) < 0
    near = _upper_faddeeva(1j * jnp.where(lower, -z, z))
    return jnp.where(lower, 2 * jnp.exp(-z * z) - near, near)


_wofz.defjvps(lambda t, w, z: (2j / _ROOT_PI - 2 * z * w) * t)


def wofz(z: Any) -> Array:
    """Faddeeva's function ``exp(-z²) erfc(-i z)`` of complex numbers.

    >>> special.wofz(jnp.array([1j])).round(4)
    Array([0.4276+0.j], dtype=complex64)
    """
    (z,) = promoted("wofz", z)
    if not jnp.iscomplexobj(z):
        # Two parts of half precision make no complex number.
        part = z if typeof(z).dtype.itemsize >= 4 else lax.convert_element_type(z, np.float32)
        z = lax.complex(part, jnp.zeros_like(part))
    return _wofz(z)


def _bounded(size: Any) -> Any:
    """Sizes without infinity, in whose place the largest number gives the limit."""
    return jnp.minimum(size, largest(size) ** 0.25)


@custom_jvp
def _erfcx(x: Any) -> Any:
    # Of narrow types, in the next wider one.
    wide = lax.convert_element_type(x, np.promote_types(x.dtype, np.float32))
    size = jnp.abs(wide)
    endless = jnp.isinf(size)
    positive = jnp.where(endless, 0.0, scaled_erfc(jnp.where(endless, 1.0, size)))
    power = exp_of_square(jnp.clip(size, max=30.0))
    out = jnp.where(wide < 0, 2 * power - positive, positive)
    return lax.convert_element_type(out, x.dtype)


_erfcx.defjvps(lambda t, y, x: (2 * x * y - 2 / _ROOT_PI) * t)


def erfcx(x: Any) -> Array:
    """``exp(x²) erfc(x)``, also where ``erfc`` is too small to represent.

    Args:
        x: real or complex numbers.

    >>> special.erfcx(jnp.array([0.0, 100.0])).round(4)
    Array([1.    , 0.0056], dtype=float32)
    """
    (x,) = settled(*promoted("erfcx", x))
    return _wofz(1j * x) if jnp.iscomplexobj(x) else _erfcx(x)


@custom_jvp
def _dawsn(x: Any) -> Any:
    large = jnp.abs(x) > 0.75
    far = jnp.imag(_upper_faddeeva(lax.complex(jnp.zeros_like(x), _bounded(jnp.abs(x))))) * (
        _ROOT_PI / 2
    )
    # The series x - 2/3 x³ + 4/15 x⁵ - ... where the imaginary part loses digits.
    square = jnp.where(large, 0.0, -2 * x * x)
    terms = np.cumprod([1.0] + [1 / (2 * k + 1) for k in range(1, 16)])
    near = x * jnp.polyval(jnp.array(terms[::-1], typeof(x).dtype), square)
    # So far out that one term of the asymptotic series is enough.
    beyond = jnp.abs(x) > 1 / epsilon(x)
    far = jnp.where(beyond, 0.5 / jnp.where(beyond, x, 1.0), jnp.sign(x) * far)
    return jnp.where(large, far, near)


_dawsn.defjvps(lambda t, y, x: (1 - 2 * x * y) * t)


def dawsn(x: Any) -> Array:
    """Dawson's integral ``exp(-x²)`` times the integral of ``exp(t²)`` from 0 to x.

    >>> special.dawsn(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.5381], dtype=float32)
    """
    return in_single(_dawsn, *settled(*real("dawsn", x)))


def fresnel(x: Any) -> tuple[Array, Array]:
    """Fresnel's integrals of ``sin(pi t² / 2)`` and ``cos(pi t² / 2)`` from 0 to x.

    >>> jnp.stack(special.fresnel(jnp.array([1.0]))).round(4)
    Array([[0.4383],
           [0.7799]], dtype=float32)
    """
    return in_single(_fresnel, *settled(*real("fresnel", x)))


@custom_jvp
def _fresnel(x: Any) -> Any:
    size = _bounded(jnp.abs(x))
    small = size < 1.5
    s, c = _fresnel_series(jnp.where(small, x, 0.0))
    # Both are parts of erf(z) with z = sqrt(pi) / 2 (1 - i) x.
    argument = lax.complex(-size, size) * (_ROOT_PI / 2)
    w = _upper_faddeeva(argument)
    phase = _square_turns(size) * (math.pi / 2)
    wave = lax.complex(jnp.cos(phase), jnp.sin(phase))
    both = (0.5 + 0.5j) * (1 - wave * w)
    far_s, far_c = jnp.sign(x) * jnp.imag(both), jnp.sign(x) * jnp.real(both)
    return jnp.where(small, s, far_s), jnp.where(small, c, far_c)


def _square_turns(x: Any) -> Any:
    """The square modulo 4, but for its integer parts exactly.

    With ``x = n + f`` it is ``n² + 2 n f + f²``; ``n f`` has no more digits than ``x``.
    """
    n = jnp.round(x)
    f = x - n
    return n % 2 + 2 * (n * f % 2) + f * f


def _fresnel_series(x: Any) -> tuple[Any, Any]:
    """Both power series, precise below 1.5."""
    square = x * x * (math.pi / 2)
    fourth = -square * square
    odd, even = [], []
    for k in range(14):
        even.append(1 / (math.factorial(2 * k) * (4 * k + 1)))
        odd.append(1 / (math.factorial(2 * k + 1) * (4 * k + 3)))
    dtype = typeof(x).dtype
    cosine = x * jnp.polyval(jnp.array(even[::-1], dtype), fourth)
    sine = x * square * jnp.polyval(jnp.array(odd[::-1], dtype), fourth)
    return sine, cosine


@_fresnel.defjvp
def _fresnel_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    phase = _square_turns(x) * (math.pi / 2)
    return _fresnel(x), (jnp.sin(phase) * t, jnp.cos(phase) * t)


# ------------------------------------------------------------------ normal distribution


def _float_operand(name: str, x: Any) -> Any:
    x = jnp.asarray(x)
    if x.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name}: x must be float32 or float64, but it is {x.dtype}.")
    return x


def _density(x: Any) -> Any:
    """``exp(-x² / 2)``, precise where it is small."""
    return exp_of_square(jnp.minimum(jnp.abs(x), 40.0), -0.5)


@custom_jvp
def _ndtr(x: Any) -> Any:
    size = jnp.abs(x)
    endless = jnp.isinf(size)
    tail = 0.5 * _density(x) * scaled_erfc(jnp.where(endless, 1.0, size) / _ROOT_2)
    middle = 0.5 + 0.5 * lax.erf(x / _ROOT_2)
    return jnp.where(size < 1, middle, jnp.where(x > 0, 1 - tail, tail))


_ndtr.defjvps(lambda t, y, x: t * jnp.exp(-0.5 * x * x) / _ROOT_2_PI)


def ndtr(x: Any) -> Array:
    """The probability that a standard normal number is below ``x``.

    Raises:
        TypeError: for another dtype than float32 and float64.

    >>> special.ndtr(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.8413], dtype=float32)
    """
    return _ndtr(_float_operand("ndtr", x))


@custom_jvp
def _log_ndtr(x: Any) -> Any:
    scaled = _erfcx(jnp.clip(-x, 1) / _ROOT_2)
    tail = jnp.log(scaled / 2) - 0.5 * x * x
    rest = jnp.log1p(-_ndtr(-x))
    return jnp.where(x < -1, tail, rest)


def _log_ndtr_slope(x: Any, y: Any) -> Any:
    """The density over the function, whose logarithms cancel in the left tail."""
    below = x < -1
    tail = math.sqrt(2 / math.pi) / _erfcx(jnp.where(below, -x, 1.0) / _ROOT_2)
    rest = jnp.where(below, 0.0, x)
    return jnp.where(below, tail, jnp.exp(-0.5 * rest * rest - y) / _ROOT_2_PI)


_log_ndtr.defjvps(lambda t, y, x: t * _log_ndtr_slope(x, y))


def log_ndtr(x: Any, series_order: int = 3) -> Array:
    """The logarithm of ``ndtr(x)``, precise in both tails.

    Args:
        x: an array of dtype float32 or float64.
        series_order: accepted for JAX's programs; the result is precise without a series.

    Raises:
        TypeError: for another dtype, or when ``series_order`` is not an integer.
        ValueError: when ``series_order`` is not between 0 and 30.

    >>> special.log_ndtr(jnp.array([-20.0, 0.0])).round(2)
    Array([-203.92,   -0.69], dtype=float32)
    """
    try:
        order = operator.index(series_order)
    except TypeError:
        raise TypeError(
            f"log_ndtr: series_order must be an integer, but it is {series_order!r:.60}."
        ) from None
    if not 0 <= order <= 30:
        raise ValueError(f"log_ndtr: series_order must be between 0 and 30, but it is {order}.")
    return _log_ndtr(_float_operand("log_ndtr", x))


def _tail_quantile(log_p: Any) -> Any:
    """The number below which a standard normal one is with a small probability."""
    # There log_ndtr is nearly a parabola: four steps of Halley's method end at rounding.
    x = -jnp.sqrt(-2 * log_p)
    x = x + (math.log(_ROOT_2_PI) + jnp.log(-x)) / -x
    for _ in range(4):
        y = _log_ndtr(x)
        slope = jnp.exp(-0.5 * x * x - y) / _ROOT_2_PI
        step = (y - log_p) / slope
        curvature = -(x + slope)
        x = x - step / (1 - 0.5 * step * curvature)
    return x


@custom_jvp
def _ndtri(p: Any) -> Any:
    tail = jnp.minimum(p, 1 - p)
    inside = (p > 0) & (p < 1)
    middle = tail > 0.1
    centre = _ROOT_2 * lax.erf_inv(2 * jnp.where(middle, p, 0.5) - 1)
    x = _tail_quantile(jnp.log(jnp.where(inside & ~middle, tail, 0.05)))
    x = jnp.where(middle, centre, jnp.where(p > 0.5, -x, x))
    x = jnp.where(p == 0, -np.inf, jnp.where(p == 1, np.inf, x))
    return jnp.where(inside | (p == 0) | (p == 1), x, np.nan)


_ndtri.defjvps(lambda t, x, p: t * _ROOT_2_PI * jnp.exp(0.5 * x * x))


def ndtri(p: Any) -> Array:
    """The inverse of ``ndtr``: the number below which a standard normal one is with ``p``.

    Raises:
        TypeError: for another dtype than float32 and float64.

    >>> special.ndtri(jnp.array([0.5, 0.8413447])).round(4)
    Array([0., 1.], dtype=float32)
    """
    return _ndtri(_float_operand("ndtri", p))


# --------------------------------------------------------------------------- Owen's T


@functools.cache
def _quadrature() -> tuple[Any, Any]:
    """Places from 0 to 1 and weights of the rule of Gauss and Legendre, of 32 places.

    Those of NumPy are right to 14 digits; a step of Newton's method with more digits mends them.
    """
    places, weights = [], []
    with decimal.localcontext(prec=40):
        for start in np.polynomial.legendre.leggauss(32)[0]:
            x = Decimal(float(start))
            value, slope = _legendre(32, x)
            x -= value / slope
            places.append(float((x + 1) / 2))
            weights.append(float(1 / ((1 - x * x) * _legendre(32, x)[1] ** 2)))
    return np.array(places), np.array(weights)


def _legendre(degree: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """Legendre's polynomial and its derivative (DLMF 14.10.3 and 14.10.5)."""
    before, value = Decimal(1), x
    for k in range(2, degree + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, degree * (x * value - before) / (x * x - 1)


@custom_jvp
def _owens_t(h: Any, a: Any) -> Any:
    h, size = jnp.abs(h), jnp.abs(a)
    # The integral converges fast up to a = 1; beyond, T(h, a) is made of T(a h, 1 / a).
    turned = size > 1
    x = jnp.where(turned, size * h, h)
    # Nothing is left of the powers long before the bound.
    x = jnp.minimum(jnp.where(turned & jnp.isnan(x), 0.0, x), 1e3)
    y = jnp.where(turned, 1 / jnp.where(turned, size, 1.0), size)
    last = (1,) * h.ndim + (-1,)
    places, weights = (jnp.array(v, h.dtype).reshape(last) for v in _quadrature())
    # Beyond a product of 8.4 nothing is left of the power.
    end = jnp.minimum(y, 8.4 / jnp.where(x > 1, x, 1.0))
    slopes = jnp.expand_dims(end, -1) * places
    powers = jnp.exp(-0.5 * jnp.square(jnp.expand_dims(x, -1) * slopes)) / (1 + slopes * slopes)
    t = end * _density(x) * jnp.sum(powers * weights, -1) / (2 * math.pi)
    p, q = 2 * _ndtr(-h), 2 * _ndtr(-x)
    near = 0.25 - 0.25 * (1 - p) * (1 - q) - t
    other = jnp.where(x <= 0.67, near, 0.25 * (p + q - p * q) - t)
    return jnp.sign(a) * jnp.where(turned, other, t)


@_owens_t.defjvp
def _owens_t_jvp(primals: Any, tangents: Any) -> Any:
    (h, a), (dh, da) = primals, tangents
    by_h = -jnp.exp(-0.5 * h * h) * lax.erf(a * h / _ROOT_2) / (2 * _ROOT_2_PI)
    by_a = jnp.exp(-0.5 * (a * a + 1) * h * h) / (2 * math.pi * (a * a + 1))
    return _owens_t(h, a), by_h * dh + by_a * da


def owens_t(h: Any, a: Any) -> Array:
    """Owen's T function, a probability of two independent normal numbers.

    It is the probability that the one exceeds ``h`` while the other is between 0 and ``a`` times
    the one (Owen, "Tables for computing bivariate normal probabilities", 1956).

    >>> special.owens_t(jnp.array([0.0]), 1.0).round(4)
    Array([0.125], dtype=float32)
    """
    return in_single(_owens_t, *aligned(*settled(*real("owens_t", h, a))))
