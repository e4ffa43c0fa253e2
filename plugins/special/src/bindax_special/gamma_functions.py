"""The logarithm of the gamma function, its derivatives, and the Hurwitz zeta function."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, LoweringContext, Primitive, Rule, primitive, typeof
from bindax_lax_basic import add_p, dtypes, eq_p, log, log1p, mul_p, neg_p
from bindax_lax_basic.extend import (
    FLOAT,
    adopt_type,
    broadcast_to,
    composition,
    constant,
    elementwise,
    in_double,
    in_wider,
    inlined,
    nonlinear,
    of_real,
    polynomial,
    select_scalars,
)
from bindax_special.evaluation import gamma
from bindax_special.evaluation import zeta as zeta_function
from bindax_special.evaluation.coefficients import stirling_series
from bindax_special.evaluation.realisations import by_lax, by_numpy

__all__ = [
    "digamma",
    "digamma_p",
    "lgamma",
    "lgamma_p",
    "polygamma",
    "polygamma_p",
    "zeta",
    "zeta_p",
]


def lgamma(x: Any) -> Array:
    """Elementwise logarithm of the absolute value of the gamma function; infinite at its poles.

    Evaluated by Stirling's series, recurrence to the Taylor series at 2, and reflection.
    Beside its zeros on the negative axis it is right up to 5 units in the last place of 1.

    >>> import numpy as np
    >>> lgamma(np.array([1.0, 4.0, 0.0]))
    Array([0.        , 1.79175947,        inf], dtype=float64)
    """
    return lgamma_p.bind(x)


def _replaced(name: str, near_zeros: Any) -> Rule:
    """The lowering to an operation, with better values near zeros, where it is right absolutely.

    Args:
        name: the operation.
        near_zeros: ``(x, out) -> out`` on arrays of float32 or float64.
    """

    def lowering(ctx: LoweringContext, x: Any) -> Any:
        (aval,) = ctx.avals_in
        (out,) = ctx.op(name, [x])
        return inlined(ctx, lambda *operands: [near_zeros(*operands)], [x, out], [aval, aval])[0]

    return in_wider(lowering, dtypes.accumulator_dtype)


def _lgamma_of_real(x: Any) -> Any:
    """The algorithm of ``gamma.lgamma`` without branches, in the dtype of the array."""
    left = x < 0.5
    z = select_scalars(left, x, 1.0 - x)
    large = z >= gamma.STIRLING_FROM
    out = select_scalars(
        large,
        _lgamma_moderate(select_scalars(large, z, constant(2.0, x))),
        _lgamma_large(select_scalars(large, constant(gamma.STIRLING_FROM, x), z)),
    )
    # 1 - x would round what is near 0; there is log(gamma(1 + x) / x).
    near = lax.abs_p.bind(x) < 0.5
    small = select_scalars(near, constant(0.25, x), x)
    by_step = _from_two(small) - log1p(small) - log(lax.abs_p.bind(small))
    turn = lax.abs_p.bind(x - lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN))
    turn = select_scalars(left, constant(0.5, x), turn)
    reflected = log(math.pi / _sine_of_turn(turn)) - out
    out = select_scalars(left, out, reflected)
    out = select_scalars(near, out, by_step)
    pole = lax.bitwise_and(x <= 0.0, turn == 0.0)
    pole = lax.bitwise_or(pole, lax.abs_p.bind(x) == math.inf)
    return select_scalars(pole, out, constant(math.inf, x))


def _sine_of_turn(t: Any) -> Any:
    """``sin(pi t)`` from 0 to 1/2."""
    terms = 12 if typeof(t).dtype.itemsize == 8 else 7
    series = [(-1) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(terms)]
    return t * polynomial(t * t, series)


def _from_two(t: Any) -> Any:
    """The logarithm of the gamma function at ``2 + t``."""
    return t * polynomial(t, gamma.series_at_two()[: 28 if typeof(t).dtype.itemsize == 8 else 13])


def _lgamma_moderate(x: Any) -> Any:
    """From 1/2 to 8: by recurrence to numbers around 2."""
    t, product = x - 2.0, None
    for _ in range(6):
        far = t > 0.5
        factor = select_scalars(far, constant(1.0, x), t + 1.0)
        product = factor if product is None else product * factor
        t = select_scalars(far, t, t - 1.0)
    low = x < 1.5
    t = select_scalars(low, t, x - 1.0)
    logarithm = log(select_scalars(low, product, x))
    return _from_two(t) + select_scalars(low, logarithm, -logarithm)


def _lgamma_large(x: Any) -> Any:
    """Stirling's series."""
    y = 1.0 / x
    series = stirling_series()[: 11 if typeof(x).dtype.itemsize == 8 else 4]
    logarithm = log(x) - 1.0
    return (x - 0.5) * logarithm + (gamma.STIRLING_CONSTANT + y * polynomial(y * y, series))


lgamma_p: Primitive = primitive(
    "lgamma",
    *elementwise("lgamma", in_double(gamma.lgamma), FLOAT, slow=True),
    *nonlinear(of_real(_lgamma_of_real, "chlo.lgamma"), lambda x, y: digamma(x)),
)


def digamma(x: Any) -> Array:
    """Elementwise derivative of ``lgamma``; nan at its poles -1, -2, ..., minus infinity at 0.

    Evaluated by its asymptotic series, recurrence, the Taylor series at its zero, and reflection.
    Beside its zeros on the negative axis it is right up to 13 units in the last place of 1.

    >>> import numpy as np
    >>> digamma(np.array([1.0, 2.0]))
    Array([-0.57721566,  0.42278434], dtype=float64)
    """
    return digamma_p.bind(x)


def _trigamma(x: Any, out: Any) -> Any:
    return polygamma(broadcast_to(constant(1.0, x), typeof(x).shape), x)


def _digamma_near_zeros(x: Any, out: Any) -> Any:
    """The series at the positive zero; minus infinity at 0, where some compilers give nan."""
    dtype = typeof(x).dtype
    zero = dtype.type(gamma.ZERO)
    rest = (gamma.ZERO - float(zero)) + gamma.ZERO_REST
    near = lax.abs_p.bind(x - float(zero)) < 0.25
    t = select_scalars(near, constant(0.0, x), x - float(zero))
    terms = gamma.digamma_at_zero()[: 24 if dtype.itemsize == 8 else 12]
    # Compilers would make one constant of the zero's two parts.
    out = select_scalars(near, out, t * polynomial(t, terms) - rest * terms[0])
    return select_scalars(eq_p.bind(x, constant(0.0, x)), out, constant(-math.inf, x))


digamma_p: Primitive = primitive(
    "digamma",
    *elementwise("digamma", in_double(gamma.digamma), FLOAT, slow=True),
    *nonlinear(_replaced("chlo.digamma", _digamma_near_zeros), _trigamma),
)


def by_algorithm(name: str, algorithm: Any, *factors: Any) -> tuple[Rule, ...]:
    """All rules of a primitive that one algorithm evaluates, and lowers as a program."""
    evaluated = elementwise(name, by_numpy(algorithm), *[FLOAT] * len(factors), slow=True)
    return *evaluated, *nonlinear(composition(by_lax(algorithm, digamma)), *factors)


def zeta(x: Any, q: Any) -> Array:
    """Elementwise Hurwitz zeta function: the sum of ``(q + k)^-x`` over all ``k >= 0``.

    Args:
        x: an array of real floats, the exponent; the result is nan below 1 and infinite at 1.
        q: an array of the same dtype. Where it is negative, ``x`` must be an integer.

    Evaluated by Euler-Maclaurin summation. The derivative in ``q`` is ``-x zeta(x + 1, q)``.
    Compiled in double precision, results below 1e-291 lose digits.

    >>> import numpy as np
    >>> zeta(np.array([2.0]), np.array([1.0]))
    Array([1.64493407], dtype=float64)
    """
    return zeta_p.bind(*adopt_type(x, q))


def unknown_derivative(name: str, argument: str) -> Any:
    """A partial derivative that has no formula: its use is an error that names the operand."""

    def raise_error(*operands: Any) -> Any:
        raise TypeError(
            f"the derivative of {name} with respect to {argument} is not known in closed form; "
            f"differentiate with respect to its other operands only, or cut this one out with "
            f"lax.stop_gradient({argument})."
        )

    return raise_error


def _zeta_in_q(x: Any, q: Any, out: Any) -> Any:
    return mul_p.bind(neg_p.bind(x), zeta_p.bind(add_p.bind(x, constant(1.0, x)), q))


zeta_p: Primitive = primitive(
    "zeta", *by_algorithm("zeta", zeta_function.zeta, unknown_derivative("zeta", "x"), _zeta_in_q)
)


def polygamma(m: Any, x: Any) -> Array:
    """Elementwise derivative of order ``m`` of ``digamma`` at ``x``.

    Args:
        m: an array of real floats that are natural numbers; others give nan.
        x: an array of the same dtype.

    Evaluated from ``zeta(m + 1, x)``.
    Beside the zeros of even orders, half-integers below 0, no digit need be right.

    >>> import numpy as np
    >>> polygamma(np.array([1.0]), np.array([1.0]))
    Array([1.64493407], dtype=float64)
    """
    return polygamma_p.bind(*adopt_type(m, x))


polygamma_p: Primitive = primitive(
    "polygamma",
    *by_algorithm(
        "polygamma",
        gamma.polygamma,
        unknown_derivative("polygamma", "m"),
        lambda m, x, out: polygamma_p.bind(add_p.bind(m, constant(1.0, m)), x),
    ),
)
