"""Exact values of functions from ball arithmetic, as sums of two floats.

Arb encloses a value rigorously; the precision is doubled until the enclosure is narrow enough
(F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic, IEEE
Transactions on Computers 66, 2017). Its Python package, ``python-flint``, is only needed for inputs
whose values are not yet kept.
"""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]
CACHE = Path(__file__).resolve().parent.parent / ".accuracy"
PRECISION, MOST_PRECISION, WANTED = 140, 2400, 80
"""Bits that a value is first computed with, at most, and that must be right."""


def _flint() -> Any:
    return importlib.import_module("flint")


def ball(x: Any) -> Any:
    """A number of ball arithmetic."""
    return _flint().arb(x)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with so many bits inside of the block."""
    context = _flint().ctx
    before, context.prec = context.prec, bits
    try:
        yield
    finally:
        context.prec = before


def exact(function: Callable[..., Any], *operands: float) -> tuple[float, float]:
    """A function of balls at one point, as a float and what it lacks; nan where it is not found."""
    bits = PRECISION
    while bits <= MOST_PRECISION:
        with precision(bits):
            try:
                value = function(*(ball(x) for x in operands))
            except (ValueError, ZeroDivisionError, OverflowError):
                return math.nan, math.nan
            if isinstance(value, float):
                return value, 0.0
            if value.is_zero():
                return 0.0, 0.0
            if value.is_finite() and value.rel_accuracy_bits() >= WANTED:
                first = float(value.mid())
                return first, float((value - first).mid()) if math.isfinite(first) else 0.0
        bits *= 2
    return math.nan, math.nan


def references(
    name: str, function: Callable[..., Any], operands: Sequence[Values]
) -> tuple[Values, Values]:
    """The values of a function at many points, kept in a file for the next time."""
    wide = [x.astype(np.float64) for x in operands]
    state = hashlib.sha256(b"".join(x.tobytes() for x in wide)).hexdigest()[:16]
    file = CACHE / f"{name}-{state}.npz"
    if file.exists():
        with np.load(file) as kept:
            return kept["high"], kept["low"]
    pairs = [exact(function, *map(float, row)) for row in zip(*wide, strict=True)]
    high, low = np.array(pairs, np.float64).reshape(-1, 2).T
    CACHE.mkdir(exist_ok=True)
    np.savez_compressed(file, high=high, low=low)
    return high, low


# ---------------------------------------------------------------------- functions of balls


def log_gamma(x: Any) -> Any:
    """``log |gamma(x)|``, by reflection below 0."""
    if x > 0:
        return x.lgamma()
    sine = abs((x * 1).sin_pi())
    return (x.pi() / sine).log() - (1 - x).lgamma()


def gamma(x: Any) -> Any:
    """The gamma function, infinite where it is larger than floats."""
    if x > 2000:
        return math.inf
    return 1 / x.rgamma() if x > -2000 else 0.0


def digamma(x: Any) -> Any:
    """Digamma, by reflection below 0."""
    return x.digamma() if x > 0 else (1 - x).digamma() - x.pi() * x.cot_pi()


def logistic(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return 1 / (1 + (-x).exp())


def scaled_bessel(order: int) -> Callable[[Any], Any]:
    """``exp(-|x|) I(x)``."""

    def run(x: Any) -> Any:
        size = abs(x).bessel_i(order, scaled=True)
        return -size if order and x < 0 else size

    return run


def normal(x: Any) -> Any:
    """The distribution function of the standard normal distribution."""
    return (-x / ball(2).sqrt()).erfc() / 2


def normal_quantile(p: Any) -> Any:
    """The inverse of ``normal``."""
    return -(2 * p).erfcinv() * ball(2).sqrt()


def scaled_erfc(x: Any) -> Any:
    """``exp(x^2) erfc(x)``."""
    return (x * x).exp() * x.erfc() if x < 1e4 else _far_scaled_erfc(x)


def _far_scaled_erfc(x: Any) -> Any:
    half = 1 / (2 * x * x)
    return (1 - half + 3 * half**2 - 15 * half**3 + 105 * half**4) / (x * ball(math.pi).pi().sqrt())


def dawson(x: Any) -> Any:
    """Dawson's integral."""
    if abs(x) < 1e4:
        return (-x * x).exp() * x.erfi() * x.pi().sqrt() / 2
    half = 1 / (2 * x * x)
    return (1 + half + 3 * half**2 + 15 * half**3) / (2 * x)


def complex_ball(x: Any) -> Any:
    """A complex number of ball arithmetic."""
    return _flint().acb(x)


def polygamma(m: Any, x: Any) -> Any:
    """Derivatives of digamma."""
    if m == 0:
        return digamma(x)
    sign = -1 if int(float(m)) % 2 == 0 else 1
    return sign * (m + 1).gamma() * hurwitz(m + 1, x)


def hurwitz(s: Any, q: Any) -> Any:
    """The Hurwitz zeta function; below 0 the terms before the first positive one are apart."""
    if q > 0:
        return s.zeta(q)
    steps = int(-float(q)) + 1
    return s.zeta(q + steps) + sum((1 / (q + k)) ** int(float(s)) for k in range(steps))


def lower_gamma(a: Any, x: Any) -> Any:
    """The regularized lower incomplete gamma function."""
    if a > 20 and x < 3 * a:
        return _lower_gamma_series(a, x)
    return x.gamma_lower(a, regularized=1)


def upper_gamma(a: Any, x: Any) -> Any:
    """The regularized upper incomplete gamma function."""
    if a > 20 and x < 3 * a:
        return 1 - _lower_gamma_series(a, x)
    return x.gamma_upper(a, regularized=1)


def _lower_gamma_series(a: Any, x: Any) -> Any:
    """The power series, with a bound for what is cut off."""
    bits = _flint().ctx.prec
    term = (a * x.log() - x - (a + 1).lgamma()).exp()
    total, n = term, 0
    while n < 100_000:
        n += 1
        term = term * x / (a + n)
        total = total + term
        if n % 16 == 0 and x < (a + n) / 2 and term < total * ball(2) ** -bits:
            break
    # From here on each term is below half of the one before.
    return total + 2 * term * _flint().arb(0, 1)


def slope(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative in the first operand, by a central difference with many bits."""

    def run(a: Any, *rest: Any) -> Any:
        bits = _flint().ctx.prec
        step = a * ball(2) ** -bits
        with precision(4 * bits):
            return (function(a + step, *rest) - function(a - step, *rest)) / (2 * step)

    return run


def lower_gamma_slope(a: Any, x: Any) -> Any:
    """The derivative of ``lower_gamma`` in ``a``."""
    return slope(lower_gamma)(a, x)


def sample_slope(a: Any, x: Any) -> Any:
    """The derivative of a sample of the gamma distribution in its shape."""
    density = ((a - 1) * x.log() - x - a.lgamma()).exp()
    return -lower_gamma_slope(a, x) / density


def incomplete_beta(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function."""
    if x > 0.5:
        return 1 - (1 - x).beta_lower(b, a, regularized=1)
    return x.beta_lower(a, b, regularized=1)


def exponential_integral(n: Any, x: Any) -> Any:
    """``E_n(x)``."""
    return x.expint(n)


def owens_t(h: Any, a: Any) -> Any:
    """Owen's T function by integration."""
    if a == 0:
        return 0.0
    square = h * h / 2
    inside = _flint().acb.integral(
        lambda t, _: (-square * (1 + t * t)).exp() / (1 + t * t), 0, a, rel_tol=ball(2) ** -100
    )
    return inside.real / (2 * h.pi())


def power_difference(y: Any, logarithm: Any) -> Any:
    """``(exp(y logarithm) - 1) / y``."""
    return logarithm if y == 0 else (y * logarithm).expm1() / y


def log_beta(a: Any, b: Any) -> Any:
    """The logarithm of the beta function."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def beta(a: Any, b: Any) -> Any:
    """The beta function."""
    return log_beta(a, b).exp()


def entropy(p: Any, q: Any) -> Any:
    """``p log(p / q)``."""
    return p * (p / q).log()


def erfc(x: Any) -> Any:
    """The complement of the error function."""
    return x.erfc() if x < 1000 else 0.0


def arc_tangent(y: Any, x: Any) -> Any:
    """The angle of a point."""
    return _flint().arb.atan2(y, x) if y != 0 or x < 0 else 0.0


def log_sum(x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))``."""
    low, high = (x, y) if x < y else (y, x)
    return high + (low - high).exp().log1p() if high - low < 20000 else high


def log_sum_of_two(x: Any, y: Any) -> Any:
    """``log2(2^x + 2^y)``."""
    two = ball(2).log()
    return log_sum(x * two, y * two) / two


def sinc(x: Any) -> Any:
    """``sin(pi x) / (pi x)``."""
    return x.sin_pi() / (x * x.pi()) if x != 0 else 1.0


def inverse_erfc(y: Any) -> Any:
    """The inverse of ``erfc``."""
    if y == 1:
        return 0.0
    return y.erfcinv() if y < 1 else -(2 - y).erfcinv()


def choices(n: Any, k: Any) -> Any:
    """Binomial coefficients of integers."""
    return float(math.comb(int(float(n)), int(float(k))))


def rising(z: Any, m: Any) -> Any:
    """``gamma(z + m) / gamma(z)``."""
    return (z + m).gamma() / z.gamma()


def kummer(a: Any, b: Any, x: Any) -> Any:
    """The confluent hypergeometric function."""
    return x.hypgeom_1f1(a, b)


def gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    """The hypergeometric function."""
    return x.hypgeom_2f1(a, b, c)


def gamma_of_three(a: Any) -> Any:
    """The logarithm of the gamma function of three dimensions."""
    return sum(log_gamma(a - ball(j) / 2) for j in range(3)) + a.pi().log() * 3 / 2


def dilogarithm(x: Any) -> Any:
    """The dilogarithm of ``1 - x``."""
    return complex_ball(1 - x).polylog(2).real if x != 1 else 0.0


def fresnel_s(x: Any) -> Any:
    """The integral of ``sin(pi t^2 / 2)``."""
    return x.fresnel_s()


def fresnel_c(x: Any) -> Any:
    """The integral of ``cos(pi t^2 / 2)``."""
    return x.fresnel_c()


def sine_integral(x: Any) -> Any:
    """The integral of ``sin(t) / t`` from 0."""
    return x.si()


def cosine_integral(x: Any) -> Any:
    """The integral of ``cos(t) / t`` from infinity."""
    return x.ci()
