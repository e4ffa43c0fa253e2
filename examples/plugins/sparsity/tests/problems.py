"""Problems whose Jacobians are mostly zero, with the patterns that one knows them to have."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import bindax_lax_basic as lax
from bindax_control_flow import scan


def _shifted(a: Any, by: int, axis: int) -> Any:
    """The neighbour of each element of a periodic grid."""
    size = a.shape[axis]
    cut = by % size
    parts = [lax.slice_in_dim(a, size - cut, size, axis=axis)]
    parts.append(lax.slice_in_dim(a, 0, size - cut, axis=axis))
    return lax.concatenate(parts, axis)


def _periodic_laplace(a: Any) -> Any:
    around = _shifted(a, 1, 0) + _shifted(a, -1, 0) + _shifted(a, 1, 1) + _shifted(a, -1, 1)
    return around - 4.0 * a


def brusselator(z: Any) -> Any:
    """Reaction and diffusion of two species on a periodic square grid.

    I. Prigogine and R. Lefever, Symmetry breaking instabilities in dissipative systems II, 1968.
    """
    side = round((z.size / 2) ** 0.5)
    both = lax.reshape(z, (2, side, side))
    u, v = both[0], both[1]
    du = 1.0 + u**2 * v - 4.4 * u + 0.1 * _periodic_laplace(u)
    dv = 3.4 * u - u**2 * v + 0.1 * _periodic_laplace(v)
    return lax.reshape(lax.concatenate([du[None], dv[None]], 0), (z.size,))


def brusselator_pattern(side: int) -> Any:
    ring = sp.eye_array(side) + sp.csr_array(np.roll(np.eye(side), 1, 0))
    ring = ring + sp.csr_array(np.roll(np.eye(side), -1, 0))
    one = sp.eye_array(side)
    grid = sp.kron(ring, one) + sp.kron(one, ring)
    return sp.block_array([[grid, sp.eye_array(side**2)], [sp.eye_array(side**2), grid]]) != 0


def obstacle(x: Any) -> Any:
    """A membrane over an obstacle: a complementarity problem, whose residual is a minimum."""
    side = round(x.size**0.5)
    u = lax.reshape(x, (side, side))
    wide = lax.pad(u, lax.full((), 0.0, u.dtype), ((1, 1, 0), (1, 1, 0)))
    middle = 4.0 * u - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]
    ends = np.linspace(-1.0, 1.0, side)
    hill = 0.5 - ends[:, None] ** 2 - ends[None, :] ** 2
    return lax.reshape(lax.min(middle + 0.01, u - hill.astype(u.dtype)), (x.size,))


def grid_pattern(side: int) -> Any:
    line = sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(side, side))
    one = sp.eye_array(side)
    return sp.kron(line, one) + sp.kron(one, line) != 0


def membrane_energy(x: Any) -> Any:
    """The energy of the same membrane, with a penalty inside of the obstacle."""
    side = round(x.size**0.5)
    u = lax.reshape(x, (side, side))
    across, down = u[1:, :] - u[:-1, :], u[:, 1:] - u[:, :-1]
    inside = lax.max(0.2 - u, lax.full((), 0.0, u.dtype))
    return (across**4).sum() + (down**4).sum() + (u**2).sum() + (inside**3).sum()


LAYERS = 3


def network(x: Any) -> Any:
    """Layers in which each unit is connected with itself and its neighbours."""
    size = x.size
    weights = np.random.default_rng(0).uniform(0.5, 1.5, (LAYERS, 3, size))

    def layer(held: Any, w: Any) -> Any:
        wide = lax.pad(held, lax.full((), 0.0, held.dtype), ((1, 1, 0),))
        return lax.tanh(w[0] * wide[:-2] + w[1] * held + w[2] * wide[2:]), None

    return scan(layer, x, weights.astype(x.dtype))[0]


def network_pattern(size: int) -> Any:
    offsets = range(-LAYERS, LAYERS + 1)
    return sp.diags_array([1.0] * len(offsets), offsets=offsets, shape=(size, size)) != 0
