"""Hypergeometric functions of one real variable: power series, and formulas that lead to them."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
import bindax_special as base
from bindax_control_flow import while_loop
from bindax_core.extend import Array
from bindax_scipy._operands import aligned, epsilon, in_double, is_double, real, settled
from bindax_scipy._pairs import Pair, add, divide, multiply, two_sum
from bindax_scipy.special.gamma_functions import gamma, gammasgn
from bindax_transforms import custom_jvp, jvp

_MOST_TERMS = 20_000
Orders = tuple[int, ...]


def _is_pole(x: Any) -> Any:
    return (x <= 0) & (x == jnp.floor(x))


# --------------------------------------------------------------------- power series


@functools.cache
def _series(above: int, orders: Orders) -> Callable[..., Any]:
    """A derivative of a hypergeometric series with respect to its parameters.

    Its arguments are ``above`` parameters of the numerator, those of the denominator, and x.
    ``orders`` has the order of the derivative in each parameter. The derivatives of this function
    are such functions again.
    """

    @custom_jvp
    def derivative(*operands: Any) -> Any:
        factor = math.prod(math.factorial(order) for order in orders)
        return _coefficient(above, orders, *operands) * factor

    def by_parameter(place: int) -> Callable[..., Any]:
        raised = _series(above, _moved(orders, place, 1))
        return lambda t, out, *operands: raised(*operands) * t

    def by_x(t: Any, out: Any, *operands: Any) -> Any:
        return _slope(above, orders, *operands) * t

    # What is raised is made when it is needed, as there is no end of it.
    rules = [lambda *args, i=i: by_parameter(i)(*args) for i in range(len(orders))]
    derivative.defjvps(*rules, by_x)
    return derivative


def _moved(orders: Orders, place: int, step: int) -> Orders:
    return (*orders[:place], orders[place] + step, *orders[place + 1 :])


def _coefficient(above: int, orders: Orders, *operands: Any) -> Any:
    """The coefficient of powers of the parameters' changes in the sum of the series.

    Each term is the Taylor polynomial of its dependence on the parameters, cut off at ``orders``;
    the next one is its product with the polynomial of their quotient (Griewank and Walther,
    "Evaluating derivatives", 2008, chapter 13).
    """
    *parameters, x = operands
    accuracy = epsilon(x) / 4
    keys = list(itertools.product(*(range(order + 1) for order in orders)))

    def next_terms(k: Any, terms: dict[Orders, Any]) -> dict[Orders, Any]:
        for place, parameter in enumerate(parameters):
            made: dict[Orders, Any] = {}
            for key in keys:
                below = _moved(key, place, -1)
                if place < above:
                    made[key] = (parameter + k) * terms[key] + terms.get(below, 0)
                else:
                    made[key] = (terms[key] - made.get(below, 0)) / (parameter + k)
            terms = made
        return {key: term * x / (k + 1) for key, term in terms.items()}

    def unfinished(state: Any) -> Any:
        k, terms, sums = state
        going = [jnp.abs(terms[key]) > accuracy * jnp.abs(sums[key]) for key in keys]
        # A coefficient of 0 at first is not the end of its series.
        return (k < _MOST_TERMS) & ((k < 3 + sum(orders)) | jnp.any(jnp.stack(going)))

    def step(state: Any) -> Any:
        k, terms, sums = state
        terms = next_terms(k.astype(x.dtype), terms)
        return k + 1, terms, {key: sums[key] + terms[key] for key in keys}

    first = {key: jnp.zeros_like(x) if any(key) else jnp.ones_like(x) for key in keys}
    return while_loop(unfinished, step, (jnp.zeros((), np.int32), first, first))[2][orders]


def _slope(above: int, orders: Orders, *operands: Any) -> Any:
    """The derivative in x: that of ``F(a + 1; b + 1; x)`` times the quotient of parameters."""
    *parameters, x = operands
    choices = [
        range(min(order, 1) + 1) if place < above else range(order + 1)
        for place, order in enumerate(orders)
    ]
    total: Any = 0
    for used in itertools.product(*choices):
        factor: Any = 1
        for place, (p, order, j) in enumerate(zip(parameters, orders, used, strict=True)):
            if place < above:
                factor = factor * (order if j else p)
            else:
                factor = factor * math.perm(order, j) * (-1) ** j / p ** (1 + j)
        rest = tuple(order - j for order, j in zip(orders, used, strict=True))
        total = total + factor * _series(above, rest)(*(p + 1 for p in parameters), x)
    return total


_series_2f1 = _series(2, (0, 0, 0))


def _plain_series(above: tuple[Pair, ...], c: Any, z: Pair) -> Any:
    orders = (0,) * (len(above) + 1)
    return _series(len(above), orders)(*(p[0] for p in above), c, z[0])


def _power_series(above: tuple[Pair, ...], c: Any, z: Pair) -> Any:
    """The power series; with twice the digits where its terms cancel, which takes longer."""
    accuracy = epsilon(c) / 4
    one = jnp.ones_like(c)

    def step(state: Any) -> Any:
        k, term, total, size = state
        n = k.astype(c.dtype)
        ratio = math.prod((p[0] + n for p in above), start=z[0] / ((c + n) * (n + 1)))
        term = term * ratio
        # A term of index k has k roundings.
        return k + 1, term, total + term, size + n * jnp.abs(term)

    def unfinished(state: Any) -> Any:
        return (state[0] < _MOST_TERMS) & jnp.any(jnp.abs(state[1]) > accuracy * jnp.abs(state[2]))

    first = jnp.zeros((), np.int32), one, one, one
    plain, size = while_loop(unfinished, step, first)[2:]
    # A lost sum is nan; the other ones are not computed again.
    cancelled = ~(size < 32 * jnp.abs(plain))
    again = jnp.where(cancelled, z[0], 0.0), jnp.where(cancelled, z[1], 0.0)
    precise = _precise_series(above, c, again)
    return jnp.where(cancelled & jnp.isfinite(precise), precise, plain)


def _precise_series(above: tuple[Pair, ...], c: Any, z: Pair) -> Any:
    accuracy = epsilon(c) / 4
    zero, one = jnp.zeros_like(c), jnp.ones_like(c)

    def step(state: Any) -> Any:
        k, term, total = state
        n = k.astype(c.dtype)
        product = functools.reduce(multiply, [add(p, (n, zero)) for p in above], z)
        term = multiply(term, divide(product, multiply(two_sum(c, n), (n + 1, zero))))
        return k + 1, term, add(total, term)

    def unfinished(state: Any) -> Any:
        k, term, total = state
        return (k < _MOST_TERMS) & jnp.any(jnp.abs(term[0]) > accuracy * jnp.abs(total[0]))

    return while_loop(unfinished, step, (jnp.zeros((), np.int32), (one, zero), (one, zero)))[2][0]


def _chosen(condition: Any, x: Pair, y: Pair) -> Pair:
    return jnp.where(condition, x[0], y[0]), jnp.where(condition, x[1], y[1])


def _turned_sine(x: Any) -> Any:
    """``sin(pi x)``, zero at integers."""
    whole = jnp.round(x)
    return (1 - 2 * (whole % 2)) * jnp.sin(math.pi * (x - whole))


def _of_each(function: Callable[[Any], Any], arguments: list[Any]) -> list[Any]:
    """An elementwise function of several arrays in one call, which makes a shorter program."""
    return list(jnp.unstack(function(jnp.stack(arguments))))


def _gamma_quotient(above: tuple[Any, ...], below: tuple[Any, ...], log_factor: Any = 0) -> Any:
    """The quotient of products of gamma functions, times the exponential of a number."""
    reflected = [x < 0.5 for x in below]
    chosen = [jnp.where(left, 1 - x, x) for left, x in zip(reflected, below, strict=True)]
    logarithms = _of_each(base.lgamma, [*above, *chosen])
    sign: Any = 1
    for x in above:
        sign, log_factor = sign * gammasgn(x), log_factor + logarithms.pop(0)
    for x, left in zip(below, reflected, strict=True):
        # 1 / gamma(x) by reflection, zero at poles.
        logarithm = logarithms.pop(0)
        sign = sign * jnp.where(left, _turned_sine(x) / math.pi, 1.0)
        log_factor = log_factor + jnp.where(left, logarithm, -logarithm)
    return sign * jnp.exp(log_factor)


def _exact_quotient(above: tuple[Any, ...], below: tuple[Any, ...]) -> Any:
    """The same, without logarithms where no product overflows."""
    most = 25.0 if is_double(above[0]) else 8.0
    moderate: Any = True
    for x in (*above, *below):
        moderate = moderate & (jnp.abs(x) < most)
    numerator = [jnp.where(moderate, x, 1.5) for x in above]
    denominator = [jnp.where(moderate, x, 1.5) for x in below]
    sizes = _of_each(gamma, [*numerator, *map(_beside_poles, denominator)])
    value: Any = math.prod(sizes[: len(above)])
    for x, size in zip(denominator, sizes[len(above) :], strict=True):
        value = value * _reciprocal_gamma(x, size)
    return jnp.where(moderate, value, _gamma_quotient(above, below))


def _beside_poles(x: Any) -> Any:
    """The number of whose gamma function :func:`_reciprocal_gamma` is computed."""
    return jnp.where(x <= -0.5, -x, jnp.where(x < 0.5, 1 + x, x))


def _reciprocal_gamma(x: Any, size: Any) -> Any:
    """``1 / gamma(x)``, zero at poles, by the gamma function beside them."""
    far, near = x <= -0.5, x < 0.5
    return jnp.where(far, -x * _turned_sine(x) / math.pi * size, jnp.where(near, x, 1.0) / size)


# --------------------------------------------------------------------------- hyp1f1


def _kummer_value(a: Any, b: Any, x: Any, series: Any = _plain_series) -> Any:
    negative = x < 0
    zero = jnp.zeros_like(x)
    first = _chosen(negative, two_sum(b, -a), (a, zero))
    p, y = first[0], jnp.abs(x)
    pole = _is_pole(b)
    q = jnp.where(pole, 1.0, b)
    # Where the power series can be summed it is, until the other one is precise.
    most, least = (700, 100) if is_double(x) else (80, 40)
    far = (y > most) | (y > least + jnp.abs((q - p) * (1 - p)))
    far = far & ~_is_pole(p)
    near = series((first,), q, (jnp.where(far, 1.0, y), zero))
    # Elsewhere it is computed for numbers that overflow in no dtype, so that slopes are not nan.
    z, r, s = (jnp.where(far, number, 1.0) for number in (y, p, q))
    growth = jnp.where(negative, 0.0, z) + (r - s) * jnp.log(z)
    large = _gamma_quotient((s,), (r,), growth) * _descending(s - r, 1 - r, z)
    decay = jnp.where(negative & ~far, jnp.exp(jnp.where(negative & ~far, x, 0.0)), 1.0)
    value = jnp.where(far, large, decay * near)
    return jnp.where(pole, jnp.where(a == 0, 1.0, np.inf), value)


@custom_jvp
def _kummer(a: Any, b: Any, x: Any) -> Any:
    return _kummer_value(a, b, x, _power_series)


_kummer.defjvps(
    lambda t, out, a, b, x: jvp(lambda a: _kummer_value(a, b, x), (a,), (t,))[1],
    lambda t, out, a, b, x: jvp(lambda b: _kummer_value(a, b, x), (b,), (t,))[1],
    lambda t, out, a, b, x: a / b * _kummer(a + 1, b + 1, x) * t,
)


def hyp1f1(a: Any, b: Any, x: Any) -> Array:
    """Kummer's confluent hypergeometric function 1F1(a; b; x).

    Up to about 100 the power series, after Kummer's transformation for negative ``x``; beyond, the
    asymptotic series (Pearson, Olver and Porter, "Numerical methods for the computation of the
    confluent and Gauss hypergeometric functions", 2015). Where terms cancel they are
    summed with twice the digits, and float32 is computed in double precision. It has derivatives in
    all arguments.

    >>> special.hyp1f1(1.0, 2.0, jnp.array([1.0])).round(4)
    Array([1.7183], dtype=float32)
    """
    return in_double(_kummer, *settled(*aligned(*real("hyp1f1", a, b, x))))


def _descending(p: Any, q: Any, z: Any) -> Any:
    """The first terms of the asymptotic series 2F0(p, q; 1 / z) for large z."""
    total = jnp.ones_like(z)
    for k in range(29, -1, -1):
        total = 1 + total * (p + k) * (q + k) / ((k + 1) * z)
    return total


# --------------------------------------------------------------------------- hyp2f1


# Lagrange's weights at 0 of the numbers from 1 to 10 and their negatives.
_MOST = 10
_NODES = [k for k in range(-_MOST, _MOST + 1) if k]
_WEIGHTS = [
    -((-1) ** abs(k)) * math.comb(2 * _MOST, _MOST - k) / math.comb(2 * _MOST, _MOST)
    for k in _NODES
]


def _near_one(a: Any, b: Any, c: Any, y: Any) -> Any:
    """The function of 1 - y by Gauss's connection.

    Where ``c - a - b`` is nearly an integer both series are infinite, and their sum is not. As it
    is entire in a, it is interpolated there between numbers beside a, which are the nearer, the
    faster it changes.
    """
    a, b = _swapped(a < b, a, b)
    d = c - a - b
    # The farthest numbers do not reach the next integer.
    step = jnp.minimum(-0.25 / jnp.log(y), 0.9 / _MOST)
    close = jnp.abs(d - jnp.round(d)) < step / 2
    step = lax.stop_gradient(jnp.where(close, step, 0.0))
    column = (-1,) + (1,) * y.ndim
    nodes = jnp.reshape(jnp.array(_NODES, y.dtype), column)
    moved = jnp.expand_dims(a, 0) + nodes * jnp.expand_dims(step, 0)
    values = _connection(*aligned(moved, b, c, y))
    weights = jnp.reshape(jnp.array(_WEIGHTS, y.dtype), column)
    return jnp.where(close, jnp.sum(values * weights, axis=0), values[0])


def _connection(a: Any, b: Any, c: Any, y: Any) -> Any:
    """The sum of two products of a quotient and a series, computed together."""
    d, of_a, of_b = c - a - b, c - a, c - b
    rows = [(a, of_a), (b, of_b), (of_a, a), (of_b, b), (d, -d), (c, c), (y, y)]
    first, second, third, fourth, ds, cs, ys = map(jnp.stack, rows)
    series = _series_2f1(first, second, 1 - ds, ys)
    one, two = jnp.unstack(_exact_quotient((cs, ds), (third, fourth)) * series)
    return one + y**d * two


def _degrees(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any, Any]:
    """The degrees of polynomials by the parameters a, b, c - a, c - b, infinite for others."""

    def degree(high: Any, low: Any) -> Any:
        return jnp.where(_is_pole(high) & (low == 0), -high, np.inf)

    return degree(a, 0.0), degree(b, 0.0), degree(*two_sum(c, -a)), degree(*two_sum(c, -b))


def _gauss_value(
    a: Any, b: Any, c: Any, x: Any, finite: Any, shorter: Any = False, series: Any = _plain_series
) -> Any:
    """The function by a polynomial where it is ``finite`` or, with c - b, ``shorter``.

    For derivatives there is no shorter one, as its parameters would all depend on all others.
    """
    one, above = (x == 1) & ~finite, (x > 1) & ~finite
    pole = _is_pole(c)
    safe_c = jnp.where(pole, 0.5, c)
    y = jnp.where(one | above, 0.0, x)
    value = _transformed(a, b, safe_c, y, finite, shorter, series)
    d = safe_c - a - b
    at_one = one & (d > 0)
    safe_d = jnp.where(at_one, d, 1.0)
    gauss = _exact_quotient((safe_c, safe_d), (safe_c - a, safe_c - b))
    value = jnp.where(one, jnp.where(at_one, gauss, np.inf), value)
    value = jnp.where(above | pole & (x != 0), np.inf, value)
    nothing = lax.bitwise_or(jnp.isnan(x), jnp.isnan(a + b + c))
    return jnp.where(nothing, np.nan, value)


def _transformed(a: Any, b: Any, c: Any, x: Any, finite: Any, shorter: Any, series: Any) -> Any:
    """The function by one of the equal products of a power and a series (DLMF 15.8.1)."""
    zero = jnp.zeros_like(x)
    pfaff = (x < -0.5) & (~finite | shorter)
    euler = (x < 1) & ~pfaff & shorter
    p = (a, zero) if shorter is False else _chosen(euler, two_sum(c, -a), (a, zero))
    q = _chosen(euler | pfaff, two_sum(c, -b), (b, zero))
    exponent = jnp.where(pfaff, -a, jnp.where(euler, q[0] - a, 0.0))
    base = two_sum(1.0, -jnp.where(euler | pfaff, x, 0.0))
    factor = base[0] ** exponent * (1 + exponent * (base[1] / base[0]))
    z = _chosen(pfaff, divide((-x, zero), base), (x, zero))
    # Near 1 the series is slow: two series of 1 - z.
    near = (z[0] > 0.9) & ~(finite | shorter)
    direct = series((p, q), c, (jnp.where(near, 0.0, z[0]), jnp.where(near, 0.0, z[1])))
    first, second = jnp.where(near, p[0], 0.25), jnp.where(near, q[0], 0.25)
    rest = jnp.where(near, jnp.where(pfaff, 1 / base[0], 1 - z[0]), 0.5)
    return factor * jnp.where(near, _near_one(first, second, jnp.where(near, c, 1.0), rest), direct)


@custom_jvp
def _gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    by_a, by_b, by_rest_of_a, by_rest_of_b = _degrees(a, b, c)
    plain, less = jnp.minimum(by_a, by_b), jnp.minimum(by_rest_of_a, by_rest_of_b)
    # What is subtracted from c makes the polynomial, or else the smaller number does.
    a, b = _swapped(
        jnp.where(by_rest_of_a == by_rest_of_b, a < b, by_rest_of_a < by_rest_of_b), a, b
    )
    return _gauss_value(a, b, c, x, plain < np.inf, less < plain, _power_series)


def _swapped(condition: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return jnp.where(condition, b, a), jnp.where(condition, a, b)


def _gauss_by_a(t: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    """The derivative in a: a polynomial is none any more beside its point."""
    none = (x > 1) & _is_pole(a) & ~_is_pole(b)
    slope = jvp(lambda a: _gauss_value(a, b, c, x, _is_pole(b)), (a,), (t,))[1]
    return slope + t * jnp.where(none, np.nan, 0.0)


def _gauss_by_c(t: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    # With c - b in place of b, a alone makes a polynomial of the derivative.
    a, b = _swapped(_is_pole(b), a, b)
    return jvp(lambda c: _gauss_value(a, b, c, x, _is_pole(a)), (c,), (t,))[1]


_gauss.defjvps(
    lambda t, out, a, b, c, x: _gauss_by_a(t, a, b, c, x),
    lambda t, out, a, b, c, x: _gauss_by_a(t, b, a, c, x),
    lambda t, out, a, b, c, x: _gauss_by_c(t, a, b, c, x),
    lambda t, out, a, b, c, x: a * b / c * _gauss(a + 1, b + 1, c + 1, x) * t,
)


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Array:
    """Gauss's hypergeometric function 2F1(a, b; c; x), infinite for ``x`` above 1.

    The power series, after the transformation of Euler or Pfaff that makes a polynomial of it, or
    that of Pfaff below -1/2, and Gauss's connection with 1 - x near 1 (Pearson, Olver and Porter,
    "Numerical methods for the computation of the confluent and Gauss hypergeometric functions",
    2015). Where terms cancel they are summed with twice the digits. Results are right to half a
    unit in the last place in float32, which is computed in double precision, and to 50 in float64
    for parameters below 20. It has derivatives in all arguments.

    >>> special.hyp2f1(1.0, 1.0, 2.0, jnp.array([0.5])).round(4)
    Array([1.3863], dtype=float32)
    """
    return in_double(_gauss, *settled(*aligned(*real("hyp2f1", a, b, c, x))))
