"""Sums and products of sparse arrays, with each other and with others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import api_boundary
from bindax_experimental.sparse.bcoo import BCOO, columns, per_batch, require_bcoo
from bindax_experimental.sparse.layout import bcoo_update_layout, distinct
from bindax_experimental.sparse.structure import bcoo_transpose

Numbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


def add(x: Any, y: Any) -> Any:
    """The sum of a sparse array and another array: sparse if both are, else dense.

    Raises:
        ValueError: when the shapes differ.
    """
    if not isinstance(x, BCOO):
        x, y = y, x
    if not isinstance(y, BCOO):
        shape = np.shape(y)
        if np.broadcast_shapes(shape, x.shape) != tuple(shape):
            raise ValueError(
                f"the sum of {x} and an array of the shape {tuple(shape)} has no zeros to leave "
                f"out; write x.todense() + y."
            )
        return x.todense() + y
    if x.shape != y.shape:
        raise ValueError(f"sparse arrays of the shapes {x.shape} and {y.shape} are not added.")
    batch, dense = min(x.n_batch, y.n_batch), min(x.n_dense, y.n_dense)
    x, y = (bcoo_update_layout(z, n_batch=batch, n_dense=dense) for z in (x, y))
    data = jnp.concatenate([x.data, y.data], axis=batch)
    return BCOO((data, jnp.concatenate([x.indices, y.indices], axis=batch)), shape=x.shape)


def multiply(x: Any, y: Any) -> BCOO:
    """The elementwise product of a sparse array and a number or array."""
    if not isinstance(x, BCOO):
        x, y = y, x
    if isinstance(y, BCOO):
        return bcoo_multiply_sparse(x, y)
    product: BCOO = x.replaced(bcoo_multiply_dense(x, y))
    return product


def divide(x: BCOO, y: Any) -> BCOO:
    """The elementwise quotient of a sparse array and a number or array."""
    return x.replaced(x.data / _at_entries(x, y))


def power(x: BCOO, exponent: Any) -> BCOO:
    """A positive power of each element.

    Raises:
        ValueError: when the exponent is not a positive number.
    """
    if np.ndim(exponent) or not exponent > 0:
        raise ValueError(f"a sparse array has powers with positive exponents, not {exponent!r}.")
    x = distinct(x)
    return x.replaced(x.data**exponent)


def _at_entries(x: BCOO, y: Any) -> Any:
    """The elements of another array at the positions of entries, in the shape of the data."""
    if np.isscalar(y) or not np.shape(y):
        return y
    y = jnp.asarray(y)
    if y.ndim > x.ndim or any(
        a not in (1, b) for a, b in zip(y.shape[::-1], x.shape[::-1], strict=False)
    ):
        raise ValueError(f"an array of the shape {y.shape} does not stretch to {x}.")
    y = y.reshape((1,) * (x.ndim - y.ndim) + y.shape)
    batch, end = x.n_batch, x.n_batch + x.n_sparse
    sizes = y.shape[batch:end]
    y = jnp.broadcast_to(y, (*x.shape[:batch], *y.shape[batch:]))

    def picked(indices: Any, values: Any) -> Any:
        rows = [
            column if size > 1 else jnp.zeros_like(column)
            for column, size in zip(columns(indices), sizes, strict=True)
        ]
        return values.at[tuple(rows)].get(mode="fill", fill_value=1) if rows else values[None]

    return per_batch(picked, batch)(x.indices, y)


@api_boundary
def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> Any:
    """The entries of the elementwise product with an array that stretches to the sparse one.

    Returns:
        The data of the product, whose positions are those of ``sp_mat``.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_multiply_dense(m, np.array([10.0, 100.0]))
    Array([100.,  20.], dtype=float64)
    """
    require_bcoo("bcoo_multiply_dense", sp_mat)
    return sp_mat.data * _at_entries(sp_mat, v)


@api_boundary
def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The elementwise product of two sparse arrays of one shape.

    Each entry of ``lhs`` is compared with each of ``rhs``.

    Raises:
        ValueError: when the shapes differ.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_multiply_sparse(m, m).todense()
    Array([[0., 1.],
           [4., 0.]], dtype=float64)
    """
    lhs, rhs = require_bcoo("bcoo_multiply_sparse", lhs), require_bcoo("bcoo_multiply_sparse", rhs)
    if lhs.shape != rhs.shape:
        raise ValueError(
            f"sparse arrays of the shapes {lhs.shape} and {rhs.shape} are not multiplied."
        )
    batch, dense = min(lhs.n_batch, rhs.n_batch), min(lhs.n_dense, rhs.n_dense)
    lhs, rhs = (bcoo_update_layout(z, n_batch=batch, n_dense=dense) for z in (lhs, rhs))

    def product(data: Any, indices: Any, other: Any, others: Any) -> Any:
        same = jnp.all(indices[:, None] == others[None], axis=-1)
        return data * jnp.tensordot(same.astype(other.dtype), other, 1)

    data = per_batch(product, batch)(lhs.data, lhs.indices, rhs.data, rhs.indices)
    return lhs.replaced(data)


# --------------------------------------------------------------------------------- products


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices, or of stacks of them, as ``@`` has it.

    Raises:
        ValueError: when the shapes do not fit.
    """
    x, y = (z if isinstance(z, BCOO) else jnp.asarray(z) for z in (x, y))
    if not x.ndim or not y.ndim:
        raise ValueError("@ takes arrays with at least one axis; multiply by a number with *.")
    stack = min(max(x.ndim - 2, 0), max(y.ndim - 2, 0))
    left, right = x.ndim - 1, max(y.ndim - 2, 0)
    if (
        x.shape[left] != y.shape[right]
        or x.shape[:stack] != y.shape[:stack]
        or (max(x.ndim, y.ndim) > 2 and x.ndim != y.ndim and min(x.ndim, y.ndim) > 2)
    ):
        raise ValueError(f"@ of arrays of the shapes {tuple(x.shape)} and {tuple(y.shape)}.")
    batch = tuple(range(stack))
    if isinstance(x, BCOO):
        return bcoo_dot_general(x, y, dimension_numbers=(((left,), (right,)), (batch, batch)))
    out = bcoo_dot_general(y, x, dimension_numbers=(((right,), (left,)), (batch, batch)))
    # The free axes of y come first there.
    free = y.ndim - stack - 1
    order = [*batch, *range(stack + free, out.ndim), *range(stack, stack + free)]
    return out.transpose(order)


@api_boundary
def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Numbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: None = None,
) -> Any:
    """The product of a sparse array and another array, summed over axes, as ``lax.dot_general``.

    Args:
        lhs: an array.
        rhs: an array; one of both is sparse.
        dimension_numbers: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.
        precision: accepted; entries are multiplied one by one.
        preferred_element_type: the dtype of the result.
        out_sharding: None.

    Returns:
        The product with the batch axes first, then those of ``lhs``, then those of ``rhs``; it is
        sparse if both are.

    Raises:
        ValueError: when the axes do not fit.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_dot_general(m, np.array([1.0, 3.0]), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([3., 2.], dtype=float64)
    """
    (lc, rc), (lb, rb) = [[list(map(int, side)) for side in pair] for pair in dimension_numbers]
    if not isinstance(lhs, BCOO):
        swapped = bcoo_dot_general(
            require_bcoo("bcoo_dot_general", rhs),
            lhs,
            dimension_numbers=((rc, lc), (rb, lb)),
            preferred_element_type=preferred_element_type,
        )
        count, free = len(lb), rhs.ndim - len(rb) - len(rc)
        order = [*range(count), *range(count + free, swapped.ndim), *range(count, count + free)]
        return swapped.transpose(order)
    rhs = rhs if isinstance(rhs, BCOO) else jnp.asarray(rhs)
    pairs = [*zip(lc, rc, strict=True), *zip(lb, rb, strict=True)]
    if any(lhs.shape[a] != rhs.shape[b] for a, b in pairs):
        raise ValueError(
            f"bcoo_dot_general: the axes {lc} and {lb} of {lhs} do not fit the axes {rc} and {rb} "
            f"of an array of the shape {tuple(rhs.shape)}."
        )
    left_free = [a for a in range(lhs.ndim) if a not in (*lc, *lb)]
    right_free = [b for b in range(rhs.ndim) if b not in (*rc, *rb)]
    left = _prepared(lhs, [*lb, *lc, *left_free], len(lb))
    if isinstance(rhs, BCOO):
        right = _prepared(rhs, [*rb, *rc, *right_free], len(rb))
        out = _sparse_product(left, right, len(lb), len(lc))
        return out if preferred_element_type is None else out.astype(preferred_element_type)
    right = rhs.transpose([*rb, *rc, *right_free])
    dtype = preferred_element_type or jnp.result_type(left.data, right)
    return _dense_product(left, right, len(lb), len(lc), dtype)


def _dense_product(x: BCOO, y: Any, n_batch: int, count: int, dtype: Any) -> Any:
    """The product of each entry with the rows of an array that its contracted positions name."""
    free = x.shape[n_batch + count :]

    def product(data: Any, indices: Any, values: Any) -> Any:
        places = columns(indices)
        rows = values.at[places[:count]].get(mode="fill", fill_value=0) if count else values[None]
        terms = data.astype(dtype).reshape(-1, *(1,) * (rows.ndim - 1)) * rows.astype(dtype)
        if not free:
            return jnp.sum(terms, axis=0, dtype=dtype)
        zeros = jnp.zeros((*free, *terms.shape[1:]), dtype)
        return zeros.at[places[count:]].add(terms, mode="drop")

    return per_batch(product, n_batch)(x.data, x.indices, y)


def _prepared(mat: BCOO, order: Sequence[int], n_batch: int) -> BCOO:
    """The array with axes in an order, the first of which are batch axes, the others sparse."""
    kept = [*order[:n_batch]] == [*range(n_batch)] and mat.n_batch >= n_batch
    mat = bcoo_update_layout(mat, n_batch=n_batch if kept else 0, n_dense=0)
    mat = bcoo_transpose(mat, permutation=order)
    return bcoo_update_layout(mat, n_batch=n_batch, on_inefficient=None)


def _sparse_product(x: BCOO, y: BCOO, n_batch: int, count: int) -> BCOO:
    """The product of each entry with each other that has the same contracted positions."""
    shape = (*x.shape[:n_batch], *x.shape[n_batch + count :], *y.shape[n_batch + count :])
    sizes = shape[n_batch:]

    def product(data: Any, indices: Any, other: Any, others: Any) -> tuple[Any, Any]:
        same = jnp.all(indices[:, None, :count] == others[None, :, :count], axis=-1)
        terms = jnp.where(same, data[:, None] * other[None], 0)
        rows, cols = indices[:, None, count:], others[None, :, count:]
        pair = terms.shape
        places = jnp.concatenate(
            [
                jnp.broadcast_to(rows, (*pair, rows.shape[-1])),
                jnp.broadcast_to(cols, (*pair, cols.shape[-1])).astype(rows.dtype),
            ],
            axis=-1,
        )
        outside = jnp.array(sizes, places.dtype).reshape(len(sizes))
        places = jnp.where(same[..., None], places, outside)
        return terms.reshape(terms.size), places.reshape(terms.size, len(sizes))

    data, indices = per_batch(product, n_batch)(x.data, x.indices, y.data, y.indices)
    return BCOO((data, indices), shape=shape)


@api_boundary
def bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Numbers) -> Any:
    """The elements of a product of two arrays at given positions, and no others.

    Args:
        A: an array.
        B: an array.
        indices: positions in the product, of the shape ``(*batch, nse, axes)``.
        dimension_numbers: as for ``lax.dot_general``.

    Returns:
        An array of the shape ``(*batch, nse)``.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> ones = np.ones((2, 2))
    >>> bcoo_dot_general_sampled(ones, ones, m.indices, dimension_numbers=(((1,), (0,)), ((), ())))
    Array([2., 2.], dtype=float64)
    """
    A, B, indices = jnp.asarray(A), jnp.asarray(B), jnp.asarray(indices)
    (lc, rc), (lb, rb) = [[list(map(int, side)) for side in pair] for pair in dimension_numbers]
    left_free = [a for a in range(A.ndim) if a not in (*lc, *lb)]
    right_free = [b for b in range(B.ndim) if b not in (*rc, *rb)]
    A, B = A.transpose([*lb, *left_free, *lc]), B.transpose([*rb, *right_free, *rc])
    free = len(left_free)
    axes = tuple(range(1, 1 + len(lc)))

    def sampled(x: Any, y: Any, places: Any) -> Any:
        found = columns(places)
        rows = x.at[found[:free]].get(mode="fill", fill_value=0) if free else x[None]
        other = found[free : free + len(right_free)]
        cols = y.at[other].get(mode="fill", fill_value=0) if other else y[None]
        return jnp.sum(rows * cols, axis=axes)

    return per_batch(sampled, indices.ndim - 2)(A, B, indices)
