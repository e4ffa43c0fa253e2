"""Arguments of functions of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_linalg as lax_linalg
import bindax_numpy as jnp
from bindax_scipy._operands import one_dtype


def matrices(name: str, *operands: Any, square: bool = False) -> tuple[Any, ...]:
    """Operands as arrays of one float or complex dtype, the first of them matrices."""
    made = one_dtype(name, *(jnp.asarray(x) for x in operands))
    a = made[0]
    if a.ndim < 2 or (square and a.shape[-1] != a.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(
            f"{name}: the first argument must be {kind}, the last two axes of an array, but it has "
            f"shape {a.shape}."
        )
    return made


def require_one_of(name: str, argument: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise unless an argument has one of a few values."""
    if value not in allowed:
        raise ValueError(f"{name}: {argument} must be one of {allowed}, but it is {value!r:.60}.")


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def product(*factors: Any) -> Any:
    """The product of matrices in full precision."""
    out = factors[0]
    for x in factors[1:]:
        out = jnp.matmul(out, x, precision=lax.Precision.HIGHEST)
    return out


def one_batch(a: Any, b: Any, core: int) -> tuple[Any, Any]:
    """Two arrays with the same leading axes, which broadcast; ``b`` has so many axes besides."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[: b.ndim - core])
    a = jnp.broadcast_to(a, (*batch, *a.shape[-2:]))
    return a, jnp.broadcast_to(b, (*batch, *b.shape[b.ndim - core :]))


def with_columns(name: str, a: Any, b: Any) -> tuple[Any, Any, bool]:
    """A matrix and right-hand sides of the same leading axes, and if these were vectors."""
    vectors = b.ndim == 1 or (b.ndim + 1 == a.ndim and a.shape[-1] == b.shape[-1])
    if b.ndim == 0 or b.shape[-1 if vectors else -2] != a.shape[-1]:
        raise ValueError(
            f"{name}: the right-hand side of shape {b.shape} does not fit to matrices of shape "
            f"{a.shape}."
        )
    a, b = one_batch(a, b[..., None] if vectors else b, 2)
    return a, b, vectors


def solved(
    name: str, a: Any, b: Any, *, lower: bool, transpose: bool, conjugate: bool, unit: bool = False
) -> Any:
    """The solutions of systems with triangular matrices, for vectors or columns ``b``."""
    a, b, vectors = with_columns(name, a, b)
    out = lax_linalg.triangular_solve(
        a,
        b,
        left_side=True,
        lower=lower,
        transpose_a=transpose,
        conjugate_a=conjugate,
        unit_diagonal=unit,
    )
    return out[..., 0] if vectors else out
