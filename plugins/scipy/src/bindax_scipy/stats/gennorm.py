"""The generalized normal distribution, ``exp(-|x| ** beta)`` normalized."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_numpy.extend import right_abs
from bindax_scipy._operands import real
from bindax_scipy.special import gammainc, gammaln
from bindax_transforms import custom_jvp, jvp

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Any, beta: Any) -> Array:
    """The logarithm of the density.

    >>> stats.gennorm.logpdf(jnp.array([0.0, 1.0]), 2.0)
    Array([-0.5723648, -1.5723648], dtype=float32)
    """
    x, beta = real("gennorm.logpdf", x, beta)
    return jnp.log(0.5 * beta) - gammaln(1 / beta) - right_abs(x) ** beta


def pdf(x: Any, beta: Any) -> Array:
    """The density.

    >>> stats.gennorm.pdf(jnp.array([0.0, 1.0]), 2.0)
    Array([0.5641897 , 0.20755377], dtype=float32)
    """
    return jnp.exp(logpdf(x, beta))


def cdf(x: Any, beta: Any) -> Array:
    """The probability of at most ``x``.

    >>> stats.gennorm.cdf(jnp.array([0.0, 1.0]), 2.0)
    Array([0.5       , 0.92135036], dtype=float32)
    """
    x, beta = real("gennorm.cdf", x, beta)
    return _cdf(x, beta)


@custom_jvp
def _cdf(x: Any, beta: Any) -> Any:
    return 0.5 * (1 + jnp.sign(x) * gammainc(1 / beta, jnp.abs(x) ** beta))


# The derivative of the formula at the mean is that of two kinks; the density has none.
_cdf.defjvps(
    lambda t, out, x, beta: t * pdf(x, beta),
    lambda t, out, x, beta: jvp(lambda b: _cdf.fun(x, b), (beta,), (t,))[1],
)
