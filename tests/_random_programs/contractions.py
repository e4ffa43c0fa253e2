"""Steps that multiply matrices, convolve, transform, and solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from .operands import COMPLEX, FLOATS, Operands, Step, cast, fit

PADDING = ("SAME", "VALID")


def _square(p: Operands, dtypes: tuple[str, ...] = (*FLOATS[:2], *COMPLEX)) -> Any:
    """A matrix of a type that LAPACK knows, or several, with elements below a third."""
    n = p.number(1, 3)
    shape = p.choice([(n, n), (n, n), (2, n, n)])
    return fit(p.ops, p.ops.tanh(p.wide(dtypes=dtypes) * 0.3) * 0.3, shape)


def _twice_identity(x: Any) -> Any:
    return (np.eye(x.shape[-1]) * 2.0).astype(x.dtype)


def _graded(x: Any) -> Any:
    """A diagonal matrix whose elements differ: the spectrum of `x + graded` has gaps."""
    return np.diag(2.0 * np.arange(1.0, x.shape[-1] + 1)).astype(x.dtype)


def _adjoint(p: Operands, x: Any) -> Any:
    axes = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return p.ops.transpose(p.ops.conj(x) if str(x.dtype) in COMPLEX else x, axes)


def matrix_product(p: Operands) -> Any:
    x = p.inexact(rank=1)
    y = cast(p.ops, p.inexact(), x.dtype)
    y = fit(p.ops, y, p.choice([(x.shape[-1],), (x.shape[-1], 2), (x.shape[-1], 0)]))
    return x @ y


def dot_general(p: Operands) -> Any:
    """Contract some axes, keep some as batches, accumulate in a type."""
    x = p.pick((*FLOATS, *COMPLEX, "int32", "int8"), rank=1)
    order = p.permutation(x.ndim)
    batch = order[: p.number(0, 1)]
    contract = order[len(batch) : p.number(len(batch), x.ndim)]
    y = p.like(x)
    names = {"int8": "int32", "bfloat16": "float32", "float16": "float32"}
    name = names.get(str(x.dtype))
    preferred = np.dtype(name) if name and p.flag() else None
    # Both operands have the same axes, in another order for the second.
    turned = p.permutation(x.ndim)
    y = p.ops.transpose(y, turned)
    numbers = (
        (contract, [turned.index(axis) for axis in contract]),
        (batch, [turned.index(axis) for axis in batch]),
    )
    return p.ops.dot_general(x, y, numbers, preferred_element_type=preferred)


def _image(p: Operands, features: int = 1, batches: int = 1) -> tuple[Any, Any, int]:
    """Small images of two channels, a kernel for as many groups, and how many axes an image has."""
    spatial = p.number(1, 2)
    x = p.pick((*FLOATS, *COMPLEX))
    image = fit(p.ops, x, (p.choice([batches, 2]), 2, *([3] * spatial)))
    kernel = fit(p.ops, p.like(x) * 0.5, (2, 2 // features, *([2] * spatial)))
    return image, kernel, spatial


def convolution(p: Operands) -> Any:
    """With strides, padding, dilation of either operand, and groups of features or of images."""
    groups = p.choice([(1, 1), (2, 1), (1, 2)])
    image, kernel, n = _image(p, *groups)
    dilated = p.flag()
    return p.ops.conv_general_dilated(
        image,
        kernel,
        [p.number(1, 2) for _ in range(n)],
        [(p.number(-1, 1), p.number(0, 2)) for _ in range(n)] if dilated else p.choice(PADDING),
        lhs_dilation=[2 if dilated else 1] * n,
        rhs_dilation=[p.number(1, 2) for _ in range(n)],
        feature_group_count=groups[0],
        batch_group_count=groups[1],
    )


def transposed_convolution(p: Operands) -> Any:
    image, kernel, n = _image(p)
    letters = "HW"[:n]
    numbers = (f"NC{letters}", f"OI{letters}", f"NC{letters}")
    return p.ops.conv_transpose(image, kernel, [2] * n, "SAME", dimension_numbers=numbers)


def patches(p: Operands) -> Any:
    image, _, n = _image(p)
    return p.ops.conv_general_dilated_patches(image, [2] * n, [1] * n, "VALID")


def fourier(p: Operands) -> Any:
    """A transform of one or two axes, complex or real."""
    kind = p.choice(["FFT", "IFFT", "RFFT", "IRFFT"])
    x = p.wide(dtypes=FLOATS[:2] if kind == "RFFT" else COMPLEX, rank=p.number(1, 2))
    rank = p.number(1, min(2, x.ndim))
    lengths = list(x.shape[x.ndim - rank :])
    if kind == "IRFFT":
        lengths[-1] = max(2 * (lengths[-1] - 1), 1) + (p.number(0, 1) if lengths[-1] > 1 else 0)
    return p.ops.fft(x, kind, tuple(lengths))


def cholesky(p: Operands) -> Any:
    x = _square(p)
    return p.ops.linalg.cholesky(x @ _adjoint(p, x) + _twice_identity(x))


def triangular(p: Operands) -> Any:
    x = _square(p)
    a = x + _twice_identity(x)
    b = fit(p.ops, p.like(a), (*a.shape[:-1], 2))
    left = p.flag()
    if not left:
        b = p.ops.transpose(b, (*range(b.ndim - 2), b.ndim - 1, b.ndim - 2))
    return p.ops.linalg.triangular_solve(
        a,
        b,
        left_side=left,
        lower=p.flag(),
        transpose_a=p.flag(),
        conjugate_a=str(a.dtype) in COMPLEX and p.flag(),
        unit_diagonal=p.flag(),
    )


def eigenvalues(p: Operands) -> Any:
    """Of a Hermitian matrix, and the projection on the first eigenvector."""
    x = _square(p)
    vectors, values = p.ops.linalg.eigh((x + _adjoint(p, x)) * 0.5 + _graded(x))
    first = vectors[..., :1]
    return values * 0.3, first @ _adjoint(p, first)


def singular_values(p: Operands) -> Any:
    x = _square(p)
    x = x + _graded(x)
    if p.flag():
        return p.ops.linalg.svd(x, compute_uv=False) * 0.3
    u, s, vh = p.ops.linalg.svd(x, full_matrices=False)
    return (u[..., :1] * cast(p.ops, s[..., None, :1], u.dtype)) @ vh[..., :1, :] * 0.3


def orthogonal(p: Operands) -> Any:
    x = _square(p)
    q, r = p.ops.linalg.qr(x + _twice_identity(x), full_matrices=p.flag())
    return q, r * 0.4


def lower_upper(p: Operands) -> Any:
    x = _square(p)
    packed, pivots, order = p.ops.linalg.lu(x + _twice_identity(x))
    again = p.ops.linalg.lu_pivots_to_permutation(pivots, x.shape[-1])
    return packed * 0.4, order + again


def tridiagonal_solve(p: Operands) -> Any:
    x = p.ops.tanh(p.wide(dtypes=FLOATS[:2], rank=1) * 0.3)
    b = fit(p.ops, p.like(x), (*x.shape, 2))
    # The first of the lower diagonal and the last of the upper one do not count; they are zero.
    n = x.shape[-1]
    inner = np.arange(n)
    lower = x * (inner > 0).astype(x.dtype)
    upper = p.like(x) * 0.2 * (inner < n - 1).astype(x.dtype)
    return p.ops.linalg.tridiagonal_solve(lower, x + 3.0, upper, b)


def general_eigenvalues(p: Operands) -> Any:
    """Of a matrix that is not symmetric; sums of powers do not depend on their order."""
    x = _square(p)
    values = p.ops.linalg.eig(
        x + _graded(x),
        compute_left_eigenvectors=False,
        compute_right_eigenvectors=False,
        enable_eigvec_derivs=True,  # which second derivatives take
    )[0]
    return (values * values).sum(-1) * 0.05


def condensed(p: Operands) -> Any:
    """Forms that have no derivative, through what they leave unchanged."""
    x = p.fixed(_square(p, FLOATS[:2]))
    name = p.choice(["schur", "hessenberg", "tridiagonal", "householder"])
    linalg = p.ops.linalg
    if name == "schur":
        form, basis = linalg.schur(x + _graded(x))
        return basis @ form @ _adjoint(p, basis) * 0.3
    if name == "tridiagonal":
        diagonal = linalg.tridiagonal(x + _adjoint(p, x) + _graded(x))[1]
        return diagonal.sum(-1) * 0.2
    packed, taus = linalg.hessenberg(x)
    if name == "hessenberg":
        return packed
    return linalg.householder_product(packed[..., 1:, :-1], taus)


PRODUCTS: dict[str, Step] = {
    "matmul": matrix_product,
    "dot_general": dot_general,
    "convolution": convolution,
    "transposed convolution": transposed_convolution,
    "patches": patches,
}
FOURIER: dict[str, Step] = {"fft": fourier}
LAPACK: dict[str, Step] = {
    "cholesky": cholesky,
    "triangular_solve": triangular,
    "eigh": eigenvalues,
    "svd": singular_values,
    "qr": orthogonal,
    "lu": lower_upper,
    "tridiagonal_solve": tridiagonal_solve,
    "eig": general_eigenvalues,
    "condensed": condensed,
}
