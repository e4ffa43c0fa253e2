"""Steps that move elements: shapes, slices, indices, and changed copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .operands import FLOATS, Operands, Step, cast, constant, fit


def reshaped(p: Operands) -> Any:
    x = p.pick()
    shapes = [(x.size,), (1, x.size), (x.size, 1), (*x.shape, 1), (1, *x.shape)]
    if x.size % 2 == 0:
        shapes.append((2, x.size // 2))
    if x.size % 3 == 0:
        shapes.append((x.size // 3, 3))
    return p.ops.reshape(x, p.choice(shapes))


def transposed(p: Operands) -> Any:
    x = p.pick()
    return p.ops.transpose(x, p.permutation(x.ndim))


def reversed_axes(p: Operands) -> Any:
    x = p.pick(rank=1)
    return p.ops.rev(x, p.permutation(x.ndim)[: p.number(1, x.ndim)])


def broadcast(p: Operands) -> Any:
    x = p.pick()
    how = p.number(0, 2)
    if how == 0:
        return p.ops.broadcast(x, (p.number(0, 3),))
    if how == 1:
        return p.ops.broadcast_in_dim(x, (*x.shape, 2), tuple(range(x.ndim)))
    return p.ops.broadcast_in_dim(p.ops.expand_dims(x, (0,)), (3, *x.shape), range(x.ndim + 1))


def squeezed(p: Operands) -> Any:
    x = p.pick(rank=1)
    ones = [axis for axis, size in enumerate(x.shape) if size == 1]
    if not ones:
        return p.ops.collapse(x, 0, p.number(1, x.ndim))
    return p.ops.squeeze(x, p.choice([ones, ones[:1]]))


def sliced(p: Operands) -> Any:
    """Slices with strides, of any length down to none."""
    x = p.pick(rank=1)
    start = [p.number(0, size) for size in x.shape]
    limit = [p.number(low, size) for low, size in zip(start, x.shape, strict=True)]
    if p.flag():  # at least something
        start, limit = [0] * x.ndim, list(x.shape)
        limit[p.axis(x)] = -(-x.shape[-1] // 2) if x.ndim == 1 else 1
    limit = [min(size, high) for size, high in zip(x.shape, limit, strict=True)]
    return p.ops.slice(x, start, limit, [p.number(1, 2) for _ in x.shape])


def joined(p: Operands) -> Any:
    x = p.pick(rank=1)
    if p.flag():
        return p.ops.stack([x, p.like(x), x], p.number(0, x.ndim))
    return p.ops.concatenate([x, p.like(x)], p.axis(x))


def split(p: Operands) -> Any:
    x = p.pick(rank=1, empty=False)
    axis = p.axis(x)
    first = p.number(0, x.shape[axis])
    if p.flag():
        return p.ops.unstack(x, axis)[0]
    return tuple(p.ops.split(x, (first, x.shape[axis] - first), axis))


def padded(p: Operands) -> Any:
    """Around, inside, and with negative amounts, which cut off."""
    x = p.pick()
    fill = fit(p.ops, p.like(x), ()) if p.flag() else np.zeros((), x.dtype)
    config = [(p.number(-1, 2), p.number(0, 1), p.number(0, 1)) for _ in x.shape]
    config = [
        (max(low, -size) if size else 0, high, inside)
        for (low, high, inside), size in zip(config, x.shape, strict=True)
    ]
    return p.ops.pad(x, fill, config)


def tiled(p: Operands) -> Any:
    x = p.pick()
    return p.ops.tile(x, [p.number(1, 2) for _ in x.shape])


def created(p: Operands) -> Any:
    """Values that depend on nothing, or on types and shapes alone."""
    x = p.pick()
    return p.choice(
        [
            lambda: p.ops.broadcasted_iota(x.dtype if x.dtype != bool else np.int8, (2, 3), 1),
            lambda: p.ops.full_like(x, 1),
            lambda: p.ops.iota(np.int32, p.number(0, 4)),
            lambda: p.ops.full((2, 1), 0.25, np.float32),
        ]
    )()


def dynamic_slices(p: Operands) -> Any:
    x = p.pick(rank=1, empty=False)
    sizes = [p.number(1, size) for size in x.shape]
    starts = [p.index(size, outside=True) for size in x.shape]
    piece = p.ops.dynamic_slice(x, starts, sizes)
    if p.flag():
        return piece
    update = fit(p.ops, p.like(x), tuple(sizes))
    return p.ops.dynamic_update_slice(x, update, [p.index(size) for size in x.shape])


def dynamic_rows(p: Operands) -> Any:
    x = p.pick(rank=1, empty=False)
    axis = p.axis(x)
    row = p.ops.dynamic_index_in_dim(x, p.index(x.shape[axis]), axis, keepdims=p.flag())
    if p.flag():
        return row
    return p.ops.dynamic_update_index_in_dim(x, p.like(row), p.index(x.shape[axis]), axis)


def _row_numbers(p: Operands, size: int, count: int, unique: bool, *, beyond: int = 0) -> Any:
    """Constant or computed positions on an axis; in a scatter that sets, no two are the same."""
    if unique:
        return np.asarray(p.permutation(size)[:count], np.int32)
    if p.flag():
        return np.asarray([p.number(-size, size - 1 + beyond) for _ in range(count)], np.int32)
    numbers = fit(p.ops, cast(p.ops, p.integer(), np.dtype(np.int32)), (count,))
    return p.ops.rem(numbers, np.full((count,), size, np.int32))


def gathered(p: Operands) -> Any:
    """Rows at some positions, in each of the modes."""
    x = p.pick(rank=1, empty=False)
    size, rest = x.shape[0], x.shape[1:]
    rows = p.ops.reshape(_row_numbers(p, size, 2, unique=False, beyond=1), (2, 1))
    numbers = p.ops.GatherDimensionNumbers(tuple(range(1, x.ndim)), (0,), (0,))
    mode = p.choice(["clip", "fill"])
    fill = None if mode == "clip" else 0
    return p.ops.gather(x, rows, numbers, (1, *rest), mode=mode, fill_value=fill)


def scattered(p: Operands) -> Any:
    name = p.choice(["scatter", "scatter_add", "scatter_min", "scatter_max", "scatter_mul"])
    x = p.spread(p.pick((*FLOATS, "int32"), rank=1, empty=False))
    size, rest = x.shape[0], x.shape[1:]
    unique = name in ("scatter", "scatter_mul")  # whose derivative needs unique positions
    count = min(2, size)
    rows = p.ops.reshape(_row_numbers(p, size, count, unique, beyond=1), (count, 1))
    update = fit(p.ops, p.like(x), (count, *rest))
    numbers = p.ops.ScatterDimensionNumbers(tuple(range(1, x.ndim)), (0,), (0,))
    # JAX's derivatives of clipped minima and maxima are NaN where an index is out of bounds.
    mode = "drop" if name in ("scatter_min", "scatter_max") else p.choice(["clip", "drop"])
    options = {"mode": mode, "unique_indices": unique}
    return getattr(p.ops, name)(x, rows, update, numbers, **options)


def _basic_index(p: Operands, x: Any) -> Any:
    parts: list[Any] = []
    for size in x.shape:
        options = [slice(None), slice(None, None, -1), slice(0, max(size - 1, 1)), slice(1, 0)]
        if size:
            options += [p.number(-size, size - 1), p.index(size), 0]
        parts.append(p.choice(options[:3] + options[4:] if p.flag() else options))
    if p.flag():
        parts.insert(p.number(0, len(parts)), None)
    return tuple(parts[: p.number(1, len(parts))]) if p.flag() else tuple(parts)


def _index(p: Operands, x: Any, unique: bool = False) -> Any:
    """What may stand in brackets: integers, slices, new axes, arrays of integers or truth."""
    how = p.number(0, 4)
    size = x.shape[0]
    if how == 0 and size:
        return _row_numbers(p, size, min(2, size), unique)
    if how == 1 and size and x.ndim > 1 and x.shape[1]:
        rows = np.asarray(p.permutation(size)[:1], np.int32)
        return (rows[:, None], np.asarray(p.permutation(x.shape[1]), np.int32))
    if how == 2:
        return np.arange(x.size).reshape(x.shape) % 3 == 0
    if how == 3:
        return (..., p.number(0, x.shape[-1] - 1)) if x.shape[-1] else ...
    return _basic_index(p, x)


def indexed(p: Operands) -> Any:
    x = p.pick(rank=1)
    return x[_index(p, x)]


UPDATES = ("set", "add", "multiply", "min", "max", "subtract", "divide", "power", "apply", "get")


def updated(p: Operands) -> Any:
    """``x.at[index]``, and what can be done there."""
    x = p.spread(p.pick(("float64", "float32", "complex128", "int32"), rank=1))
    index = _index(p, x, unique=True)
    place = x.at[index]
    name = p.choice(UPDATES if str(x.dtype) in FLOATS else ("set", "add", "get"))
    if name == "get":
        return place.get()
    if name == "apply":
        return p.fixed(x).at[index].apply(p.ops.sin)  # in JAX it has no derivative
    value = p.like(place.get())
    if name == "power":
        return (p.ops.tanh(x) + 2).at[index].power(value * 0.3, unique_indices=True)
    # Products have a derivative where no element is multiplied twice.
    options = {"unique_indices": True} if name in ("multiply", "divide") else {}
    return getattr(place, name)(value + 4.5 if name == "divide" else value, **options)


def permuted(p: Operands) -> Any:
    """Multiply by constants that differ, so that an order is seen in sums."""
    x = p.inexact()
    return x * constant(x.shape, x.dtype, 0.4, 1.1)


STEPS: dict[str, Step] = {
    "reshape": reshaped,
    "transpose": transposed,
    "rev": reversed_axes,
    "broadcast": broadcast,
    "squeeze": squeezed,
    "slice": sliced,
    "joined": joined,
    "split": split,
    "pad": padded,
    "tile": tiled,
    "created": created,
    "dynamic slices": dynamic_slices,
    "dynamic rows": dynamic_rows,
    "gather": gathered,
    "scatter": scattered,
    "indexed": indexed,
    "at": updated,
    "weights": permuted,
}
