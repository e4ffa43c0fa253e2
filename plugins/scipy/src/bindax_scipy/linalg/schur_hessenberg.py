"""Schur and Hessenberg forms: triangular matrices, or nearly so, in other coordinates."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_linalg as decompose
import bindax_numpy as jnp
from bindax_control_flow import cond, fori_loop
from bindax_core.extend import Array
from bindax_scipy._operands import epsilon
from bindax_scipy.linalg._matrices import adjoint, matrices, product, require_one_of
from bindax_transforms import jit


def schur(a: Any, output: str = "real") -> tuple[Array, Array]:
    """The decomposition ``a = z t zᴴ`` with a unitary and a triangular matrix.

    Args:
        a: matrices of shape ``[..., n, n]``.
        output: ``"real"``, where ``t`` of a real matrix has 2 x 2 blocks on its diagonal, or
            ``"complex"``.

    Returns:
        ``(t, z)``.

    >>> linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))[0]
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    require_one_of("schur", "output", output, ("real", "complex"))
    (a,) = matrices("schur", a, square=True)
    if output == "complex":
        a = a.astype(np.promote_types(a.dtype, np.complex64))
    t, z = decompose.schur(a)
    return t, z


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """A complex Schur form from a real one.

    Args:
        T: the triangular matrices with 2 x 2 blocks that ``schur`` returns.
        Z: the unitary matrices that it returns; leading axes broadcast.
        check_finite: not used.

    >>> t = jnp.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> linalg.rsf2csf(t, jnp.eye(2))[0].diagonal().imag.round(4)
    Array([ 1., -1.], dtype=float32)
    """
    T, Z = matrices("rsf2csf", T, Z, square=True)
    if Z.shape[-2:] != T.shape[-2:]:
        raise ValueError(
            f"rsf2csf: T and Z must have matrices of the same size, but they have shapes {T.shape} "
            f"and {Z.shape}."
        )
    wide = np.promote_types(T.dtype, np.complex64)
    return _complex_form(T.astype(wide), Z.astype(wide))


@jit
@partial(jnp.vectorize, signature="(n,n),(n,n)->(n,n),(n,n)")
def _complex_form(T: Any, Z: Any) -> tuple[Any, Any]:
    """Rotate what is below the diagonal away, from the last row up."""
    n, accuracy = T.shape[0], epsilon(jnp.real(T))
    if n < 2:  # nothing is below the diagonal
        return T, Z

    def step(i: Any, state: Any) -> Any:
        T, Z = state
        m = n - i
        size = jnp.abs(T[m - 1, m - 1]) + jnp.abs(T[m, m])
        T, Z = cond(jnp.abs(T[m, m - 1]) > accuracy * size, _rotate, _keep, m, T, Z)
        return T.at[m, m - 1].set(0), Z

    return fori_loop(1, n, step, (T, Z))


def _keep(m: Any, T: Any, Z: Any) -> tuple[Any, Any]:
    return T, Z


def _rotate(m: Any, T: Any, Z: Any) -> tuple[Any, Any]:
    """Apply the plane rotation that makes the block that ends at ``m`` triangular."""
    a, b, c, d = T[m - 1, m - 1], T[m - 1, m], T[m, m - 1], T[m, m]
    half = (a - d) / 2
    root = jnp.sqrt(half * half + b * c)
    # The eigenvalue that is farther from d comes first, as in LAPACK.
    mu = half + jnp.where(jnp.real(jnp.conj(half) * root) < 0, -root, root)
    size = jnp.sqrt(jnp.abs(mu) ** 2 + jnp.abs(c) ** 2)
    cosine, sine = [x / size.astype(x.dtype) for x in (mu, c)]
    rotation = jnp.stack([jnp.stack([jnp.conj(cosine), sine]), jnp.stack([-sine, cosine])])
    index = jnp.arange(T.shape[0])
    rows = lax.dynamic_slice_in_dim(T, m - 1, 2, axis=0)
    turned = jnp.where(index[None] < m - 1, rows, product(rotation, rows))
    T = lax.dynamic_update_slice_in_dim(T, turned, m - 1, axis=0)
    columns = lax.dynamic_slice_in_dim(T, m - 1, 2, axis=1)
    turned = jnp.where(index[:, None] > m, columns, product(columns, adjoint(rotation)))
    T = lax.dynamic_update_slice_in_dim(T, turned, m - 1, axis=1)
    columns = lax.dynamic_slice_in_dim(Z, m - 1, 2, axis=1)
    Z = lax.dynamic_update_slice_in_dim(Z, product(columns, adjoint(rotation)), m - 1, axis=1)
    return T, Z


def hessenberg(
    a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The decomposition ``a = q h qᴴ`` with a unitary matrix, and 0 below the first subdiagonal.

    Args:
        a: matrices of shape ``[..., n, n]``.
        calc_q: return ``(h, q)``; otherwise ``h`` alone.
        overwrite_a: not used.
        check_finite: not used.

    >>> linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    (a,) = matrices("hessenberg", a, square=True)
    n = a.shape[-1]
    if n == 0:
        return (a, a) if calc_q else a
    packed, taus = decompose.hessenberg(a)
    h = jnp.triu(packed, -1)
    if not calc_q:
        return h
    inner = decompose.householder_product(packed[..., 1:, :-1], taus)
    widths = [(0, 0)] * (a.ndim - 2) + [(1, 0), (1, 0)]
    return h, jnp.pad(inner, widths).at[..., 0, 0].set(1)
