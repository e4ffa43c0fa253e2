"""Spherical harmonics."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_control_flow import scan
from bindax_core.extend import Array


def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> Array:
    """Spherical harmonics of degree ``n`` and order ``m``.

    Args:
        n: integers from 0 on, a vector.
        m: integers from ``-n`` to ``n``, a vector of the same size.
        theta: angles from the pole, from 0 to pi.
        phi: angles around the pole.
        diff_n: must be None; ``grad`` differentiates.
        n_max: the largest degree; by default that of ``n``, which has to be known then.

    Returns:
        Complex numbers, normalized with the phase of Condon and Shortley.

    Raises:
        ValueError: when ``diff_n`` is given.

    >>> special.sph_harm_y(jnp.array([1]), jnp.array([0]), jnp.zeros(1), jnp.zeros(1)).round(4)
    Array([0.4886+0.j], dtype=complex64)
    """
    if diff_n is not None:
        raise ValueError(
            f"sph_harm_y: diff_n must be None, but it is {diff_n!r:.60}; differentiate with grad."
        )
    most = int(np.max(np.asarray(n))) if n_max is None else operator.index(n_max)
    n, m = jnp.atleast_1d(n), jnp.atleast_1d(m)
    theta, phi = jnp.atleast_1d(theta), jnp.atleast_1d(phi)
    n, m, theta, phi = jnp.broadcast_arrays(n, m, theta, phi)
    table = _legendre(most, jnp.cos(theta), jnp.sin(theta))
    order = jnp.abs(m)
    chosen = table[n, order, jnp.arange(theta.shape[0])]
    angle = order * phi
    out = lax.complex(chosen * jnp.cos(angle), chosen * jnp.sin(angle))
    return jnp.where(m < 0, jnp.where(order % 2 == 0, 1, -1) * jnp.conj(out), out)


def _legendre(most: int, x: Any, sine: Any) -> Any:
    """Normalized associated Legendre functions, indexed by degree, order and point.

    The recurrence over degrees at each order; Holmes and Featherstone, "A unified approach to the
    Clenshaw summation", 2002.
    """
    orders = np.arange(most + 1)
    sectoral = [math.sqrt(1 / (4 * math.pi))]
    for k in range(1, most + 1):
        sectoral.append(-sectoral[-1] * math.sqrt((2 * k + 1) / (2 * k)))
    # The functions whose degree is their order, with which each recurrence begins.
    powers = jnp.stack([sine**k for k in range(most + 1)])
    starts = jnp.array(np.array(sectoral)[:, None], x.dtype) * powers

    def step(carry: Any, degree: Any) -> Any:
        before, last = carry
        l, m = degree, jnp.array(orders[:, None], x.dtype)
        safe = jnp.where(l > m, l * l - m * m, 1.0)
        up = jnp.sqrt(jnp.clip(4 * l * l - 1, 0) / safe)
        square = jnp.clip((l - 1) ** 2 - m * m, 0)
        down = jnp.sqrt(square * (2 * l + 1) / jnp.abs(2 * l - 3) / safe)
        value = jnp.where(l > m, up * x * last - down * before, jnp.where(l == m, starts, 0.0))
        return (last, value), value

    zero = jnp.zeros_like(starts)
    return scan(step, (zero, zero), jnp.arange(most + 1, dtype=x.dtype))[1]
