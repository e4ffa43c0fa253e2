"""Bessel functions."""

from __future__ import annotations

import operator
from typing import Any

import bindax_numpy as jnp
import bindax_special as base
from bindax_control_flow import scan
from bindax_core.extend import Array
from bindax_numpy.extend import modified_bessel
from bindax_scipy._operands import real

# Where the backward recurrence begins; it grows from there.
_TINY = 1e-16


def i0(x: Any) -> Array:
    """The modified Bessel function of the first kind of order 0.

    >>> special.i0(jnp.array([1.0]))
    Array([1.266066], dtype=float32)
    """
    (x,) = real("i0", x)
    return modified_bessel(x, 0)


def i0e(x: Any) -> Array:
    """``exp(-|x|) i0(x)``.

    >>> special.i0e(jnp.array([1.0]))
    Array([0.4657596], dtype=float32)
    """
    return base.bessel_i0e(*real("i0e", x))


def i1(x: Any) -> Array:
    """The modified Bessel function of the first kind of order 1.

    >>> special.i1(jnp.array([1.0]))
    Array([0.56515914], dtype=float32)
    """
    (x,) = real("i1", x)
    return modified_bessel(x, 1)


def i1e(x: Any) -> Array:
    """``exp(-|x|) i1(x)``.

    >>> special.i1e(jnp.array([1.0]))
    Array([0.20791042], dtype=float32)
    """
    return base.bessel_i1e(*real("i1e", x))


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Array:
    """The Bessel functions of the first kind of orders 0 to ``v``.

    Miller's backward recurrence: from order ``n_iter`` down, then scaled by ``J_0 + 2 J_2 + 2 J_4
    + ... = 1``.

    Args:
        z: a scalar or vector of real numbers.
        v: the highest order.
        n_iter: the order at which the recurrence begins, above ``v`` and well above ``z``.

    Returns:
        An array of shape ``(v + 1, *z.shape)``.

    Raises:
        ValueError: for complex numbers or more than one axis, or when ``n_iter`` is not above it.

    >>> special.bessel_jn(jnp.array([1.0]), v=1)
    Array([[nan],
           [nan]], dtype=float32)
    """
    z = jnp.asarray(z)
    (z,) = real("bessel_jn", z)
    v, n_iter = operator.index(v), operator.index(n_iter)
    if z.ndim > 1:
        raise ValueError(f"bessel_jn: z must be a scalar or a vector, but it has shape {z.shape}.")
    if not 0 <= v < n_iter:
        raise ValueError(
            f"bessel_jn: v must be from 0 to below n_iter, but they are {v} and {n_iter}."
        )
    # Without z = 0 in the division: there the functions are 1, 0, 0, ...
    zero = z == 0
    safe = jnp.where(zero, 1.0, z)

    def step(carry: Any, k: Any) -> Any:
        f0, f1, total = carry
        f = 2 * (k + 1) * f1 / safe - f0
        total = jnp.where(k % 2 == 0, total + 2 * f, total)
        return (f1, f, total), f

    orders = jnp.arange(n_iter, -1, -1, dtype=z.dtype)
    start = jnp.zeros_like(z), jnp.full_like(z, _TINY), jnp.zeros_like(z)
    (_, last, total), values = scan(step, start, orders)
    found = values[::-1][: v + 1] / (total - last)
    first = (jnp.arange(v + 1) == 0).astype(z.dtype)
    first = jnp.reshape(first, (v + 1,) + (1,) * z.ndim)
    return jnp.where(zero, first, found)
