"""Linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any

import bindax_lax_basic as lax
import bindax_linalg as decompose
import bindax_numpy as jnp
from bindax_control_flow import custom_linear_solve
from bindax_core.extend import Array
from bindax_scipy.linalg._matrices import (
    matrices,
    product,
    require_one_of,
    solved,
    with_columns,
)
from bindax_scipy.linalg.decompositions import cholesky

_TRANSPOSED = {
    0: (False, False),
    1: (True, False),
    2: (True, True),
    "N": (False, False),
    "T": (True, False),
    "C": (True, True),
}


def _transposition(name: str, trans: Any) -> tuple[bool, bool]:
    """True for a matrix that is transposed, and for one that is conjugated."""
    require_one_of(name, "trans", trans, tuple(_TRANSPOSED))
    return _TRANSPOSED[trans]


def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve ``a x = b`` with what ``cho_factor(a)`` returns.

    Args:
        c_and_lower: the triangular factor, and if it is the lower one.
        b: vectors or columns.
        overwrite_b: not used.
        check_finite: not used.

    >>> a = jnp.array([[4.0, 2.0], [2.0, 2.0]])
    >>> linalg.cho_solve(linalg.cho_factor(a), jnp.array([6.0, 4.0]))
    Array([1., 1.], dtype=float32)
    """
    factor, lower = c_and_lower
    c, b = matrices("cho_solve", factor, b, square=True)
    one, two = not lower, bool(lower)
    x = solved("cho_solve", c, b, lower=lower, transpose=one, conjugate=one)
    return solved("cho_solve", c, x, lower=lower, transpose=two, conjugate=two)


def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve ``a x = b`` with what ``lu_factor(a)`` returns.

    Args:
        lu_and_piv: the factors and the row exchanges.
        b: vectors or columns.
        trans: 0 for ``a``, 1 for its transpose, 2 for its conjugate transpose.
        overwrite_b: not used.
        check_finite: not used.

    >>> a = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    >>> jnp.round(linalg.lu_solve(linalg.lu_factor(a), jnp.array([3.0, 7.0])), 3)
    Array([1., 1.], dtype=float32)
    """
    factors, pivots = lu_and_piv
    transpose, conjugate = _transposition("lu_solve", trans)
    a, b = matrices("lu_solve", factors, b, square=True)
    n = a.shape[-1]
    a, b, vectors = with_columns("lu_solve", a, b)
    order = decompose.lu_pivots_to_permutation(pivots, n)
    order = jnp.broadcast_to(order, (*a.shape[:-2], n))[..., None]
    how = {"transpose": transpose, "conjugate": conjugate}
    if not transpose:
        x = jnp.take_along_axis(b, order, axis=-2)
        x = solved("lu_solve", a, x, lower=True, unit=True, **how)
        x = solved("lu_solve", a, x, lower=False, **how)
    else:
        x = solved("lu_solve", a, b, lower=False, **how)
        x = solved("lu_solve", a, x, lower=True, unit=True, **how)
        x = jnp.take_along_axis(x, jnp.argsort(order, axis=-2), axis=-2)
    return x[..., 0] if vectors else x


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """Solve ``a x = b`` for triangular matrices; the other triangle is not read.

    Args:
        a: matrices of shape ``[..., n, n]``.
        b: vectors or columns.
        trans: 0 or ``"N"`` for ``a``, 1 or ``"T"`` for its transpose, 2 or ``"C"`` for its
            conjugate transpose.
        lower: the lower triangle, not the upper one.
        unit_diagonal: take the diagonal to be 1.
        overwrite_b: not used.
        debug: not used.
        check_finite: not used.

    >>> linalg.solve_triangular(jnp.array([[2.0, 1.0], [0.0, 1.0]]), jnp.array([3.0, 1.0]))
    Array([1., 1.], dtype=float32)
    """
    transpose, conjugate = _transposition("solve_triangular", trans)
    a, b = matrices("solve_triangular", a, b, square=True)
    return solved(
        "solve_triangular",
        a,
        b,
        lower=lower,
        transpose=transpose,
        conjugate=conjugate,
        unit=unit_diagonal,
    )


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """Solve ``a x = b``.

    Args:
        a: matrices of shape ``[..., n, n]``.
        b: vectors or columns.
        lower: with ``"pos"``, whether the lower triangle of ``a`` is read, and not the upper one.
        overwrite_a: not used.
        overwrite_b: not used.
        debug: not used.
        check_finite: not used.
        assume_a: ``"gen"``, ``"sym"``, ``"her"`` or ``"pos"``; the last, for Hermitian positive
            definite matrices, is faster.

    >>> linalg.solve(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([3.0, 7.0])).round(4)
    Array([1., 1.], dtype=float32)
    """
    require_one_of("solve", "assume_a", assume_a, ("gen", "sym", "her", "pos"))
    if assume_a != "pos":
        return jnp.linalg.solve(a, b)
    a, b = matrices("solve", a, b, square=True)
    a, b, vectors = with_columns("solve", a, b)
    factors = cholesky(lax.stop_gradient(a), lower), lower
    triangle = (jnp.tril if lower else jnp.triu)(a)
    below = (jnp.tril if lower else jnp.triu)(a, -1 if lower else 1)
    whole = triangle + jnp.conj(jnp.swapaxes(below, -1, -2))
    x = custom_linear_solve(
        lambda x: product(whole, x),
        b,
        lambda _, y: cho_solve(factors, y),
        # The transpose of a Hermitian matrix is its conjugate.
        lambda _, y: jnp.conj(cho_solve(factors, jnp.conj(y))),
        symmetric=not jnp.iscomplexobj(a),
    )
    return x[..., 0] if vectors else x


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of matrices.

    >>> linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return jnp.linalg.inv(jnp.asarray(a))


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of matrices.

    >>> linalg.det(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array(8., dtype=float32)
    """
    return jnp.linalg.det(jnp.asarray(a))
