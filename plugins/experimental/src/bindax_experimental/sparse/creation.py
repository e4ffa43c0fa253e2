"""Sparse arrays from shapes and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import api_boundary
from bindax_experimental.sparse.bcoo import BCOO
from bindax_lax_basic.extend import canonical_dtype, static_int


def _require_bcoo_format(caller: str, sparse_format: str) -> None:
    if sparse_format != "bcoo":
        raise ValueError(f"{caller}: sparse_format must be 'bcoo', but it is {sparse_format!r}.")


@api_boundary
def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = np.int32,
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> BCOO:
    """A sparse array of zeros.

    Args:
        shape: its shape.
        dtype: that of its elements.
        index_dtype: that of positions.
        sparse_format: ``"bcoo"``.
        kwds: ``n_batch``, ``n_dense``, ``nse`` (how much room it has).

    >>> empty((2, 3))
    BCOO(float32[2, 3], nse=0)
    """
    _require_bcoo_format("empty", sparse_format)
    return BCOO._empty(shape, dtype=dtype, index_dtype=index_dtype, **kwds)


@api_boundary
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = np.int32,
    sparse_format: str = "bcoo",
) -> BCOO:
    """A sparse matrix with ones on a diagonal.

    Args:
        N: the number of rows.
        M: the number of columns, by default as many.
        k: how far right of the main diagonal the ones are.
        dtype: that of its elements.
        index_dtype: that of positions.
        sparse_format: ``"bcoo"``.

    >>> eye(3).todense().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    _require_bcoo_format("eye", sparse_format)
    k = static_int("eye", "k", k)
    index_dtype = canonical_dtype(index_dtype)
    columns = N if M is None else M
    row, column = max(-k, 0), max(k, 0)
    count = max(min(N - row, columns - column), 0)
    places = np.arange(count)[:, None] + np.array([row, column])
    return BCOO(
        (jnp.ones(count, dtype), places.astype(index_dtype)),
        shape=(N, columns),
        indices_sorted=True,
        unique_indices=True,
    )


@api_boundary
def random_bcoo(
    key: Any,
    shape: Sequence[int],
    *,
    dtype: Any = None,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Any = None,
    **kwds: Any,
) -> BCOO:
    """A sparse array with random elements at random positions.

    Args:
        key: a random key.
        shape: its shape.
        dtype: that of its elements.
        indices_dtype: that of positions, ``int32`` by default.
        nse: how many entries each batch has, or below one which part of all.
        n_batch: the number of batch axes.
        n_dense: the number of dense axes.
        unique_indices: whether positions are distinct.
        sorted_indices: whether positions are sorted.
        generator: ``(key, shape, dtype) -> array``; ``random.uniform`` by default.
        kwds: for the generator.

    >>> from bindax_random import key
    >>> random_bcoo(key(0), (4, 4), nse=3)
    BCOO(float32[4, 4], nse=3)
    """
    from bindax_random import split, uniform

    shape = tuple(shape)
    if not np.isscalar(nse) or isinstance(nse, (str, bytes)):
        raise TypeError(f"random_bcoo takes a number for nse, but got {nse!r:.80}.")
    n_sparse = len(shape) - n_batch - n_dense
    if n_sparse < 0 or n_batch < 0 or n_dense < 0:
        raise ValueError(
            f"random_bcoo: an array of the shape {shape} cannot have {n_batch} batch axes and "
            f"{n_dense} dense axes."
        )
    batch, sparse = shape[:n_batch], shape[n_batch : n_batch + n_sparse]
    size = math.prod(sparse)
    count = math.ceil(nse * size) if 0 < nse < 1 else int(nse)
    data_key, *keys = split(key, 1 + math.prod(batch))
    draw = uniform if generator is None else generator
    data_shape = (*batch, count, *shape[n_batch + n_sparse :])
    data = draw(data_key, shape=data_shape, dtype=dtype or np.float32, **kwds)
    flat = [_drawn(one, size, count, unique_indices) for one in keys]
    rows = jnp.stack(flat) if flat else jnp.zeros((0, count), np.int32)
    rows = jnp.sort(rows, axis=-1) if sorted_indices else rows
    none = jnp.zeros((*rows.shape, 0), np.int32)
    places = jnp.stack(jnp.unravel_index(rows, sparse), axis=-1) if sparse else none
    places = places.reshape(*batch, count, n_sparse).astype(indices_dtype or np.int32)
    return BCOO(
        (data, places), shape=shape, unique_indices=unique_indices, indices_sorted=sorted_indices
    )


def _drawn(key: Any, size: int, count: int, unique: bool) -> Any:
    """Random numbers below a size."""
    from bindax_random import choice, randint

    if unique:
        return choice(key, size, (count,), replace=False)
    return randint(key, (count,), 0, max(size, 1))
