"""Decompositions of matrices, and their eigenvalues and singular values."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np

import bindax_lax_basic as lax
import bindax_linalg as lax_linalg
from bindax_control_flow import scan
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert, static_ints
from bindax_numpy.arithmetic import abs, absolute, conj, real, square
from bindax_numpy.comparison import choice
from bindax_numpy.indexing import take_along_axis
from bindax_numpy.linalg._matrices import adjoint, matrix_operand
from bindax_numpy.reductions import sum
from bindax_numpy.reshaping import expand_dims, flip, matrix_transpose, moveaxis, squeeze
from bindax_numpy.sorting import argsort


class EigResult(NamedTuple):
    """The result of ``eig``.

    >>> isinstance(jnp.linalg.eig(jnp.eye(2)), jnp.linalg.EigResult)
    True
    """

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """The result of ``eigh``.

    >>> isinstance(jnp.linalg.eigh(jnp.eye(2)), jnp.linalg.EighResult)
    True
    """

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """The result of ``qr``.

    >>> isinstance(jnp.linalg.qr(jnp.eye(2)), jnp.linalg.QRResult)
    True
    """

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """The result of ``svd``.

    >>> isinstance(jnp.linalg.svd(jnp.eye(2)), jnp.linalg.SVDResult)
    True
    """

    U: Array
    S: Array
    Vh: Array


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The Cholesky decomposition ``L L^H`` of positive definite matrices.

    Args:
        a: Hermitian matrices, of shape ``[..., n, n]``.
        upper: whether the factor is ``U`` of ``U^H U`` instead.
        symmetrize_input: whether the Hermitian part of ``a`` is taken first.

    Returns:
        The triangular factor; nan where a matrix is not positive definite.

    >>> jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    x = matrix_operand("cholesky", a, square=True)
    if upper:
        return adjoint(lax_linalg.cholesky(adjoint(x), symmetrize_input=symmetrize_input))
    return lax_linalg.cholesky(x, symmetrize_input=symmetrize_input)


@overload
def qr(a: Any, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
@overload
def qr(a: Any, mode: Literal["r"]) -> Array: ...
@overload
def qr(a: Any, mode: str) -> Any: ...
def qr(a: Any, mode: str = "reduced") -> Any:
    """The QR decomposition: orthonormal columns times an upper triangular matrix.

    Args:
        a: matrices, of shape ``[..., m, n]``.
        mode: "reduced" for ``min(m, n)`` columns of Q, for which "full" is an old name, "complete"
            for ``m``, "r" for R alone, "raw" for the reflections that Q is a product of.

    Returns:
        ``(Q, R)``, a named tuple, or R. With "raw" the transpose of the matrix that LAPACK's
        ``geqrf`` makes, R above the vectors of the reflections, and their factors.

    Raises:
        ValueError: for any other mode.

    >>> Q, R = jnp.linalg.qr(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> jnp.allclose(Q @ R, jnp.array([[3.0, 1.0], [4.0, 2.0]]), atol=1e-5)
    Array(True, dtype=bool)
    """
    if mode not in ("reduced", "full", "complete", "r", "raw"):
        raise ValueError(
            f"qr: mode must be 'reduced', 'complete', 'r' or 'raw', but it is {mode!r}."
        )
    x = matrix_operand("qr", a)
    if mode == "raw":
        return QRResult(*reflections(x))
    q, r = lax_linalg.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Args:
        a: Hermitian matrices, of shape ``[..., n, n]``.
        UPLO: "L" or "U", the triangle that is read where ``symmetrize_input`` is false.
        symmetrize_input: whether the Hermitian part of ``a`` is taken first.

    Returns:
        ``(eigenvalues, eigenvectors)``, a named tuple: real and ascending, and orthonormal columns.
        Eigenvectors have no derivative where eigenvalues are equal.

    Raises:
        ValueError: for any other ``UPLO``.

    >>> jnp.linalg.eigh(jnp.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"eigh: UPLO must be 'L', 'U' or None, but it is {UPLO!r}.")
    x = matrix_operand("eigh", a, square=True)
    v, w = lax_linalg.eigh(x, lower=UPLO != "U", symmetrize_input=symmetrize_input)
    return EighResult(w, v)


def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices, ascending; arguments as for ``eigh``.

    >>> jnp.linalg.eigvalsh(jnp.array([[2.0, 1.0], [1.0, 2.0]]))
    Array([1., 3.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors of general matrices.

    Args:
        a: matrices, of shape ``[..., n, n]``.

    Returns:
        ``(eigenvalues, eigenvectors)``, a named tuple, both complex; eigenvectors are columns of
        length 1. Eigenvalues can be differentiated, eigenvectors cannot.

    >>> jnp.linalg.eig(jnp.array([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = matrix_operand("eig", a, square=True)
    w, v = lax_linalg.eig(x, compute_left_eigenvectors=False)
    return EigResult(w, v)


def eigvals(a: Any) -> Array:
    """The eigenvalues of general matrices, which are complex.

    >>> jnp.linalg.eigvals(jnp.array([[1.0, 5.0], [0.0, 2.0]]))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    x = matrix_operand("eigvals", a, square=True)
    (w,) = lax_linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    return w


@overload
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> SVDResult: ...
@overload
def svd(
    a: Any,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array: ...
@overload
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any: ...
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """The singular value decomposition ``U diag(S) Vh``.

    Args:
        a: matrices, of shape ``[..., m, n]``.
        full_matrices: whether U and Vh are square.
        compute_uv: whether U and Vh are computed.
        hermitian: a promise that the matrices are, by which eigenvalues are used instead.
        subset_by_index: the first and the end of the range of singular values to return.

    Returns:
        ``(U, S, Vh)``, a named tuple, the singular values descending; or ``S`` alone. Singular
        vectors have no derivative where singular values are equal.

    >>> jnp.linalg.svd(jnp.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    x = matrix_operand("svd", a, square=hermitian)
    if hermitian:
        return _hermitian_svd(x, compute_uv, subset_by_index)
    found = lax_linalg.svd(
        x, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index
    )
    return SVDResult(*found) if compute_uv else found


def _hermitian_svd(x: Any, compute_uv: bool, subset: tuple[int, int] | None) -> Any:
    """By eigenvalues: their sizes are the singular values, their signs turn vectors round."""
    w, v = eigh(x)
    sizes = absolute(w)
    order = flip(argsort(sizes), -1)
    s = take_along_axis(sizes, order, -1)
    size = typeof(s).shape[-1]
    kept = slice(*static_ints("svd", "subset_by_index", (0, size) if subset is None else subset))
    s = s[..., kept]
    if not compute_uv:
        return s
    signs = choice(take_along_axis(w, order, -1) < 0, -1, 1)
    u = take_along_axis(v, expand_dims(order, -2), -1)
    vh = adjoint(u * expand_dims(signs, -2))
    return SVDResult(u[..., kept], s, vh[..., kept, :])


def svdvals(x: Any, /) -> Array:
    """The singular values of matrices, descending.

    >>> jnp.linalg.svdvals(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
    Array([2., 1.], dtype=float32)
    """
    return svd(x, compute_uv=False)


def reflections(x: Any) -> tuple[Any, Any]:
    """The transposed matrix of R and the vectors below it, and the factors of the reflections.

    Column by column, each is reflected onto its first element (Golub and Van Loan, *Matrix
    Computations*, algorithm 5.2.1), in a loop: the program is as short for many columns as for one.
    """
    aval = typeof(x)
    *lead, m, n = aval.shape
    steps = min(m, n)
    if not steps:
        return matrix_transpose(x), lax.full((*lead, 0), 0, aval.dtype)
    columns = lax.iota(np.int32, n)

    def reflect(a: Any, j: Any) -> tuple[Any, Any]:
        column, factor = _reflection(lax.dynamic_slice_in_dim(a, j, 1, axis=len(lead) + 1), j)
        vector = choice(_rows(m) == j, 1, choice(_rows(m) > j, column, 0))
        others = a - conj(factor) * vector * (matrix_transpose(conj(vector)) @ a)
        a = choice(columns == j, column, choice(columns > j, others, a))
        return a, squeeze(factor, (-2, -1))

    packed, factors = scan(reflect, x, np.arange(steps, dtype=np.int32))
    return matrix_transpose(packed), moveaxis(factors, 0, -1)


def _rows(m: int) -> Any:
    return lax.iota(np.int32, m)[:, None]


def _reflection(column: Any, j: Any) -> tuple[Any, Any]:
    """The column with its element ``j`` reflected and the vector below it, and the factor."""
    rows = _rows(typeof(column).shape[-2])
    first = sum(choice(rows == j, column, 0), -2, keepdims=True)
    below = choice(rows > j, column, 0)
    tail = sum(real(square(abs(below))), -2, keepdims=True)
    length = lax.sqrt(square(abs(first)) + tail)
    reflected = convert(choice(real(first) > 0, -length, length), typeof(column).dtype, False)
    still = tail == 0
    if dtypes.is_complex(typeof(first).dtype):
        still = still & (lax.imag(first) == 0)
    safe = choice(still, 1, reflected)
    factor = choice(still, 0, (safe - first) / safe)
    vector = below / choice(still, 1, first - reflected)
    at_j = choice(rows == j, choice(still, first, reflected), column)
    return choice(rows > j, vector, at_j), factor
