"""Functions of matrices, and Sylvester's equation."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_linalg as decompose
import bindax_numpy as jnp
from bindax_control_flow import cond, fori_loop, scan
from bindax_core.extend import Array
from bindax_scipy._operands import epsilon, is_double
from bindax_scipy.linalg._matrices import adjoint, matrices, product, require_one_of
from bindax_scipy.linalg.schur_hessenberg import schur
from bindax_transforms import custom_jvp, jit, jvp

# Up to these norms the Padé approximant of that degree has the precision of the dtype
# (Higham, "The scaling and squaring method for the matrix exponential revisited", 2005).
_SINGLE = 7, 3.925724783138660
_DOUBLE = 13, 5.371920351148152


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The exponential of matrices: a Padé approximant of the scaled matrix, then squarings.

    Args:
        A: matrices of shape ``[..., n, n]``.
        upper_triangular: the matrices are upper triangular.
        max_squarings: how many squarings are allowed; the result is nan where they do not suffice.

    >>> linalg.expm(jnp.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    (A,) = matrices("expm", A, square=True)
    if A.dtype.itemsize // (2 if jnp.iscomplexobj(A) else 1) < 4:
        raise TypeError(f"expm: the matrices must have 32 bits or more, but they are {A.dtype}.")

    def one(A: Any) -> Any:
        return _expm(A, upper_triangular, max_squarings)

    return one(A) if A.ndim == 2 else jnp.vectorize(one, signature="(n,n)->(n,n)")(A)


def _expm(A: Any, upper_triangular: bool, most: int) -> Any:
    degree, bound = _DOUBLE if is_double(jnp.real(A)) else _SINGLE
    norm = jnp.max(jnp.sum(jnp.abs(lax.stop_gradient(A)), axis=-2), initial=0)
    count = jnp.clip(jnp.ceil(jnp.log2(jnp.clip(norm, bound) / bound)), 0)
    odd, even = _pade(A / (2.0 ** jnp.minimum(count, most)).astype(A.dtype), degree)
    numerator, denominator = even + odd, even - odd
    if upper_triangular:
        ratio = decompose.triangular_solve(denominator, numerator, left_side=True)
    else:
        ratio = jnp.linalg.solve(denominator, numerator)

    def step(x: Any, i: Any) -> Any:
        return cond(i < count, lambda x: product(x, x), lambda x: x, x), None

    ratio, _ = scan(step, ratio, jnp.arange(most, dtype=count.dtype))
    return jnp.where(count > most, np.nan, ratio)


def _pade(A: Any, degree: int) -> tuple[Any, Any]:
    """The odd and the even part of the numerator of the Padé approximant of the exponential."""
    terms = [
        math.factorial(2 * degree - k)
        * math.factorial(degree)
        / (math.factorial(2 * degree) * math.factorial(k) * math.factorial(degree - k))
        for k in range(degree + 1)
    ]
    powers = [jnp.eye(A.shape[-1], dtype=A.dtype), product(A, A)]
    for _ in range(2, min(degree // 2, 3) + 1):
        powers.append(product(powers[-1], powers[1]))

    def combined(chosen: list[float]) -> Any:
        low = sum(t * p for t, p in zip(chosen, powers, strict=False))
        high = chosen[len(powers) :]
        if not high:
            return low
        return low + product(powers[-1], sum(t * p for t, p in zip(high, powers[1:], strict=False)))

    return product(A, combined(terms[1::2])), combined(terms[0::2])


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """The derivative of ``expm`` at ``A`` in the direction ``E``.

    Args:
        A: matrices of shape ``[..., n, n]``.
        E: directions of the same shape.
        method: not used.
        compute_expm: return ``(expm(A), derivative)``; otherwise the derivative alone.

    >>> linalg.expm_frechet(jnp.zeros((1, 1)), jnp.ones((1, 1)), compute_expm=False)
    Array([[1.]], dtype=float32)
    """
    A, E = matrices("expm_frechet", A, E, square=True)
    if A.shape != E.shape:
        raise ValueError(
            f"expm_frechet: A and E must have the same shape, but they have {A.shape} and "
            f"{E.shape}."
        )
    value, derivative = jvp(expm, (A,), (E,))
    return (value, derivative) if compute_expm else derivative


# ------------------------------------------------------------------------ Sylvester


def _sylvester_factors(A: Any, B: Any) -> Any:
    return schur(A, "complex"), schur(B, "complex")


def _sylvester_solution(factors: Any, C: Any) -> Any:
    """X of ``A X + X B = C``, column by column, in the coordinates of both Schur forms."""
    (R, U), (S, V) = factors
    F = product(adjoint(U), C.astype(R.dtype), V)
    identity = jnp.eye(R.shape[-1], dtype=R.dtype)
    columns = jnp.arange(S.shape[-1])

    def step(Y: Any, j: Any) -> Any:
        known = jnp.where(columns < j, S[:, j], 0)
        right = F[:, j] - product(Y, known[:, None])[:, 0]
        y = decompose.triangular_solve(R + S[j, j] * identity, right[:, None], left_side=True)
        return jnp.where((columns == j)[None], y, Y), None

    Y, _ = scan(step, jnp.zeros_like(F), columns)
    return product(U, Y, adjoint(V))


@custom_jvp
def _sylvester(A: Any, B: Any, C: Any) -> Any:
    X = _sylvester_solution(_sylvester_factors(A, B), C)
    return X if jnp.iscomplexobj(C) else jnp.real(X)


@_sylvester.defjvp
def _sylvester_jvp(primals: Any, tangents: Any) -> Any:
    (A, B, C), (dA, dB, dC) = primals, tangents
    factors = _sylvester_factors(A, B)
    X = _sylvester_solution(factors, C)
    X = X if jnp.iscomplexobj(C) else jnp.real(X)
    change = _sylvester_solution(factors, dC - product(dA, X) - product(X, dB))
    return X, change if jnp.iscomplexobj(C) else jnp.real(change)


@jit
@partial(jnp.vectorize, signature="(m,m),(n,n),(m,n),()->(m,n)")
def _solved(A: Any, B: Any, C: Any, tol: Any) -> Any:
    X = _sylvester(A, B, C)
    sums = jnp.linalg.eigvals(A)[:, None] + jnp.linalg.eigvals(B)[None]
    return jnp.where(jnp.any(jnp.abs(lax.stop_gradient(sums)) < tol), np.nan, X)


def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Array:
    """X of Sylvester's equation ``A X + X B = C``.

    By the Schur forms of A and B (Bartels and Stewart, "Solution of the matrix equation
    AX + XB = C", 1972).

    Args:
        A: matrices of shape ``[..., m, m]``.
        B: matrices of shape ``[..., n, n]``.
        C: matrices of shape ``[..., m, n]``.
        method: ``"schur"`` or ``"eigen"``, which mean the same here.
        tol: the result is nan where the sum of an eigenvalue of A and one of B is smaller.

    Raises:
        ValueError: when the shapes do not fit together, or for another method.

    >>> linalg.solve_sylvester(jnp.eye(1), jnp.eye(1), jnp.full((1, 1), 4.0))
    Array([[2.]], dtype=float32)
    """
    require_one_of("solve_sylvester", "method", method, ("schur", "eigen"))
    A, B, C = matrices("solve_sylvester", A, B, C, square=True)
    if C.ndim < 2 or A.shape[-1] != C.shape[-2] or B.shape[-2:] != (C.shape[-1],) * 2:
        raise ValueError(
            f"solve_sylvester: A, B and C must have shapes (m, m), (n, n) and (m, n), but they "
            f"have {A.shape}, {B.shape} and {C.shape}."
        )
    return _solved(A, B, C, tol)


# ------------------------------------------------------------- square roots and others


@custom_jvp
def _sqrtm(A: Any) -> Any:
    T, Z = schur(A, "complex")
    n = T.shape[-1]
    roots = jnp.sqrt(jnp.diagonal(T))
    identity = jnp.eye(n, dtype=T.dtype)
    index = jnp.arange(n)

    def step(j: Any, U: Any) -> Any:
        # Column j above the diagonal solves a system with the root of what is left of it.
        before = index < j
        matrix = jnp.where(before[:, None] & before[None], U + roots[j] * identity, identity)
        right = jnp.where(before, T[:, j], 0)[:, None]
        nothing = jnp.all(right == 0)
        column = decompose.triangular_solve(matrix, right, left_side=True)[:, 0]
        column = jnp.where(nothing, 0, column)
        column = jnp.where(index == j, roots[j], column)
        return jnp.where((index == j)[None], column[:, None], U)

    U = fori_loop(0, n, step, jnp.zeros_like(T))
    return product(Z, U, adjoint(Z))


@_sqrtm.defjvp
def _sqrtm_jvp(primals: Any, tangents: Any) -> Any:
    (A,), (dA,) = primals, tangents
    X = _sqrtm(A)
    return X, _sylvester_solution(_sylvester_factors(X, X), dA)


_square_roots = jit(jnp.vectorize(_sqrtm, signature="(n,n)->(n,n)"))


def sqrtm(A: Any, blocksize: int = 1) -> Array:
    """The principal square root of a matrix, complex (Björck and Hammarling 1983).

    Args:
        A: a matrix of shape ``[n, n]``.
        blocksize: not used.

    >>> linalg.sqrtm(jnp.array([[4.0, 0.0], [0.0, 9.0]]))
    Array([[2.+0.j, 0.+0.j],
           [0.+0.j, 3.+0.j]], dtype=complex64)
    """
    (A,) = matrices("sqrtm", A, square=True)
    return _square_roots(A)


def funm(A: Any, func: Callable[[Array], Array], disp: bool = True) -> Any:
    """A function of a matrix, by Parlett's recurrence over its Schur form.

    Not precise where eigenvalues are nearly equal.

    Args:
        A: a matrix of shape ``[n, n]``.
        func: the function, of arrays of complex numbers.
        disp: return the matrix alone; otherwise with an estimate of its relative error.

    >>> linalg.funm(jnp.array([[1.0, 0.0], [0.0, 2.0]]), jnp.square)
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 4.+0.j]], dtype=complex64)
    """
    if not callable(func):
        raise TypeError(f"funm: func must be a function of arrays, but it is {func!r:.60}.")
    (A,) = matrices("funm", A, square=True)
    T, Z = schur(A, "complex")
    n = T.shape[-1]
    d = jnp.diagonal(T)
    tiny = float(np.finfo(T.dtype).tiny)
    gaps = d[:, None] - d[None]
    small = jnp.abs(gaps) < tiny
    least = jnp.min(jnp.where(jnp.eye(n, dtype=bool), np.inf, jnp.abs(gaps)), initial=np.inf)
    offsets = jnp.arange(n)[None] - jnp.arange(n)[:, None]

    def step(F: Any, p: Any) -> Any:
        # What commutes with T is known on a diagonal once it is on all below.
        known = product(F, T) - product(T, F)
        value = known / jnp.where(small, tiny, gaps)
        return jnp.where(offsets == p, jnp.where(known == 0, 0, value), F), None

    F, _ = scan(step, jnp.diag(func(d)), jnp.arange(1, n))
    out = product(Z, F, adjoint(Z))
    if disp:
        return out
    accuracy = epsilon(jnp.real(T))
    upper = jnp.triu(F, 1)
    size = jnp.max(jnp.sum(jnp.abs(jnp.triu(T, 1)), axis=0), initial=0)
    error = jnp.clip(accuracy * size / jnp.where(least == 0, tiny, least), accuracy, 1)
    return out, jnp.where(jnp.all(jnp.isfinite(jnp.abs(upper))), error, np.inf)
