"""Householder reflectors ``H = I - tau v v^H`` with ``v[0] = 1``, as LAPACK stores them.

R. Schreiber and C. Van Loan, "A storage-efficient WY representation for products of Householder
transformations", 1989: a product of them is ``I - V T V^H`` with an upper triangular T.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_lax_basic.extend import NumPyArray
from bindax_linalg.triangular_solve import solve_array


def reflector(x: NumPyArray) -> tuple[NumPyArray, NumPyArray, NumPyArray]:
    """For each vector ``(v, tau, beta)`` with ``H^H x = beta e_1``, and beta real."""
    head = x[:, 0]
    rest = np.linalg.norm(x[:, 1:], axis=1)
    size = np.hypot(np.abs(head), rest)
    trivial = (rest == 0) & (head.imag == 0)
    beta = np.where(trivial, head.real, np.where(head.real >= 0, -size, size))
    safe = np.where(beta == 0, 1, beta)
    tau = np.where(trivial, 0, (safe - head) / safe)
    scale = np.where(trivial, 1, head - beta)
    v = x / np.where(scale == 0, 1, scale)[:, None]
    v[:, 0] = 1
    v[trivial, 1:] = 0
    return v.astype(x.dtype), tau.astype(x.dtype), beta.astype(x.dtype)


def reflect_rows(a: NumPyArray, v: NumPyArray, tau: NumPyArray) -> None:
    """Replace ``a`` by ``(I - tau v v^H) a``."""
    a -= (tau[:, None] * v)[:, :, None] * (v.conj()[:, None, :] @ a)


def reflect_columns(a: NumPyArray, v: NumPyArray, tau: NumPyArray) -> None:
    """Replace ``a`` by ``a (I - tau v v^H)``."""
    a -= (a @ v[:, :, None]) * (tau[:, None] * v.conj())[:, None, :]


def product_array(a: NumPyArray, taus: NumPyArray) -> Any:
    """The leading columns of the product of the reflectors below the diagonal of ``a``."""
    rows, columns = a.shape[-2:]
    count = taus.shape[-1]
    v = np.tril(a[..., :count], -1) + np.eye(rows, count, dtype=a.dtype)
    vh = v.conj().swapaxes(-1, -2)
    matrix = np.eye(count, dtype=a.dtype) + taus[..., None] * np.triu(vh @ v, 1)
    right = taus[..., None] * vh[..., :columns]
    return np.eye(rows, columns, dtype=a.dtype) - v @ solve_array(matrix, right, left_side=True)
