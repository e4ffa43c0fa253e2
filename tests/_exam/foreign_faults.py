"""Functions around foreign kernels, with mistakes in what they say about them."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from _exam.faults import Fault
from bindax.ffi import ffi_call, register_ffi_target

X = np.array([0.3, -1.2, 0.8])
Y = np.array([1.5, 0.4, -0.7])
MATRIX = np.array([[0.2, -0.5, 1.1], [0.9, 0.3, -0.4]])

register_ffi_target("exam.exp", numpy=lambda x: np.exp(x))
register_ffi_target("exam.sin", numpy=lambda x: np.sin(x))
register_ffi_target("exam.axpy", numpy=lambda x, y, *, a: a * x + y)
register_ffi_target("exam.sum", numpy=lambda x: np.sum(x, axis=-1))
register_ffi_target("exam.sorted", numpy=lambda x: np.sort(x, axis=0))
register_ffi_target("exam.halves", numpy=lambda x: x[..., : x.shape[-1] // 2])
register_ffi_target("exam.logdet", numpy=lambda x: np.linalg.slogdet(x)[1])


def like(x: Any) -> Any:
    return bindax.ShapeDtypeStruct(x.shape, x.dtype)


@bindax.custom_vjp
def exp(x: Any) -> Any:
    return ffi_call("exam.exp", like(x), vmap_method="expand_dims")(x)


def exp_fwd(x: Any) -> Any:
    y = exp(x)
    return y, y


def exp_bwd(y: Any, ct: Any) -> Any:
    return (ct * bnp.exp(y),)  # wrong: the residual is the result already


exp.defvjp(exp_fwd, exp_bwd)


@bindax.custom_jvp
def sin(x: Any) -> Any:
    return ffi_call("exam.sin", like(x), vmap_method="expand_dims")(x)


@sin.defjvp
def sin_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return sin(x), -bnp.cos(x) * t  # wrong: the sign


@bindax.custom_vjp
def axpy(x: Any, y: Any) -> Any:
    return ffi_call("exam.axpy", like(x), vmap_method="broadcast_all")(x, y, a=2.5)


def axpy_fwd(x: Any, y: Any) -> Any:
    return axpy(x, y), None


def axpy_bwd(_: Any, ct: Any) -> Any:
    return ct, ct  # wrong: the factor a of x


axpy.defvjp(axpy_fwd, axpy_bwd)


def total(x: Any) -> Any:
    return ffi_call("exam.sum", bindax.ShapeDtypeStruct((), np.float32))(x)  # wrong: the dtype


def first_half(x: Any) -> Any:
    kind = bindax.ShapeDtypeStruct((2,), x.dtype)  # wrong: half of three, rounded down, is one
    return ffi_call("exam.halves", kind, vmap_method="expand_dims")(x)


def ordered(x: Any) -> Any:
    how = "broadcast_all"  # wrong: axis 0 is the batch then
    return ffi_call("exam.sorted", like(x), vmap_method=how)(x)


@bindax.custom_jvp
def logdet(x: Any) -> Any:
    kind = bindax.ShapeDtypeStruct((), x.dtype)
    return ffi_call("exam.logdet", kind, vmap_method="expand_dims")(x)


@logdet.defjvp
def logdet_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return logdet(x), bnp.sum(bnp.linalg.inv(x) * t)  # wrong: the transpose of the inverse


@bindax.custom_vjp
def row_sums(x: Any) -> Any:
    kind = bindax.ShapeDtypeStruct(x.shape[:-1], x.dtype)
    return ffi_call("exam.sum", kind, vmap_method="expand_dims")(x)


def row_sums_fwd(x: Any) -> Any:
    return row_sums(x), x


def row_sums_bwd(x: Any, ct: Any) -> Any:
    return (bnp.broadcast_to(ct, x.shape),)  # wrong: along the last axis, so ct[:, None]


row_sums.defvjp(row_sums_fwd, row_sums_bwd)


def numbered_kernel(x: Any) -> Any:
    numbered_kernel.calls += 1  # type: ignore[attr-defined]
    return x + numbered_kernel.calls  # type: ignore[attr-defined]  # wrong: counts its calls


numbered_kernel.calls = 0  # type: ignore[attr-defined]
register_ffi_target("exam.numbered", numpy=numbered_kernel)


def numbered(x: Any) -> Any:
    return ffi_call("exam.numbered", like(x), vmap_method="expand_dims")(x)


def in_place_kernel(x: Any) -> Any:
    x *= 2.0  # wrong: the operand is the program's
    return x


register_ffi_target("exam.doubled", numpy=in_place_kernel)


def doubled(x: Any) -> Any:
    y = ffi_call("exam.doubled", like(x), vmap_method="expand_dims")(x)
    return y - x


FAULTS = [
    Fault(exp, (X,), exp_bwd),
    Fault(sin, (X,), sin_jvp),
    Fault(axpy, (X, Y), axpy_bwd),
    Fault(total, (X,), total),
    Fault(first_half, (X,), first_half),
    Fault(ordered, (X,), ordered),
    Fault(logdet, (np.array([[1.2, 0.3, -0.2], [0.1, 0.9, 0.4], [0.5, -0.1, 1.4]]),), logdet_jvp),
    Fault(row_sums, (np.array([[0.2, -0.5], [0.9, 0.3]]),), row_sums_bwd),
    Fault(numbered, (X,), numbered_kernel),
    Fault(doubled, (X,), in_place_kernel),
]
