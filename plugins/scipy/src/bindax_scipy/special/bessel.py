"""Bessel functions."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import bindax_numpy as jnp
import bindax_special as base
from bindax_control_flow import scan
from bindax_core.extend import Array
from bindax_numpy.extend import modified_bessel
from bindax_scipy._operands import real
from bindax_transforms import custom_jvp

# The size beyond which numbers of the backward recurrence are made smaller.
_LARGE = 2.0**40


def i0(x: Any) -> Array:
    """The modified Bessel function of the first kind of order 0.

    >>> special.i0(jnp.array([1.0])).round(4)
    Array([1.2661], dtype=float32)
    """
    (x,) = real("i0", x)
    return modified_bessel(x, 0)


def i0e(x: Any) -> Array:
    """``exp(-|x|) i0(x)``.

    >>> special.i0e(jnp.array([1.0])).round(4)
    Array([0.4658], dtype=float32)
    """
    return base.bessel_i0e(*real("i0e", x))


def i1(x: Any) -> Array:
    """The modified Bessel function of the first kind of order 1.

    Compiled in float32 it is off by up to 10 units in the last place below 8.

    >>> special.i1(jnp.array([1.0])).round(4)
    Array([0.5652], dtype=float32)
    """
    (x,) = real("i1", x)
    return modified_bessel(x, 1)


def i1e(x: Any) -> Array:
    """``exp(-|x|) i1(x)``.

    >>> special.i1e(jnp.array([1.0])).round(4)
    Array([0.2079], dtype=float32)
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

    >>> jnp.round(special.bessel_jn(jnp.array([1.0]), v=1), 3)
    Array([[0.765],
           [0.44 ]], dtype=float32)
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
    return _orders(v, n_iter)(z)


@functools.cache
def _orders(v: int, n_iter: int) -> Callable[[Any], Any]:
    """The functions up to order ``v``; a derivative is half the difference of its neighbours."""

    @custom_jvp
    def functions(z: Any) -> Any:
        return _backward(v, n_iter, z)

    def slopes(t: Any, out: Any, z: Any) -> Any:
        more = _orders(v + 1, max(n_iter, v + 2))(z)
        lower = jnp.concatenate([-more[1:2], more[:v]])
        return (lower - more[1:]) / 2 * t

    functions.defjvps(slopes)
    return functions


def _backward(v: int, n_iter: int, z: Any) -> Any:
    # Without small numbers in the division: there the functions are 1, z / 2, 0, ...
    small = jnp.abs(z) < math.sqrt(float(jnp.finfo(z.dtype).tiny))
    safe = jnp.where(small, 1.0, z)

    def step(carry: Any, k: Any) -> Any:
        f0, f1, total, powers = carry
        f = 2 * (k + 1) * f1 / safe - f0
        total = jnp.where(k % 2 == 0, total + 2 * f, total)
        # What gets large is divided by a power of 2, and that is kept.
        large = jnp.abs(f) > _LARGE
        power = jnp.where(large, jnp.floor(jnp.log2(jnp.where(large, jnp.abs(f), 1.0))), 0.0)
        f1, f, total = (x * jnp.exp2(-power) for x in (f1, f, total))
        return (f1, f, total, powers + power), (f, powers + power)

    orders = jnp.arange(n_iter, -1, -1, dtype=z.dtype)
    none = jnp.zeros_like(z)
    carry, (values, seen) = scan(step, (none, none + 1, none, none), orders)
    _, last, total, powers = carry
    scaled = values * jnp.exp2(seen - powers)
    found = scaled[::-1][: v + 1] / (total - last)
    order = jnp.reshape(jnp.arange(v + 1), (v + 1,) + (1,) * z.ndim)
    return jnp.where(small, jnp.where(order == 0, 1.0, jnp.where(order == 1, z / 2, 0.0)), found)
