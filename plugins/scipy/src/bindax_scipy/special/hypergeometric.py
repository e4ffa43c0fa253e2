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
from bindax_scipy._operands import aligned, epsilon, is_double, real, settled
from bindax_scipy.special.gamma_functions import gammasgn
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


_series_1f1 = _series(1, (0, 0))
_series_2f1 = _series(2, (0, 0, 0))


def _over_gamma(x: Any) -> tuple[Any, Any]:
    """A factor and a logarithm, whose exponential times it is ``1 / gamma(x)``, zero at poles."""
    below = x < 0.5
    whole = jnp.round(x)
    sine = (1 - 2 * (whole % 2)) * jnp.sin(math.pi * (x - whole)) / math.pi
    logarithm = base.lgamma(jnp.where(below, 1 - x, x))
    return jnp.where(below, sine, 1.0), jnp.where(below, logarithm, -logarithm)


def _gamma_quotient(above: tuple[Any, ...], below: tuple[Any, ...], log_factor: Any = 0) -> Any:
    """The quotient of products of gamma functions, times the exponential of a number."""
    sign: Any = 1
    for x in above:
        sign, log_factor = sign * gammasgn(x), log_factor + base.lgamma(x)
    for x in below:
        factor, logarithm = _over_gamma(x)
        sign, log_factor = sign * factor, log_factor + logarithm
    return sign * jnp.exp(log_factor)


# --------------------------------------------------------------------------- hyp1f1


def _kummer_value(a: Any, b: Any, x: Any) -> Any:
    negative = x < 0
    p, y = jnp.where(negative, b - a, a), jnp.abs(x)
    pole = _is_pole(b)
    q = jnp.where(pole, 1.0, b)
    # Where the power series can be summed it is, until the other one is precise.
    most, least = (700, 100) if is_double(x) else (80, 40)
    far = (y > most) | (y > least + jnp.abs((q - p) * (1 - p)))
    far = far & ~_is_pole(p)
    near = _series_1f1(p, q, jnp.where(far, 1.0, y))
    # Elsewhere it is computed for numbers that overflow in no dtype, so that slopes are not nan.
    z, r, s = (jnp.where(far, number, 1.0) for number in (y, p, q))
    growth = jnp.where(negative, 0.0, z) + (r - s) * jnp.log(z)
    large = _gamma_quotient((s,), (r,), growth) * _descending(s - r, 1 - r, z)
    decay = jnp.where(negative & ~far, jnp.exp(jnp.where(negative & ~far, x, 0.0)), 1.0)
    value = jnp.where(far, large, decay * near)
    return jnp.where(pole, jnp.where(a == 0, 1.0, np.inf), value)


_kummer = custom_jvp(_kummer_value)
_kummer.defjvps(
    lambda t, out, a, b, x: jvp(lambda a: _kummer_value(a, b, x), (a,), (t,))[1],
    lambda t, out, a, b, x: jvp(lambda b: _kummer_value(a, b, x), (b,), (t,))[1],
    lambda t, out, a, b, x: a / b * _kummer(a + 1, b + 1, x) * t,
)


def hyp1f1(a: Any, b: Any, x: Any) -> Array:
    """Kummer's confluent hypergeometric function 1F1(a; b; x).

    Up to about 100 the power series, after Kummer's transformation for negative ``x``; beyond, the
    asymptotic series (Pearson, Olver and Porter, "Numerical methods for the computation of the
    confluent and Gauss hypergeometric functions", 2015). It has derivatives in all arguments.
    For parameters far apart and negative ``x`` terms cancel: five digits may be lost.

    >>> special.hyp1f1(1.0, 2.0, jnp.array([1.0])).round(4)
    Array([1.7183], dtype=float32)
    """
    return _kummer(*settled(*aligned(*real("hyp1f1", a, b, x))))


def _descending(p: Any, q: Any, z: Any) -> Any:
    """The first terms of the asymptotic series 2F0(p, q; 1 / z) for large z."""
    total = jnp.ones_like(z)
    for k in range(29, -1, -1):
        total = 1 + total * (p + k) * (q + k) / ((k + 1) * z)
    return total


# --------------------------------------------------------------------------- hyp2f1


def _ascending(a: Any, b: Any, c: Any, x: Any, finite: Any) -> Any:
    """The function for x from -1/2 to below 1, or for a polynomial."""
    # Near 1 the series is slow: two series of 1 - x.
    near = (x > 0.9) & ~finite
    direct = _series_2f1(a, b, c, jnp.where(near, 0.0, x))
    a, b, c = (jnp.where(near, p, safe) for p, safe in ((a, 0.25), (b, 0.25), (c, 1.0)))
    return jnp.where(near, _near_one(a, b, c, jnp.where(near, 1 - x, 0.5)), direct)


# Lagrange's weights at 0 of the twelve numbers, from 1 to 6 and their negatives.
_NODES = [k for k in range(-6, 7) if k]
_WEIGHTS = [
    -((-1) ** abs(k)) * 720**2 / math.factorial(6 - k) / math.factorial(6 + k) for k in _NODES
]


def _near_one(a: Any, b: Any, c: Any, y: Any) -> Any:
    """The function of 1 - y by Gauss's connection.

    Where ``c - a - b`` is nearly an integer both series are infinite, and their sum is not. As it
    is entire in a, it is interpolated there between numbers beside a, which are the nearer, the
    faster it changes.
    """
    d = c - a - b
    least, change = (1e-3, 0.15) if is_double(y) else (1e-2, 0.3)
    close = jnp.abs(d - jnp.round(d)) < least
    step = lax.stop_gradient(jnp.where(close, -change / jnp.log(y), 0.0))
    column = (-1,) + (1,) * y.ndim
    nodes = jnp.reshape(jnp.array(_NODES, y.dtype), column)
    moved = jnp.expand_dims(a, 0) + nodes * jnp.expand_dims(step, 0)
    values = _connection(*aligned(moved, b, c, y))
    return jnp.sum(values * jnp.reshape(jnp.array(_WEIGHTS, y.dtype), column), axis=0)


def _connection(a: Any, b: Any, c: Any, y: Any) -> Any:
    d = c - a - b
    one = _gamma_quotient((c, d), (c - a, c - b)) * _series_2f1(a, b, 1 - d, y)
    two = _gamma_quotient((c, -d), (a, b), d * jnp.log(y)) * _series_2f1(c - a, c - b, 1 + d, y)
    return one + two


def _gauss_value(a: Any, b: Any, c: Any, x: Any, finite: Any) -> Any:
    one, above = (x == 1) & ~finite, (x > 1) & ~finite
    pole = _is_pole(c)
    safe_c = jnp.where(pole, 0.5, c)
    pfaff = (x < -0.5) & ~finite
    y = jnp.where(one | above, 0.0, x)
    moved = jnp.where(pfaff, y / (y - 1), y)
    factor = jnp.where(pfaff, (1 - jnp.where(pfaff, y, 0.0)) ** -a, 1.0)
    value = factor * _ascending(a, jnp.where(pfaff, safe_c - b, b), safe_c, moved, finite)
    d = safe_c - a - b
    at_one = one & (d > 0)
    safe_d = jnp.where(at_one, d, 1.0)
    gauss = _gamma_quotient((safe_c, safe_d), (safe_c - a, safe_c - b))
    value = jnp.where(one, jnp.where(at_one, gauss, np.inf), value)
    value = jnp.where(above | pole & (x != 0), np.inf, value)
    nothing = lax.bitwise_or(jnp.isnan(x), jnp.isnan(a + b + c))
    return jnp.where(nothing, np.nan, value)


@custom_jvp
def _gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _gauss_value(a, b, c, x, _is_pole(a) | _is_pole(b))


def _gauss_by_a(t: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    """The derivative in a: a polynomial is none any more beside its point."""
    none = (x > 1) & _is_pole(a) & ~_is_pole(b)
    slope = jvp(lambda a: _gauss_value(a, b, c, x, _is_pole(b)), (a,), (t,))[1]
    return slope + t * jnp.where(none, np.nan, 0.0)


def _gauss_by_c(t: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    finite = _is_pole(a) | _is_pole(b)
    return jvp(lambda c: _gauss_value(a, b, c, x, finite), (c,), (t,))[1]


_gauss.defjvps(
    lambda t, out, a, b, c, x: _gauss_by_a(t, a, b, c, x),
    lambda t, out, a, b, c, x: _gauss_by_a(t, b, a, c, x),
    lambda t, out, a, b, c, x: _gauss_by_c(t, a, b, c, x),
    lambda t, out, a, b, c, x: a * b / c * _gauss(a + 1, b + 1, c + 1, x) * t,
)


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Array:
    """Gauss's hypergeometric function 2F1(a, b; c; x), infinite for ``x`` above 1.

    The power series, after Pfaff's transformation below -1/2, and Gauss's connection with 1 - x
    near 1 (Pearson, Olver and Porter, "Numerical methods for the computation of the confluent and
    Gauss hypergeometric functions", 2015). It has derivatives in all arguments.
    Where terms of the series cancel, as in ``hyp2f1(-7, 1, 1, 0.99)``, few
    digits are right: a tenth of the results measured in double precision are beyond 8 units.

    >>> special.hyp2f1(1.0, 1.0, 2.0, jnp.array([0.5])).round(4)
    Array([1.3863], dtype=float32)
    """
    return _gauss(*settled(*aligned(*real("hyp2f1", a, b, c, x))))
