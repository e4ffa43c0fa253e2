"""Incomplete gamma functions and their derivatives in the first argument.

Three expansions cover the plane: the power series below the diagonal, the continued fraction above
it, and near it, where both are slow for large arguments, the uniform expansion. A. Gil, J. Segura,
N. M. Temme, Efficient and accurate algorithms for the computation and inversion of the incomplete
gamma function ratios, SIAM Journal on Scientific Computing 34 (2012).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bindax_lax_basic.extend import polynomial
from bindax_special.evaluation import gamma
from bindax_special.evaluation.coefficients import temme_table
from bindax_special.evaluation.functions import Functions, State

_UNIFORM_FROM = 200.0
_UNIFORM_WIDTH = 0.3
_MOST_STEPS = 5000.0
"""A bound for loops that converge in far fewer steps, should a value never settle."""


class _Regions(NamedTuple):
    """Where each expansion is used, and arguments that are safe for it everywhere."""

    uniform: Any
    series: Any
    series_at: tuple[Any, Any]
    fraction_at: tuple[Any, Any]
    uniform_at: tuple[Any, Any]


def _regions(f: Functions, a: Any, x: Any) -> _Regions:
    uniform = (a >= _UNIFORM_FROM) & (f.abs(x - a) <= _UNIFORM_WIDTH * a)
    series = ((x <= a) | (x <= 1.1)) & ~uniform
    fraction = ~series & ~uniform
    return _Regions(
        uniform,
        series,
        (f.where(series, a, 1.0), f.where(series, x, 0.0)),
        (f.where(fraction, a, 0.5), f.where(fraction, x, 50.0)),
        (f.where(uniform, a, 400.0), f.where(uniform, x, 400.0)),
    )


def _poisson(f: Functions, a: Any, x: Any) -> Any:
    """``x^a exp(-x) / gamma(1 + a)``, without overflow or cancellation on the way."""
    large = a >= gamma.STIRLING_FROM
    big, small = f.where(large, a, gamma.STIRLING_FROM), f.where(large, 0.0, a)
    exponent = big * gamma.log1p_minus(f, (x - big) / big, x / big)
    scale = gamma.SQRT_TWO_PI * f.sqrt(big)
    above = f.exp(exponent - gamma.stirling_correction(big)) / scale
    bounded = f.where(x > 2000.0, 2000.0, x)
    below = bounded**small * f.exp(-bounded) / gamma.gamma_one_plus(f, small)
    return f.where(large, above, below)


def _series(f: Functions, a: Any, x: Any) -> Any:
    """The sum of ``x^n / ((a + 1) ... (a + n))`` (DLMF 8.11.4)."""

    def body(n: Any, term: Any, total: Any, a: Any, x: Any) -> Any:
        n = n + 1.0
        term = term * (x / (a + n))
        return n, term, total + term, a, x

    zero, one = a * 0.0, a * 0.0 + 1.0
    state = f.loop(
        lambda n, term, total, a, x: (term > f.epsilon * total) & (n < _MOST_STEPS),
        body,
        (zero, one, one, a, x),
    )
    return state[2]


def _differentiated_series(f: Functions, a: Any, x: Any) -> tuple[Any, Any]:
    """The same sum, and its derivative in ``a``."""

    def body(n: Any, term: Any, rate: Any, total: Any, slope: Any, a: Any, x: Any) -> Any:
        n = n + 1.0
        term = term * (x / (a + n))
        rate = rate - 1.0 / (a + n)
        return n, term, rate, total + term, slope + term * rate, a, x

    def moves(n: Any, term: Any, rate: Any, total: Any, slope: Any, a: Any, x: Any) -> Any:
        changes = f.abs(term * rate) > f.epsilon * f.abs(slope)
        return ((term > f.epsilon * total) | changes) & (n < _MOST_STEPS)

    zero, one = a * 0.0, a * 0.0 + 1.0
    state = f.loop(moves, body, body(zero, one, zero, one, zero, a, x))
    return state[3], state[4]


def _fraction(f: Functions, a: Any, x: Any) -> Any:
    """Legendre's continued fraction (DLMF 8.9.2).

    By the modified algorithm of Lentz: W. J. Thompson, A. R. Barnett, Coulomb and Bessel functions
    of complex arguments and order, Journal of Computational Physics 64 (1986).
    """

    def body(n: Any, b: Any, c: Any, d: Any, h: Any, moves: Any, a: Any) -> State:
        n, b = n + 1.0, b + 2.0
        factor = n * (a - n)
        c, d = b + factor / c, 1.0 / (factor * d + b)
        # What has settled stays: further factors are one but for rounding, which would add up.
        ratio = f.where(moves, c * d, 1.0)
        return n, b, c, d, h * ratio, f.abs(ratio - 1.0) > f.settled, a

    first = x + 1.0 - a
    d = 1.0 / first
    zero = a * 0.0
    # The numerators start from infinity, so the first step has no factor / c.
    state = f.loop(
        lambda n, b, c, d, h, moves, a: moves & (n < _MOST_STEPS),
        body,
        (zero, first, zero + 1e300, d, d, zero == 0.0, a),
    )
    return state[4]


def _differentiated_fraction(f: Functions, a: Any, x: Any) -> tuple[Any, Any]:
    """The same continued fraction, and its logarithmic derivative in ``a``."""

    def step(n: Any, b: Any, c: Any, dc: Any, d: Any, dd: Any, a: Any) -> State:
        """The next quotients of numerators ``c`` and denominators ``1 / d``, and their rates."""
        factor = n * (a - n)
        dd = -(n * d + factor * dd - 1.0)
        d = 1.0 / (factor * d + b)
        return b + factor / c, (n - factor * dc / c) / c - 1.0, d, dd * d * d

    def body(
        n: Any, b: Any, c: Any, dc: Any, d: Any, dd: Any, h: Any, slope: Any, moves: Any, a: Any
    ) -> State:
        n, b = n + 1.0, b + 2.0
        c, dc, d, dd = step(n, b, c, dc, d, dd, a)
        more = dd / d + dc / c
        # What has settled stays: further factors are one but for rounding, which would add up.
        ratio = f.where(moves, c * d, 1.0)
        more = f.where(moves, more, 0.0)
        moves = f.abs(ratio - 1.0) > f.settled
        moves = moves | (f.abs(more) > f.settled * (f.abs(slope) + f.abs(dc / c)))
        return n, b, c, dc, d, dd, h * ratio, slope + more, moves, a

    first = x + 1.0 - a
    d = 1.0 / first
    zero = a * 0.0
    # The numerators start from infinity, so the first step has no factor / c.
    state = (zero, first, zero + 1e300, zero, d, d * d, d, d, zero == 0.0, a)
    state = f.loop(
        lambda n, b, c, dc, d, dd, h, slope, moves, a: moves & (n < _MOST_STEPS), body, state
    )
    return state[6], state[7]


def _uniform(f: Functions, a: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """Temme's expansion: ``P``, ``Q``, ``dP/da`` and ``exp(-a y^2 / 2) / sqrt(2 pi a)``."""
    u = (x - a) / a
    phi = -gamma.log1p_minus(f, u, x / a)
    y = f.where(u < 0.0, -1.0, 1.0) * f.sqrt(2.0 * phi)
    density = f.exp(-a * phi) / (gamma.SQRT_TWO_PI * f.sqrt(a))
    table = temme_table()
    inverse = 1.0 / a
    # The rate of y in a, times a; its limit on the diagonal is -1.
    tiny = f.abs(y) < 1e-8
    rate = f.where(tiny, -1.0 - y / 3.0, -u / f.where(tiny, 1.0, y))
    total, slope = a * 0.0, a * 0.0
    for k in reversed(range(len(table))):
        row = table[k]
        at_y = polynomial(y, row)
        derived = polynomial(y, [n * row[n] for n in range(1, len(row))])
        total = total * inverse + at_y
        slope = slope * inverse + (derived * rate - k * at_y)
    rest = density * total
    root = f.sqrt(0.5 * a) * y
    bracket = rate + 0.5 * y - ((f.log1p(u) - 0.5 * inverse) * total + slope * inverse)
    return 0.5 * f.erfc(-root) - rest, 0.5 * f.erfc(root) + rest, bracket, density


def _complement_series(f: Functions, a: Any, x: Any) -> Any:
    """The upper function for ``a < 1``, ``x <= 1.1``, where the lower one may be near one."""
    log = a * f.log(x) - gamma.log_gamma_one_plus(f, a)
    terms = 26
    tail: Any = 0.0
    for n in reversed(range(1, terms)):
        tail = (1.0 / (a + float(n)) + tail) * (-x / float(n))
    # The nested product has n! and the powers of x; each level adds one term.
    return -f.expm1(log) - f.exp(log) * a * tail


def lower_and_upper(f: Functions, a: Any, x: Any) -> tuple[Any, Any]:
    """The regularized lower and upper incomplete gamma functions, for ``a, x > 0``, finite."""
    r = _regions(f, a, x)
    lower, upper, _, _ = _uniform(f, *r.uniform_at)
    poisson = _poisson(f, a, x)
    by_series = poisson * _series(f, *r.series_at)
    by_fraction = poisson * a * _fraction(f, *r.fraction_at)
    low = (a < 1.0) & (x <= 1.1)
    complement = _complement_series(f, f.where(low, a, 0.5), f.where(low, x, 0.5))
    lower = f.where(r.uniform, lower, f.where(r.series, by_series, 1.0 - by_fraction))
    upper = f.where(r.uniform, upper, f.where(r.series, 1.0 - by_series, by_fraction))
    return lower, f.where(low, complement, upper)


def density(f: Functions, a: Any, x: Any) -> Any:
    """The derivative of the lower function in ``x``: ``x^(a - 1) exp(-x) / gamma(a)``."""
    low = a < 1.0
    small, rest = f.where(low, a, 0.5), f.where(low, 1.0, a) - 1.0
    by_power = x ** (small - 1.0) * f.exp(-x) * small / gamma.gamma_one_plus(f, small)
    inside = f.where(low, by_power, _poisson(f, rest, x))
    return f.where((a < 0.0) | (x < 0.0), math.nan, f.where(x == math.inf, 0.0, inside))


def _at_edges(f: Functions, a: Any, x: Any, inside: Any, at_zero: float, at_infinity: float) -> Any:
    """Values on the border of the domain, and nan outside of it."""
    out = f.where((x == math.inf) & (a < math.inf), at_infinity, inside)
    out = f.where((x == 0.0) | ((a == math.inf) & (x < math.inf)), at_zero, out)
    # As a goes to zero, all of the distribution gathers there.
    out = f.where((a == 0.0) & (x > 0.0), at_infinity, out)
    bad = (x < 0.0) | (a < 0.0) | (x != x) | (a != a) | ((a == math.inf) & (x == math.inf))
    bad = bad | ((a == 0.0) & (x == 0.0))
    return f.where(bad, math.nan, out)


def _safely(f: Functions, a: Any, x: Any) -> tuple[Any, Any]:
    valid = (a > 0.0) & (x > 0.0) & (a < math.inf) & (x < math.inf)
    return f.where(valid, a, 1.0), f.where(valid, x, 1.0)


def lower(f: Functions, a: Any, x: Any) -> Any:
    """The regularized lower incomplete gamma function."""
    return _at_edges(f, a, x, lower_and_upper(f, *_safely(f, a, x))[0], 0.0, 1.0)


def upper(f: Functions, a: Any, x: Any) -> Any:
    """The regularized upper incomplete gamma function."""
    return _at_edges(f, a, x, lower_and_upper(f, *_safely(f, a, x))[1], 1.0, 0.0)


def lower_slope(f: Functions, a: Any, x: Any) -> Any:
    """The derivative of the lower function in ``a``."""
    inside = _slopes(f, *_safely(f, a, x))[0]
    return f.where(a == 0.0, math.nan, _at_edges(f, a, x, inside, 0.0, 0.0))


def sample_slope(f: Functions, a: Any, x: Any) -> Any:
    """The derivative in ``a`` of a sample ``x`` at a fixed value of the lower function."""
    inside = _slopes(f, *_safely(f, a, x))[1]
    return _at_edges(f, a, x, inside, 0.0, math.nan)


def _slopes(f: Functions, a: Any, x: Any) -> tuple[Any, Any]:
    """``dP/da``, and minus its quotient by ``dP/dx``, where common factors cancel."""
    r = _regions(f, a, x)
    _, _, bracket, density = _uniform(f, *r.uniform_at)
    poisson = _poisson(f, a, x)
    total, slope = _differentiated_series(f, *r.series_at)
    log, psi = f.log(x), f.digamma(a + 1.0)
    by_series = (log - psi) * total + slope
    fraction, rate = _differentiated_fraction(f, *r.fraction_at)
    by_fraction = -a * fraction * (log - psi + 1.0 / a + rate)
    scaled = f.where(r.series, by_series, by_fraction)
    near = bracket * f.exp(gamma.stirling_correction(f.where(r.uniform, a, 400.0)))
    return (
        f.where(r.uniform, density * bracket, poisson * scaled),
        -(x / a) * f.where(r.uniform, near, scaled),
    )
