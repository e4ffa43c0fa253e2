"""The polar decomposition of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, ShapedArray, Tracer, typeof
from bindax_lax_basic.extend import broadcast_to, constant, convert, filled, static_int
from bindax_linalg import _matrices as m
from bindax_linalg.cholesky import cholesky
from bindax_linalg.qr import qr
from bindax_linalg.triangular_solve import triangular_solve

__all__ = ["qdwh"]


_SAFE_FOR_CHOLESKY = 100.0
"""Up to this weight of the Gram matrix its Cholesky factor is as exact as a QR decomposition."""


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition ``x = U H``: U with orthonormal columns, H positive semidefinite.

    Halley's iteration with weights that follow a bound of the singular values (Y. Nakatsukasa,
    Z. Bai and F. Gygi, "Optimizing Halley's iteration for computing the matrix polar
    decomposition", 2010), each step by a QR decomposition or a Cholesky decomposition, and one
    Newton-Schulz step at the end. Compiled, every step that is allowed is part of the program.

    Args:
        x: a matrix of full rank, of shape ``[m, n]`` with ``m >= n``.
        is_hermitian: not used.
        max_iterations: how many steps are allowed; 10 by default.
        eps: the relative precision, by default that of the dtype.
        dynamic_shape: the sizes of the part of ``x`` that is decomposed, two integers or scalar
            arrays; what is beyond counts as zero.

    Returns:
        ``(u, h, steps, converged)``: U of shape ``[m, n]``, H of shape ``[n, n]``, the number of
        steps, and whether they sufficed.

    Raises:
        ValueError: when ``x`` is no matrix or has fewer rows than columns.

    >>> u, h, steps, converged = qdwh(np.array([[0.0, -2.0], [1.0, 0.0]]))
    >>> bool(np.allclose(u, [[0, -1], [1, 0]])), bool(np.allclose(h, [[1, 0], [0, 2]]))
    (True, True)
    """
    aval = typeof(x)
    m.check_matrix("qdwh", aval)
    if aval.ndim != 2 or aval.shape[0] < aval.shape[1]:
        raise ValueError(
            f"qdwh takes one matrix of shape [m, n] with m >= n, but got {aval.str_short()}; use "
            f"vmap for a stack of matrices, or decompose the adjoint."
        )
    limit = 10 if max_iterations is None else static_int("qdwh", "max_iterations", max_iterations)
    precision = float(np.finfo(aval.dtype).eps) if eps is None else float(eps)
    if dynamic_shape is not None:
        x = _part(x, dynamic_shape)
    u, steps, unfinished = _iterate(_scaled(x), limit, precision)
    gram = m.matmul(m.adjoint(u), u)
    u = m.sub(m.scaled(u, 1.5), m.scaled(m.matmul(u, gram), 0.5))
    h = m.symmetrized(m.matmul(m.adjoint(u), x))
    return u, h, steps, lax.not_p.bind(unfinished)


def _part(x: Any, sizes: tuple[Any, Any]) -> Any:
    """A matrix that is zero beyond some of its rows and columns."""
    shape = typeof(x).shape
    inside = None
    for axis, size in enumerate(sizes):
        places = lax.iota_p.bind(dtype=m.INT32, shape=shape, dimension=axis)
        limit = broadcast_to(convert(size, m.INT32, False), shape)
        below = lax.lt_p.bind(places, limit)
        inside = below if inside is None else lax.and_p.bind(inside, below)
    return lax.select_n_p.bind(inside, filled(typeof(x), 0), x)


def _scaled(x: Any) -> Any:
    """A matrix divided by a bound of its largest singular value."""
    sizes = lax.abs_p.bind(x)
    norms = [
        lax.reduce_max_p.bind(lax.reduce_sum_p.bind(sizes, axes=(axis,)), axes=(0,))
        for axis in (0, 1)
    ]
    inverse = m.mul(*[lax.rsqrt_p.bind(norm) for norm in norms])
    nothing = lax.eq_p.bind(norms[0], constant(0, norms[0]))
    inverse = lax.select_n_p.bind(nothing, inverse, filled(typeof(inverse), 1))
    return m.mul(x, broadcast_to(convert(inverse, typeof(x).dtype, False), typeof(x).shape))


Weights = tuple[float, float, float]
"""The numbers of a step ``U -> U (a I + b U^H U) (I + c U^H U)^-1``."""

_HALLEY: Weights = (3.0, 1.0, 3.0)


def _all_weights(limit: int, eps: float) -> list[Weights]:
    """The weights of the steps after which all singular values are 1 to a precision."""
    found: list[Weights] = []
    least = eps  # a lower bound of the singular values
    while least + 5 * eps < 1 and len(found) < limit:
        square = least * least
        d = (4 * (1 / square - 1) / square) ** (1 / 3)
        root = (1 + d) ** 0.5
        a = root + (2 - d + 2 * (2 - square) / (square * root)) ** 0.5
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        least = least * (a + b * square) / (1 + c * square)
        found.append((a, b, c))
    return found


def _iterate(u: Any, limit: int, eps: float) -> tuple[Any, Any, Any]:
    """The unitary factor, the number of steps, and whether more were needed."""
    tolerance = (5 * eps) ** (1 / 3)
    known = _all_weights(limit, eps)
    unfinished: Any = np.bool_(True)
    for weights in known:
        if weights[2] > _SAFE_FOR_CHOLESKY:
            u = _step_by_qr(u, weights)
        else:
            u, before = _step_by_cholesky(u, weights), u
            unfinished = _moved(u, before, tolerance)
    steps = filled(ShapedArray((), m.INT32), len(known))
    for _ in range(limit - len(known)):
        if not isinstance(unfinished, Tracer) and not unfinished:
            break
        following = _step_by_cholesky(u, _HALLEY)
        steps = m.add(steps, convert(unfinished, m.INT32, False))
        more = lax.and_p.bind(unfinished, _moved(following, u, tolerance))
        u, unfinished = lax.select_n_p.bind(unfinished, u, following), more
    return u, steps, unfinished


def _moved(u: Any, before: Any, tolerance: float) -> Any:
    """Test whether a step changed a matrix by more than a tolerance."""
    sizes = lax.abs_p.bind(m.sub(u, before))
    norm = lax.sqrt_p.bind(lax.reduce_sum_p.bind(m.mul(sizes, sizes), axes=(0, 1)))
    return lax.gt_p.bind(norm, constant(tolerance, norm))


def _step_by_qr(u: Any, weights: Weights) -> Any:
    """A step by the QR decomposition of ``[√c U; I]``, exact for any weights."""
    a, b, c = weights
    rows, columns = typeof(u).shape
    square = filled(ShapedArray((columns, columns), typeof(u).dtype), 0)
    stacked = lax.concatenate_p.bind(m.scaled(u, c**0.5), m.identity_like(square), dimension=0)
    q = qr(stacked, full_matrices=False)[0]
    upper, lower = lax.slice_in_dim(q, 0, rows), lax.slice_in_dim(q, rows, rows + columns)
    change = m.scaled(m.matmul(upper, m.adjoint(lower)), (a - b / c) / c**0.5)
    return m.add(m.scaled(u, b / c), change)


def _step_by_cholesky(u: Any, weights: Weights) -> Any:
    """A step by the Cholesky decomposition of ``I + c U^H U``."""
    a, b, c = weights
    gram = m.matmul(m.adjoint(u), u)
    factor = cholesky(m.add(m.identity_like(gram), m.scaled(gram, c)), symmetrize_input=False)
    lower = {"lower": True, "conjugate_a": True, "transpose_a": True}
    solved = triangular_solve(factor, u, **lower)
    solved = triangular_solve(factor, solved, lower=True)
    return m.add(m.scaled(u, b / c), m.scaled(solved, a - b / c))
