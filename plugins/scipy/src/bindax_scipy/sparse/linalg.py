"""Iterative solvers of linear systems whose matrix is given by its products with vectors.

Right-hand sides may be nested containers of arrays. Derivatives are those of the solution: they
solve a system with the same matrix, or its transpose, by the same method.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_control_flow import custom_linear_solve, fori_loop, while_loop
from bindax_core.extend import tree_leaves
from bindax_numpy.extend import ravel_pytree
from bindax_scipy._operands import epsilon, promoted

__all__ = ["bicgstab", "cg", "gmres"]

Operator = Callable[[Any], Any]


def _dot(x: Any, y: Any) -> Any:
    return jnp.vdot(x, y, precision=lax.Precision.HIGHEST)


def _size(x: Any) -> Any:
    return jnp.sqrt(jnp.real(_dot(x, x)))


def _as_function(name: str, argument: str, A: Any) -> Operator:
    if callable(A):
        return A
    matrix = jnp.asarray(A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name}: {argument} must be a function or a square matrix, but it has shape "
            f"{matrix.shape}."
        )
    return lambda x: jnp.matmul(matrix, x, precision=lax.Precision.HIGHEST)


def _solved(
    name: str, A: Any, b: Any, x0: Any, maxiter: Any, M: Any, hermitian: bool, solve: Any
) -> tuple[Any, None]:
    """Run a solver on vectors, and give its result the structure of the right-hand side."""
    flat_b, unravel = ravel_pytree(b)
    (flat_b,) = promoted(name, flat_b)
    if x0 is None:
        flat_x0 = jnp.zeros_like(flat_b)
    else:
        shapes = [[jnp.shape(x) for x in tree_leaves(tree)] for tree in (x0, b)]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"{name}: x0 must have the structure and shapes of b, but its shapes are "
                f"{shapes[0]}, and those of b {shapes[1]}."
            )
        flat_x0 = ravel_pytree(x0)[0].astype(flat_b.dtype)
    most = 10 * flat_b.size if maxiter is None else operator.index(maxiter)
    function = _as_function(name, "A", A)
    preconditioner = (lambda x: x) if M is None else _as_function(name, "M", M)

    def on_vectors(f: Operator) -> Operator:
        return lambda v: ravel_pytree(f(unravel(v)))[0].astype(flat_b.dtype)

    precondition = on_vectors(preconditioner)

    def run(matvec: Operator, right: Any) -> Any:
        return solve(matvec, right, flat_x0, most, precondition)

    def run_transposed(vecmat: Operator, right: Any) -> Any:
        # What is transposed is the conjugate where it is Hermitian, the preconditioner too.
        turned = _conjugated(precondition) if hermitian else precondition
        return solve(vecmat, right, flat_x0, most, turned)

    x = custom_linear_solve(
        on_vectors(function),
        flat_b,
        run,
        transpose_solve=run_transposed,
        symmetric=hermitian and not jnp.iscomplexobj(flat_b),
    )
    return unravel(x), None


def _conjugated(f: Operator) -> Operator:
    return lambda v: jnp.conj(f(jnp.conj(v)))


def _bound(b: Any, tol: Any, atol: Any) -> Any:
    """The size of the residual at which iterations end."""
    return jnp.maximum(tol * _size(b), atol)


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve ``A x = b`` with a Hermitian positive definite matrix, by conjugate gradients.

    Args:
        A: the matrix, or the function that multiplies by it.
        b: the right-hand side, an array or nested containers of arrays.
        x0: where to begin; 0 by default.
        tol: the residual at which to end, relative to that of ``x = 0``.
        atol: the residual at which to end, absolutely.
        maxiter: how many steps are allowed; ten for each element of ``b`` by default.
        M: a preconditioner, about the inverse of ``A``, as a matrix or function.

    Returns:
        The solution and None.

    >>> sparse_linalg.cg(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 8.0]))[0]
    Array([1., 2.], dtype=float32)
    """

    def solve(matvec: Operator, b: Any, x0: Any, most: int, precondition: Operator) -> Any:
        bound = _bound(b, tol, atol)

        def unfinished(state: Any) -> Any:
            _, r, _, _, k = state
            return (_size(r) > bound) & (k < most)

        def step(state: Any) -> Any:
            x, r, p, gamma, k = state
            q = matvec(p)
            alpha = (gamma / jnp.real(_dot(p, q))).astype(x.dtype)
            x, r = x + alpha * p, r - alpha * q
            z = precondition(r)
            fresh = jnp.real(_dot(r, z))
            return x, r, z + (fresh / gamma).astype(x.dtype) * p, fresh, k + 1

        r = b - matvec(x0)
        z = precondition(r)
        start = x0, r, z, jnp.real(_dot(r, z)), jnp.zeros((), np.int32)
        return while_loop(unfinished, step, start)[0]

    return _solved("cg", A, b, x0, maxiter, M, True, solve)


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve ``A x = b`` by stabilized biconjugate gradients (van der Vorst 1992).

    Args:
        A: the matrix, or the function that multiplies by it.
        b: the right-hand side, an array or nested containers of arrays.
        x0: where to begin; 0 by default.
        tol: the residual at which to end, relative to that of ``x = 0``.
        atol: the residual at which to end, absolutely.
        maxiter: how many steps are allowed; ten for each element of ``b`` by default.
        M: a preconditioner, about the inverse of ``A``, as a matrix or function.

    Returns:
        The solution and None.

    >>> sparse_linalg.bicgstab(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 8.0]))[0]
    Array([1., 2.], dtype=float32)
    """

    def solve(matvec: Operator, b: Any, x0: Any, most: int, precondition: Operator) -> Any:
        bound = _bound(b, tol, atol)

        def unfinished(state: Any) -> Any:
            _, r, _, _, k, broken = state
            return (_size(r) > bound) & (k < most) & ~broken

        r = b - matvec(x0)
        step = _biconjugate_step(matvec, precondition, r, bound)
        one = jnp.ones((), b.dtype)
        zero = jnp.zeros_like(b)
        start = x0, r, zero, (one, one, one, zero), jnp.zeros((), np.int32), jnp.zeros((), bool)
        return while_loop(unfinished, step, start)[0]

    return _solved("bicgstab", A, b, x0, maxiter, M, False, solve)


def _biconjugate_step(
    matvec: Operator, precondition: Operator, shadow: Any, bound: Any
) -> Callable[[Any], Any]:
    """The step of ``bicgstab``, with the first residual as its shadow."""

    def step(state: Any) -> Any:
        x, r, p, (rho, alpha, omega, q), k, _ = state
        fresh = _dot(shadow, r)
        p = r + fresh / rho * (alpha / omega) * (p - omega * q)
        p_hat = precondition(p)
        q = matvec(p_hat)
        alpha = fresh / _dot(shadow, q)
        s = r - alpha * q
        early = _size(s) <= bound
        s_hat = precondition(s)
        t = matvec(s_hat)
        omega = jnp.where(early, 0, _dot(t, s) / _dot(t, t))
        x = x + alpha * p_hat + jnp.where(early, 0, omega) * s_hat
        r = jnp.where(early, s, s - omega * t)
        broken = ~early & ((omega == 0) | (alpha == 0)) | (fresh == 0)
        scalars = fresh, alpha, jnp.where(early, 1, omega), q
        return x, r, p, scalars, k + 1, broken

    return step


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, None]:
    """Solve ``A x = b`` by minimal residuals in Krylov spaces (Saad and Schultz 1986).

    Args:
        A: the matrix, or the function that multiplies by it.
        b: the right-hand side, an array or nested containers of arrays.
        x0: where to begin; 0 by default.
        tol: the residual at which to end, relative to that of ``x = 0``.
        atol: the residual at which to end, absolutely.
        restart: the dimension of the spaces, after which the iteration starts anew.
        maxiter: how many times it may start; ten for each element of ``b`` by default.
        M: a preconditioner, about the inverse of ``A``, as a matrix or function.
        solve_method: ``"batched"`` or ``"incremental"``, which mean the same here.

    Returns:
        The solution and None.

    Raises:
        ValueError: for another ``solve_method``.

    >>> a = jnp.array([[2.0, 1.0], [0.0, 4.0]])
    >>> jnp.round(sparse_linalg.gmres(a, jnp.array([3.0, 4.0]))[0], 3)
    Array([1., 1.], dtype=float32)
    """
    _check_method(solve_method)

    def solve(matvec: Operator, b: Any, x0: Any, most: int, precondition: Operator) -> Any:
        size = min(operator.index(restart), b.size)
        bound = _bound(precondition(b), tol, atol)

        def residual(x: Any) -> Any:
            return precondition(b - matvec(x))

        def unfinished(state: Any) -> Any:
            _, r, k = state
            return (_size(r) > bound) & (k < most)

        def step(state: Any) -> Any:
            x, r, k = state
            x = x + _krylov_correction(lambda v: precondition(matvec(v)), r, size)
            return x, residual(x), k + 1

        start = x0, residual(x0), jnp.zeros((), np.int32)
        return while_loop(unfinished, step, start)[0]

    return _solved("gmres", A, b, x0, maxiter, M, False, solve)


def _check_method(method: str) -> None:
    if method not in ("batched", "incremental"):
        raise ValueError(
            f"gmres: solve_method must be 'batched' or 'incremental', but it is {method!r:.60}."
        )


def _krylov_correction(matvec: Operator, r: Any, size: int) -> Any:
    """The vector of a Krylov space whose image is nearest to a residual."""
    length = _size(r)
    safe = jnp.where(length == 0, 1, length)
    basis = jnp.zeros((size + 1, r.size), r.dtype).at[0].set(r / safe.astype(r.dtype))
    # The size below which a new direction is nothing but rounding.
    negligible = epsilon(length) * math.sqrt(r.size)

    def step(k: Any, state: Any) -> Any:
        basis, images = state
        w = matvec(basis[k])
        scale = _size(w)
        column = jnp.zeros(size + 1, r.dtype)
        for _ in range(2):
            part = jnp.matmul(jnp.conj(basis), w, precision=lax.Precision.HIGHEST)
            w = w - jnp.matmul(part, basis, precision=lax.Precision.HIGHEST)
            column = column + part
        rest = _size(w)
        rest = jnp.where(rest > negligible * scale, rest, 0)
        unit = w / jnp.where(rest == 0, 1, rest).astype(r.dtype)
        basis = basis.at[k + 1].set(jnp.where(rest == 0, 0, unit))
        column = column.at[k + 1].add(rest.astype(r.dtype))
        return basis, images.at[:, k].set(column)

    images = jnp.zeros((size + 1, size), r.dtype)
    basis, images = fori_loop(0, size, step, (basis, images))
    target = jnp.zeros(size + 1, r.dtype).at[0].set(length.astype(r.dtype))
    y = jnp.linalg.lstsq(images, target)[0]
    return jnp.matmul(y, basis[:size], precision=lax.Precision.HIGHEST)
