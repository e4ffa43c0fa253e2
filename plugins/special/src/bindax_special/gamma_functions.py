"""The logarithm of the gamma function, its derivatives, and the Hurwitz zeta function."""

from __future__ import annotations

import math
from typing import Any

from bindax_core.extend import Array, LoweringContext, Primitive, Rule, primitive, typeof
from bindax_lax_basic import add_p, mul_p, neg_p
from bindax_lax_basic.extend import (
    FLOAT,
    adopt_type,
    broadcast_to,
    compare,
    composition,
    constant,
    elementwise,
    full,
    in_double,
    nonlinear,
)
from bindax_special.evaluation import gamma
from bindax_special.evaluation import zeta as zeta_function
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

    >>> import numpy as np
    >>> lgamma(np.array([1.0, 4.0, 0.0]))
    Array([0.        , 1.79175947,        inf], dtype=float64)
    """
    return lgamma_p.bind(x)


lgamma_p: Primitive = primitive(
    "lgamma",
    *elementwise("lgamma", in_double(gamma.lgamma), FLOAT, slow=True),
    *nonlinear("chlo.lgamma", lambda x, y: digamma(x)),
)


def digamma(x: Any) -> Array:
    """Elementwise derivative of ``lgamma``; nan at its poles -1, -2, ..., minus infinity at 0.

    Evaluated by its asymptotic series, recurrence, the Taylor series at its zero, and reflection.

    >>> import numpy as np
    >>> digamma(np.array([1.0, 2.0]))
    Array([-0.57721566,  0.42278434], dtype=float64)
    """
    return digamma_p.bind(x)


def _trigamma(x: Any, out: Any) -> Any:
    return polygamma(broadcast_to(constant(1.0, x), typeof(x).shape), x)


def _digamma_lowering(ctx: LoweringContext, x: Any) -> Any:
    (aval,) = ctx.avals_in
    (out,) = ctx.op("chlo.digamma", [x])
    # Of compilers some give nan there.
    at_zero = compare(ctx, "EQ", x, full(ctx, aval, 0), aval)
    return ctx.op("stablehlo.select", [at_zero, full(ctx, aval, -math.inf), out])[0]


digamma_p: Primitive = primitive(
    "digamma",
    *elementwise("digamma", in_double(gamma.digamma), FLOAT, slow=True),
    *nonlinear(_digamma_lowering, _trigamma),
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
