"""Operations that move the elements of sparse arrays, and change how they are stored."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import api_boundary
from bindax_experimental.sparse.bcoo import BCOO, require_bcoo
from bindax_experimental.sparse.layout import bcoo_update_layout, is_padding, sparse_alone


def _axes(caller: str, mat: BCOO, axes: Sequence[int]) -> list[int]:
    found = [operator.index(axis) for axis in axes]
    for axis in found:
        if not -mat.ndim <= axis < mat.ndim:
            raise ValueError(f"{caller}: axis {axis} is out of bounds for {mat}.")
    return [axis % mat.ndim for axis in found]


# ------------------------------------------------------------------------------------ axes


@api_boundary
def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """The array with its axes in another order.

    Args:
        mat: a sparse array.
        permutation: for each axis of the result that of ``mat``. Axes may move among the batch
            axes, among the sparse axes, and among the dense ones; otherwise all become sparse.

    Raises:
        ValueError: when it is no permutation.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_transpose(m, permutation=(1, 0)).todense()
    Array([[0., 2.],
           [1., 0.]], dtype=float64)
    """
    require_bcoo("bcoo_transpose", mat)
    axes = _axes("bcoo_transpose", mat, permutation)
    if sorted(axes) != list(range(mat.ndim)):
        raise ValueError(
            f"bcoo_transpose: {tuple(permutation)} is no permutation of the axes of {mat}."
        )
    batch, end = mat.n_batch, mat.n_batch + mat.n_sparse
    parts = axes[:batch], axes[batch:end], axes[end:]
    parts_of = [0] * batch + [1] * mat.n_sparse + [2] * mat.n_dense
    if [parts_of[axis] for axis in axes] != parts_of:
        return bcoo_transpose(sparse_alone(mat), permutation=axes)
    dense = [axis - end + batch + 1 for axis in parts[2]]
    data = mat.data.transpose(*parts[0], batch, *dense)
    indices = mat.indices.transpose(*parts[0], batch, batch + 1)
    order = np.array([axis - batch for axis in parts[1]], np.int32)
    return BCOO(
        (data, indices[..., order]),
        shape=[mat.shape[axis] for axis in axes],
        unique_indices=mat.unique_indices,
        indices_sorted=mat.indices_sorted and parts[1] == sorted(parts[1]),
    )


@api_boundary
def bcoo_reshape(mat: BCOO, *, new_sizes: Sequence[int], dimensions: Any = None) -> BCOO:
    """The array with other axes, its elements in the same order.

    Args:
        mat: a sparse array.
        new_sizes: the new shape; one size may be -1.
        dimensions: None; the order of axes cannot change here.

    Raises:
        ValueError: when there are more or fewer elements.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_reshape(m, new_sizes=(4,)).todense()
    Array([0., 1., 2., 0.], dtype=float64)
    """
    require_bcoo("bcoo_reshape", mat)
    sizes = [operator.index(size) for size in new_sizes]
    if dimensions is not None and list(dimensions) != list(range(mat.ndim)):
        raise ValueError("bcoo_reshape takes axes in their order; transpose the array first.")
    if sizes.count(-1) == 1:
        known = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = mat.size // known if known else 0
    if math.prod(sizes) != mat.size:
        raise ValueError(f"bcoo_reshape: {mat} cannot have the shape {tuple(new_sizes)}.")
    batch, dense = mat.n_batch, mat.n_dense
    kept = len(sizes) >= batch + dense and (
        (*sizes[:batch], *sizes[len(sizes) - dense :]) == (*mat.shape[:batch], *mat.dense_shape)
    )
    if not kept:
        mat, batch, dense = sparse_alone(mat), 0, 0
    old, new = mat.sparse_shape, tuple(sizes[batch : len(sizes) - dense])

    def moved(indices: Any) -> Any:
        flat = jnp.zeros(indices.shape[:-1], np.int64 if mat.size >= 2**31 else np.int32)
        outside = is_padding(indices, old)
        for axis, size in enumerate(old):
            flat = flat * size + indices[..., axis]
        found = []
        for size in reversed(new):
            found.append(jnp.where(outside, size, flat % max(size, 1)))
            flat = flat // max(size, 1)
        return jnp.stack(found[::-1], axis=-1) if found else indices[..., :0]

    indices = moved(mat.indices).astype(mat.indices.dtype)
    return BCOO((mat.data, indices), shape=sizes, **mat._order)


@api_boundary
def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """The array without some axes, which must have size 1.

    Raises:
        ValueError: when an axis has another size.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_squeeze(bcoo_reshape(m, new_sizes=(1, 4)), dimensions=(0,)).todense()
    Array([0., 1., 2., 0.], dtype=float64)
    """
    require_bcoo("bcoo_squeeze", arr)
    axes = _axes("bcoo_squeeze", arr, dimensions)
    if any(arr.shape[axis] != 1 for axis in axes):
        raise ValueError(f"bcoo_squeeze: the axes {tuple(dimensions)} of {arr} have not size 1.")
    batch, end = arr.n_batch, arr.n_batch + arr.n_sparse
    gone = [axis for axis in axes if batch <= axis < end]
    data, indices = arr.data, arr.indices
    if gone:
        # Padding along an axis that goes is marked along no other; its elements become zero.
        outside = jnp.any(indices[..., np.array(gone) - batch] > 0, axis=-1)
        data = jnp.where(outside.reshape(*outside.shape, *(1,) * arr.n_dense), 0, data)
        rest = [axis - batch for axis in range(batch, end) if axis not in gone]
        indices = indices[..., np.array(rest, np.int32)]
    outer = tuple([axis for axis in axes if axis < batch])
    inner = tuple([axis - arr.n_sparse + 1 for axis in axes if axis >= end])
    return BCOO(
        (jnp.squeeze(data, axis=(*outer, *inner)), jnp.squeeze(indices, axis=outer)),
        shape=[size for axis, size in enumerate(arr.shape) if axis not in axes],
    )


@api_boundary
def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> BCOO:
    """The array stretched to a shape, its axes at given places.

    New axes before all others are batch axes if the array has some; others are sparse, or dense
    where they stand after a dense one.

    Raises:
        ValueError: when an axis does not fit.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_broadcast_in_dim(m, shape=(3, 2, 2), broadcast_dimensions=(1, 2)).shape
    (3, 2, 2)
    """
    require_bcoo("bcoo_broadcast_in_dim", mat)
    sizes, places = tuple(shape), [operator.index(d) for d in broadcast_dimensions]
    if (
        sorted(places) != places
        or len(places) != mat.ndim
        or any(size not in (1, sizes[place]) for size, place in zip(mat.shape, places, strict=True))
    ):
        raise ValueError(
            f"bcoo_broadcast_in_dim: {mat} does not fit into the axes {tuple(places)} of {sizes}."
        )
    mat = sparse_alone(mat)
    found: list[Any] = [None] * len(sizes)
    for axis, place in enumerate(places):
        found[place] = axis
    data, old = mat.data, mat.indices
    outside = is_padding(old, mat.shape)
    rows: list[Any] = []
    for size, axis in zip(sizes, found, strict=True):
        stretched = axis is None or mat.shape[axis] != size
        if not stretched:
            rows.append(old[:, axis])
            continue
        count = data.shape[0]
        data, outside = jnp.repeat(data, size), jnp.repeat(outside, size)
        rows = [jnp.repeat(row, size) for row in rows] + [jnp.tile(jnp.arange(size), count)]
        old = jnp.repeat(old, size, axis=0)
    indices = jnp.stack(rows, axis=-1) if rows else jnp.zeros((data.shape[0], 0), old.dtype)
    indices = jnp.where(outside[:, None], jnp.array(sizes).reshape(len(sizes)), indices)
    entries = (data, indices.astype(mat.indices.dtype))
    return BCOO(entries, shape=sizes, unique_indices=mat.unique_indices)


@api_boundary
def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Sums over axes; nothing is added up but what is stored along dense axes.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_reduce_sum(m, axes=(0,)).todense()
    Array([2., 1.], dtype=float64)
    """
    require_bcoo("bcoo_reduce_sum", mat)
    gone = _axes("bcoo_reduce_sum", mat, axes)
    if any(axis < mat.n_batch for axis in gone):
        mat = bcoo_update_layout(mat, n_batch=min(gone))
    batch, end = mat.n_batch, mat.n_batch + mat.n_sparse
    dense = tuple([axis - mat.n_sparse + 1 for axis in gone if axis >= end])
    data = jnp.sum(mat.data, axis=dense, dtype=mat.data.dtype) if dense else mat.data
    rest = [axis for axis in range(batch, end) if axis not in gone]
    outside = is_padding(mat.indices, mat.sparse_shape)
    data = jnp.where(outside.reshape(*outside.shape, *(1,) * (data.ndim - batch - 1)), 0, data)
    indices = mat.indices[..., np.array([axis - batch for axis in rest], np.int32)]
    return BCOO(
        (data, indices), shape=[size for axis, size in enumerate(mat.shape) if axis not in gone]
    )


# ----------------------------------------------------------------------------------- pieces


@api_boundary
def bcoo_slice(
    mat: BCOO,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> BCOO:
    """A part of the array; entries outside become padding.

    Args:
        mat: a sparse array.
        start_indices: the first position along each axis.
        limit_indices: the end along each axis.
        strides: the distance of positions along each axis; 1 by default.

    Raises:
        ValueError: when there is not one number for each axis, or one is out of bounds.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_slice(m, start_indices=(0, 1), limit_indices=(2, 2)).todense()
    Array([[1.],
           [0.]], dtype=float64)
    """
    require_bcoo("bcoo_slice", mat)
    strides = [1] * mat.ndim if strides is None else strides
    bounds = list(zip(start_indices, limit_indices, strides, strict=True))
    if len(bounds) != mat.ndim or any(
        not 0 <= start <= limit <= size or step < 1
        for (start, limit, step), size in zip(bounds, mat.shape, strict=False)
    ):
        raise ValueError(
            f"bcoo_slice: the range from {tuple(start_indices)} to {tuple(limit_indices)} in steps "
            f"of {tuple(strides)} is not within {mat}."
        )
    return _part(mat, bounds)


def _part(mat: BCOO, bounds: Sequence[tuple[Any, Any, int]]) -> BCOO:
    batch, end = mat.n_batch, mat.n_batch + mat.n_sparse
    outer = tuple([slice(*bound) for bound in bounds[:batch]])
    inner = tuple([slice(*bound) for bound in bounds[end:]])
    data, indices = mat.data[(*outer, slice(None), *inner)], mat.indices[outer]
    sizes = [max(0, -(-(limit - start) // step)) for start, limit, step in bounds]
    kept, places = _moved_places(indices, [*bounds[batch:end]], sizes[batch:end], mat.sparse_shape)
    data = jnp.where(kept.reshape(*kept.shape, *(1,) * mat.n_dense), data, 0)
    return BCOO((data, places), shape=sizes)


def _moved_places(
    indices: Any, bounds: Sequence[tuple[Any, Any, int]], sizes: Sequence[int], shape: Sequence[int]
) -> tuple[Any, Any]:
    """Mark the entries that lie in a part, and give their positions there."""
    kept = jnp.ones(indices.shape[:-1], bool)
    rows = []
    for axis, (start, _, step) in enumerate(bounds):
        place = indices[..., axis] - jnp.asarray(start, indices.dtype)
        inside = (place >= 0) & (place < sizes[axis] * step) & (place % step == 0)
        kept = kept & inside & (indices[..., axis] < shape[axis])
        rows.append(place // step)
    if not rows:
        return kept, indices
    places = jnp.stack(rows, axis=-1)
    limits = jnp.array(sizes, indices.dtype).reshape(len(sizes))
    return kept, jnp.where(kept[..., None], places, limits).astype(indices.dtype)


@api_boundary
def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """A part of the array that begins at positions that may be traced.

    Positions are moved so that the part lies within the array.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_dynamic_slice(m, (1, 0), slice_sizes=(1, 2)).todense()
    Array([[2., 0.]], dtype=float64)
    """
    require_bcoo("bcoo_dynamic_slice", mat)
    if not len(start_indices) == len(slice_sizes) == mat.ndim:
        raise ValueError(f"bcoo_dynamic_slice takes a position and a size for each axis of {mat}.")
    mat = sparse_alone(mat)
    starts = []
    for start, extent, size in zip(start_indices, slice_sizes, mat.shape, strict=True):
        start = jnp.asarray(start)
        start = jnp.where(start < 0, start + size, start)
        starts.append(jnp.clip(start, 0, size - extent))
    bounds = [(start, None, 1) for start in starts]
    kept, places = _moved_places(mat.indices, bounds, slice_sizes, mat.shape)
    return BCOO((jnp.where(kept, mat.data, 0), places), shape=slice_sizes)


@api_boundary
def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """The array with the order of elements along some axes reversed.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_rev(m, dimensions=(0,)).todense()
    Array([[2., 0.],
           [0., 1.]], dtype=float64)
    """
    require_bcoo("bcoo_rev", operand)
    axes = _axes("bcoo_rev", operand, dimensions)
    batch, end = operand.n_batch, operand.n_batch + operand.n_sparse
    outer = tuple([axis for axis in axes if axis < batch])
    inner = tuple([axis - operand.n_sparse + 1 for axis in axes if axis >= end])
    data, indices = jnp.flip(operand.data, (*outer, *inner)), jnp.flip(operand.indices, outer)
    for axis in axes:
        if batch <= axis < end:
            size, row = operand.shape[axis], indices[..., axis - batch]
            turned = jnp.where(row < size, size - 1 - row, row)
            indices = indices.at[..., axis - batch].set(turned)
    return operand.replaced(data, indices, unique_indices=operand.unique_indices)


@api_boundary
def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """Arrays one after the other along an axis.

    Args:
        operands: sparse arrays that differ along that axis alone.
        dimension: the axis.

    Raises:
        ValueError: when there is no array, or the shapes do not fit.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_concatenate([m, m], dimension=1).todense()
    Array([[0., 1., 0., 1.],
           [2., 0., 2., 0.]], dtype=float64)
    """
    mats = [require_bcoo("bcoo_concatenate", x) for x in operands]
    if not mats:
        raise ValueError("bcoo_concatenate takes at least one array.")
    (axis,) = _axes("bcoo_concatenate", mats[0], [dimension])
    shapes = {(*x.shape[:axis], *x.shape[axis + 1 :]) for x in mats}
    if len(shapes) > 1 or len({x.ndim for x in mats}) > 1:
        raise ValueError(
            f"bcoo_concatenate along axis {axis} of arrays of the shapes "
            f"{', '.join(str(x.shape) for x in mats)}."
        )
    batch = min(min(x.n_batch for x in mats), axis)
    dense = min(min(x.n_dense for x in mats), mats[0].ndim - 1 - axis)
    mats = [bcoo_update_layout(x, n_batch=batch, n_dense=dense) for x in mats]
    start, parts = 0, []
    total = sum(x.shape[axis] for x in mats)
    for x in mats:
        row, size = x.indices[..., axis - batch], x.shape[axis]
        moved = jnp.where(row < size, row + start, total)
        parts.append(x.indices.at[..., axis - batch].set(moved))
        start += size
    shape = list(mats[0].shape)
    shape[axis] = total
    data = jnp.concatenate([x.data for x in mats], axis=batch)
    return BCOO((data, jnp.concatenate(parts, axis=batch)), shape=shape)


def bcoo_getitem(mat: BCOO, index: Any) -> BCOO:
    """The part that an index of integers, slices, ``...`` and None names."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index has at most one ellipsis.")
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if taken > mat.ndim:
        raise IndexError(f"too many indices for {mat}: {taken} are given.")
    rest = [slice(None)] * (mat.ndim - taken)
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    parts[at : at + 1] = rest
    bounds: list[tuple[int, int, int]] = []
    turned: list[int] = []
    gone: list[int] = []
    added: list[tuple[int, int]] = []
    for part in parts:
        axis = len(bounds)
        if part is None:
            added.append((axis, len(gone)))
            continue
        size = mat.shape[axis]
        if isinstance(part, slice):
            start, stop, step = part.indices(size)
            count = len(range(start, stop, step))
            if step < 0:
                start, step = start + (count - 1) * step if count else 0, -step
                turned.append(axis)
            bounds.append((start, min(start + count * step, size) if count else start, step))
            continue
        try:
            place = operator.index(part)
        except TypeError:
            raise TypeError(
                f"an index of a sparse array is made of integers, slices, ... and None, but has "
                f"{part!r:.60}; bcoo_dynamic_slice takes traced positions, and bcoo_todense gives "
                f"an array that takes arrays."
            ) from None
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of bounds for axis {axis} with size {size}.")
        bounds.append((place % size, place % size + 1, 1))
        gone.append(axis)
    out = bcoo_rev(_part(mat, bounds), turned)
    out = bcoo_squeeze(out, dimensions=gone) if gone else out
    for offset, (axis, dropped) in enumerate(added):
        place = axis - dropped + offset
        shape = [*out.shape[:place], 1, *out.shape[place:]]
        places = [i for i in range(len(shape)) if i != place]
        out = bcoo_broadcast_in_dim(out, shape=shape, broadcast_dimensions=places)
    return out
