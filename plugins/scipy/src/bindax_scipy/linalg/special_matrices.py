"""Matrices with a structure that a few numbers describe."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic.extend import static_int
from bindax_numpy.extend import require_values
from bindax_scipy._operands import promoted
from bindax_scipy.linalg._matrices import require_one_of


def _vectors(name: str, *operands: Any) -> tuple[Any, ...]:
    require_values(name, *operands)
    return tuple(jnp.atleast_1d(x) for x in operands)


_LARGEST = 2**16


def _size(name: str, n: Any) -> int:
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"{name}: n must be a positive integer, but it is {n}.")
    return _not_too_large(name, n)


def _not_too_large(name: str, n: Any) -> int:
    """Refuse at once what would fill all memory, or take for ever."""
    n = static_int(name, "n", n)
    if n > _LARGEST:
        raise ValueError(f"{name}: n must be at most {_LARGEST}, but it is {n}.")
    return n


def _exact(values: list[list[Any]]) -> Array:
    """A square matrix that is known exactly, rounded once to the default dtype."""
    rounded = np.array([[float(x) for x in row] for row in values])
    return jnp.array(rounded.reshape((len(values),) * 2), jnp.float_)


def block_diag(*arrs: Any) -> Array:
    """The matrix that has matrices on its diagonal, one after the other, and 0 elsewhere.

    Args:
        arrs: arrays of up to two axes; a vector is a row.

    Raises:
        ValueError: for arrays of more axes.

    >>> linalg.block_diag(jnp.array([[1, 2]]), 3)
    Array([[1, 2, 0],
           [0, 0, 3]], dtype=int32)
    """
    if not arrs:
        return jnp.zeros((1, 0))
    require_values("block_diag", *arrs)
    dtype = jnp.result_type(*arrs)
    blocks = []
    for i, x in enumerate(arrs):
        if jnp.ndim(x) > 2:
            raise ValueError(
                f"block_diag: arrays must have two axes at most, but argument {i} has shape "
                f"{jnp.shape(x)}."
            )
        blocks.append(jnp.atleast_2d(x).astype(dtype))
    width = sum(x.shape[1] for x in blocks)
    rows, start = [], 0
    for x in blocks:
        rows.append(jnp.pad(x, ((0, 0), (start, width - start - x.shape[1]))))
        start += x.shape[1]
    return jnp.concatenate(rows)


def toeplitz(c: Any, r: Any = None) -> Array:
    """The matrix with constant diagonals.

    Args:
        c: the first column, of shape ``[..., m]``.
        r: the first row, of shape ``[..., n]``, whose first element is not used; by default the
            conjugate of ``c``.

    >>> linalg.toeplitz(jnp.array([1, 2]), jnp.array([9, 5]))
    Array([[1, 5],
           [2, 1]], dtype=int32)
    """
    c, r = _vectors("toeplitz", c, jnp.conj(c) if r is None else r)
    c, r = _joinable(c, r)
    m, n = c.shape[-1], r.shape[-1]
    every = jnp.concatenate([jnp.flip(c, -1), r[..., 1:]], axis=-1)
    places = np.arange(n) - np.arange(m)[:, None] + m - 1
    return jnp.take(every, places, axis=-1) if m and n else jnp.zeros((*c.shape, n), every.dtype)


def _joinable(c: Any, r: Any) -> tuple[Any, Any]:
    """Both with the same leading axes and dtype."""
    batch = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    dtype = jnp.result_type(c, r)
    first, second = (jnp.broadcast_to(x, (*batch, x.shape[-1])).astype(dtype) for x in (c, r))
    return first, second


def hankel(c: Any, r: Any = None) -> Array:
    """The matrix with constant antidiagonals.

    Args:
        c: the first column, of shape ``[..., m]``.
        r: the last row, of shape ``[..., n]``, whose first element is not used; 0 by default.

    >>> linalg.hankel(jnp.array([1, 2]))
    Array([[1, 2],
           [2, 0]], dtype=int32)
    """
    require_values("hankel", c)
    for name, x in (("c", c), ("r", r)):
        if x is not None and jnp.ndim(x) == 0:
            raise ValueError(f"hankel: {name} must have an axis, but it is a scalar.")
    c, r = _joinable(jnp.asarray(c), jnp.zeros_like(c) if r is None else jnp.asarray(r))
    m, n = c.shape[-1], r.shape[-1]
    every = jnp.concatenate([c, r[..., 1:]], axis=-1)
    places = np.arange(n) + np.arange(m)[:, None]
    return jnp.take(every, places, axis=-1) if m and n else jnp.zeros((*c.shape, n), every.dtype)


def circulant(c: Any) -> Array:
    """The matrix whose columns are rotations of a vector.

    >>> linalg.circulant(jnp.array([1, 2]))
    Array([[1, 2],
           [2, 1]], dtype=int32)
    """
    (c,) = _vectors("circulant", c)
    n = c.shape[-1]
    return jnp.take(c, (np.arange(n)[:, None] - np.arange(n)) % max(n, 1), axis=-1)


def leslie(f: Any, s: Any) -> Array:
    """Leslie's matrix of a population: births in the first row, survival below the diagonal.

    Args:
        f: births of each age, of shape ``[..., n]``.
        s: survival from each age to the next, of shape ``[..., n - 1]``.

    Raises:
        ValueError: when the sizes do not fit together.

    >>> linalg.leslie(jnp.array([1.0, 2.0]), jnp.array([0.5]))
    Array([[1. , 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    f, s = _vectors("leslie", f, s)
    n = f.shape[-1]
    if n < 2 or s.shape[-1] != n - 1:
        raise ValueError(
            f"leslie: f must have two elements or more, and s one less, but their shapes are "
            f"{f.shape} and {s.shape}."
        )
    f, s = _joinable(f, s)
    eye = jnp.broadcast_to(jnp.eye(n - 1, n, dtype=s.dtype), (*s.shape, n))
    return jnp.concatenate([jnp.expand_dims(f, -2), jnp.expand_dims(s, -1) * eye], axis=-2)


def companion(a: Any) -> Array:
    """The matrix whose eigenvalues are the roots of a polynomial.

    Args:
        a: the coefficients, the highest first, of shape ``[..., n]``; two or more.

    >>> linalg.companion(jnp.array([1.0, -3.0, 2.0]))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    (a,) = promoted("companion", a)
    a = jnp.atleast_1d(a)
    n = a.shape[-1] - 1
    if n < 1:
        raise ValueError(
            f"companion: a must have two elements or more, but its shape is {a.shape}."
        )
    first = jnp.expand_dims(-a[..., 1:] / a[..., :1], -2)
    below = jnp.broadcast_to(jnp.eye(n - 1, n, dtype=a.dtype), (*a.shape[:-1], n - 1, n))
    return jnp.concatenate([first, below], axis=-2)


def fiedler(a: Any) -> Array:
    """The symmetric matrix of the absolute differences of numbers.

    >>> linalg.fiedler(jnp.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    (a,) = _vectors("fiedler", a)
    return jnp.abs(jnp.expand_dims(a, -1) - jnp.expand_dims(a, -2))


def fiedler_companion(a: Any) -> Array:
    """A matrix of five diagonals whose eigenvalues are the roots of a polynomial.

    Args:
        a: the coefficients, the highest first, of shape ``[..., n]``.

    >>> linalg.fiedler_companion(jnp.array([1.0, -3.0, 2.0]))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    (a,) = promoted("fiedler_companion", a)
    a = jnp.atleast_1d(a)
    n = a.shape[-1] - 1
    if n < 0:
        raise ValueError(f"fiedler_companion: a must have an element, but its shape is {a.shape}.")
    if n == 0:
        return jnp.zeros((*a.shape[:-1], 0, 0), a.dtype)
    # Coefficients stand beside the diagonal in even rows, ones two places from it.
    place, ones = np.zeros((n, n), int), np.zeros((n, n))
    place[0, 0] = 1
    if n > 1:
        ones[1, 0] = 1
    for i in range(n):
        if i % 2 == 0:
            if i + 1 < n:
                place[i, i + 1] = i + 2
            if i + 2 < n:
                ones[i, i + 2] = 1
            if i >= 2:
                place[i, i - 1] = i + 1
        elif i >= 3:
            ones[i, i - 2] = 1
    chosen = jnp.take(-a / a[..., :1], place, axis=-1)
    return jnp.where(place > 0, chosen, jnp.array(ones, a.dtype))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """The matrix by which a vector of size ``n`` is multiplied to convolve it with ``a``.

    Args:
        a: the other factor of the convolution, of shape ``[..., m]``.
        n: the number of columns.
        mode: ``"full"``, ``"valid"`` or ``"same"``, as for ``convolve``.

    >>> linalg.convolution_matrix(jnp.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    n = _size("convolution_matrix", n)
    require_one_of("convolution_matrix", "mode", mode, ("full", "valid", "same"))
    require_values("convolution_matrix", a)
    a = jnp.asarray(a)
    if a.ndim == 0 or a.shape[-1] == 0:
        raise ValueError(
            f"convolution_matrix: a must have an axis with an element, but its shape is {a.shape}."
        )
    m = a.shape[-1]
    trim = min(n, m) - 1
    before = {"full": 0, "same": trim // 2, "valid": trim}[mode]
    after = {"full": 0, "same": trim - trim // 2, "valid": trim}[mode]
    shift = np.arange(before, m + n - 1 - after)[:, None] - np.arange(n)
    inside = (shift >= 0) & (shift < m)
    return jnp.where(inside, jnp.take(a, np.where(inside, shift, 0), axis=-1), 0)


def hilbert(n: int) -> Array:
    """Hilbert's matrix ``1 / (i + j + 1)``.

    >>> linalg.hilbert(2).round(4)
    Array([[1.    , 0.5   ],
           [0.5   , 0.3333]], dtype=float32)
    """
    n = _not_too_large("hilbert", n)
    return _exact([[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)])


def invhilbert(n: int) -> Array:
    """The inverse of Hilbert's matrix, integers, computed exactly and then rounded.

    >>> linalg.invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """
    n, comb = _not_too_large("invhilbert", n), math.comb

    def element(i: int, j: int) -> int:
        size = (i + j + 1) * comb(n + i, n - j - 1) * comb(n + j, n - i - 1) * comb(i + j, i) ** 2
        return size if (i + j) % 2 == 0 else -size

    return _exact([[element(i, j) for j in range(n)] for i in range(n)])


_KINDS = ("symmetric", "lower", "upper")


def pascal(n: int, kind: str | None = None) -> Array:
    """The matrix of binomial coefficients.

    Args:
        n: the size.
        kind: ``"symmetric"`` (the product of the others, the default), ``"lower"`` or ``"upper"``.

    >>> linalg.pascal(3)
    Array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]], dtype=float32)
    """
    require_one_of("pascal", "kind", _or_symmetric(kind), _KINDS)
    return _pascal(_not_too_large("pascal", n), _or_symmetric(kind), 1)


def _or_symmetric(kind: str | None) -> str:
    return "symmetric" if kind is None else kind


def _pascal(n: int, kind: str, sign: int) -> Array:
    lower = [
        [sign ** (i - j) * math.comb(i, j) if j <= i else 0 for j in range(n)] for i in range(n)
    ]
    upper = [list(row) for row in zip(*lower, strict=True)]
    if kind != "symmetric":
        return _exact(lower if kind == "lower" else upper)
    first, second = (lower, upper) if sign > 0 else (upper, lower)
    columns = list(zip(*second, strict=True))
    return _exact(
        [
            [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
            for row in first
        ]
    )


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of ``pascal(n, kind)``, computed exactly and then rounded.

    >>> linalg.invpascal(2)
    Array([[ 2., -1.],
           [-1.,  1.]], dtype=float32)
    """
    require_one_of("invpascal", "kind", _or_symmetric(kind), _KINDS)
    return _pascal(_not_too_large("invpascal", n), _or_symmetric(kind), -1)


def helmert(n: int, full: bool = False) -> Array:
    """Helmert's matrix, whose rows are orthonormal and, but the first, of sum 0.

    Args:
        n: the size.
        full: with the first row, of equal elements.

    >>> linalg.helmert(2).round(4)
    Array([[ 0.7071, -0.7071]], dtype=float32)
    """
    n = _size("helmert", n)
    k = np.arange(1, n, dtype=float)[:, None]
    place = np.arange(n)
    rows = np.where(place < k, 1.0, np.where(place == k, -k, 0.0)) / np.sqrt(k * (k + 1))
    rows = np.concatenate([np.full((1, n), 1 / math.sqrt(n)), rows]) if full else rows
    return jnp.array(rows, jnp.float_)


def hadamard(n: int, dtype: Any = int) -> Array:
    """Sylvester's matrix of Hadamard: elements 1 and -1, orthogonal rows.

    Raises:
        ValueError: when ``n`` is not a power of 2.

    >>> linalg.hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    n = _not_too_large("hadamard", n)
    if n < 1 or n & (n - 1):
        raise ValueError(f"hadamard: n must be a power of 2, but it is {n}.")
    out = np.ones((1, 1), np.int8)
    while out.shape[0] < n:
        out = np.block([[out, out], [out, -out]])
    return jnp.array(out, dtype)


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Array:
    """The matrix of the discrete Fourier transform.

    Args:
        n: the size.
        scale: None, ``"sqrtn"`` to divide by the root of ``n``, or ``"n"``.
        dtype: a complex dtype; the default one.

    >>> jnp.round(linalg.dft(2).real)
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    require_one_of("dft", "scale", scale, (None, "sqrtn", "n"))
    wanted: Any = jnp.complex_ if dtype is None else np.dtype(dtype)
    if dtype is not None and wanted.kind != "c":
        raise ValueError(f"dft: dtype must be complex, but it is {wanted}.")
    n = operator.index(n)
    index = np.arange(n)
    # Phases modulo n are exact, large ones are not.
    values = np.exp(-2j * np.pi * (index[:, None] * index % max(n, 1)) / max(n, 1))
    factor = {None: 1.0, "sqrtn": math.sqrt(n), "n": float(n)}[scale]
    return jnp.array(values / factor, wanted)
