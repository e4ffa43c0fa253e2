"""Cutting boxes out of arrays and padding them; each is the transpose of the other."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.errors import ShardingTypeError
from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    Tracer,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic.elementwise.comparison import eq_p
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.batching import batch_first
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values, jointly_linear, linear
from bindax_lax_basic.rules.operands import adopt_dtype, constant
from bindax_lax_basic.rules.sharding import resized
from bindax_lax_basic.rules.types import (
    axis_argument,
    larger,
    require_same_dtype,
    static_int,
    static_ints,
)
from bindax_lax_basic.shape.broadcast_and_reduce_sum import Dims, broadcast_in_dim_p, sum_axes
from bindax_lax_basic.shape.reshape import squeeze
from bindax_transforms.zeros import UndefPrimal

__all__ = ["index_in_dim", "pad", "pad_p", "slice", "slice_in_dim", "slice_p"]


PaddingConfig = tuple[tuple[int, int, int], ...]


def slice(
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """Cut a box out of an array.

    Args:
        operand: an array of any dtype.
        start_indices: for each axis the first index.
        limit_indices: for each axis the index after the last.
        strides: for each axis the step, positive; by default one.

    Raises:
        TypeError, ValueError: when the box is not within the array.

    >>> slice(np.arange(10), (2,), (9,), (3,))
    Array([2, 5, 8], dtype=int64)
    """
    steps = None if strides is None else static_ints("slice", "strides", strides)
    return slice_p.bind(
        operand,
        start_indices=static_ints("slice", "start_indices", start_indices),
        limit_indices=static_ints("slice", "limit_indices", limit_indices),
        strides=None if steps is None or all(s == 1 for s in steps) else steps,
    )


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """Cut a piece out of an array along one axis.

    Args:
        operand: an array of any dtype.
        start_index: the first index, counted from the end when negative; None means 0.
        limit_index: the index after the last, likewise; None means the axis's size.
        stride: the step, positive.
        axis: the axis to cut.

    >>> slice_in_dim(np.arange(5), 1, -1)
    Array([1, 2, 3], dtype=int64)
    """
    shape = typeof(operand).shape
    axis = axis_argument("slice_in_dim", axis, len(shape))
    size = shape[axis]
    start = 0 if start_index is None else static_int("slice_in_dim", "start_index", start_index)
    stop = size if limit_index is None else static_int("slice_in_dim", "limit_index", limit_index)
    start, stop = (i + size if i < 0 else i for i in (start, stop))
    return every(operand, axis, start, stop, static_int("slice_in_dim", "stride", stride))


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """One slice of an array along an axis.

    >>> index_in_dim(np.arange(6).reshape(2, 3), -1, 1, keepdims=False)
    Array([2, 5], dtype=int64)
    """
    aval = typeof(operand)
    axis = axis_argument("index_in_dim", axis, aval.ndim)
    index, size = static_int("index_in_dim", "index", index), aval.shape[axis]
    if not -size <= index < size:
        raise ValueError(
            f"index_in_dim: index {index} is out of bounds for the {size} elements of axis {axis} "
            f"of {aval.str_short()}."
        )
    index %= size
    out = slice_in_dim(operand, index, index + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def _slice_type(
    x: ShapedArray, *, start_indices: Dims, limit_indices: Dims, strides: Dims | None
) -> ShapedArray:
    steps = (1,) * x.ndim if strides is None else strides
    for argument, values in (
        ("start_indices", start_indices),
        ("limit_indices", limit_indices),
        ("strides", steps),
    ):
        if len(values) != x.ndim:
            raise TypeError(
                f"slice: {argument} {values} must have one entry for each of the {x.ndim} axes of "
                f"{x.str_short()}."
            )
    shape = []
    for axis, size in enumerate(x.shape):
        start, stop, step = start_indices[axis], limit_indices[axis], steps[axis]
        if not 0 <= start <= stop <= size or step < 1:
            raise ValueError(
                f"slice: {start}:{stop}:{step} is not a piece of axis {axis} of {x.str_short()}; "
                f"it takes 0 <= start <= limit <= {size} and a step of at least 1."
            )
        shape.append(-(-(stop - start) // step))
    return x.update(shape=tuple(shape))


def _slice_impl(
    x: NumPyArray, *, start_indices: Dims, limit_indices: Dims, strides: Dims | None
) -> NumPyArray:
    steps = strides or (1,) * x.ndim
    return x[tuple(map(builtins.slice, start_indices, limit_indices, steps))]


def _slice_vmap(
    size: int,
    operands: Values,
    dims: BatchDims,
    *,
    start_indices: Dims,
    limit_indices: Dims,
    strides: Dims | None,
) -> Batched:
    d = dims[0]
    out = slice_p.bind(
        operands[0],
        start_indices=(*start_indices[:d], 0, *start_indices[d:]),
        limit_indices=(*limit_indices[:d], size, *limit_indices[d:]),
        strides=None if strides is None else (*strides[:d], 1, *strides[d:]),
    )
    return out, d


def _slice_transpose(
    ct: Any, x: UndefPrimal, *, start_indices: Dims, limit_indices: Dims, strides: Dims | None
) -> list[Any]:
    config = []
    for axis, size in enumerate(x.aval.shape):
        step = 1 if strides is None else strides[axis]
        length = typeof(ct).shape[axis]
        used = 0 if length == 0 else (length - 1) * step + 1
        low = start_indices[axis]
        config.append((low, size - low - used, step - 1))
    return [pad_p.bind(ct, constant(0, ct), padding_config=tuple(config))]


def _slice_lowering(
    ctx: LoweringContext, x: Any, *, start_indices: Dims, limit_indices: Dims, strides: Dims | None
) -> Any:
    attributes = {
        "start_indices": lower.integers(start_indices),
        "limit_indices": lower.integers(limit_indices),
        "strides": lower.integers(strides or (1,) * len(start_indices)),
    }
    return ctx.op("stablehlo.slice", [x], attributes=attributes)[0]


slice_p: Primitive = primitive(
    "slice",
    rules.impl(_slice_impl),
    rules.abstract_eval(_slice_type),
    linear(),
    rules.vmap(_slice_vmap),
    rules.transpose(_slice_transpose),
    rules.lowering["stablehlo"](_slice_lowering),
    resized("slicing on sharded dims", linear=True),
)


def every(x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
    """The slice ``start:stop:step`` along one axis."""
    shape = typeof(x).shape
    starts, stops, steps = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return slice_p.bind(
        x,
        start_indices=tuple(starts),
        limit_indices=tuple(stops),
        strides=None if step == 1 else tuple(steps),
    )


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Array:
    """Put a value around and between the elements of an array.

    Args:
        operand: an array of any dtype.
        padding_value: a scalar of the same dtype.
        padding_config: for each axis ``(low, high, interior)``: how many elements to put before
            and after (negative ones are cut off), and how many between neighbours.

    >>> pad(np.array([1.0, 2.0]), 0.0, [(1, 2, 1)])
    Array([0., 1., 0., 2., 0., 0.], dtype=float64)
    """
    entries = padding_config if np.iterable(padding_config) else [padding_config]
    config = tuple([static_ints("pad", "padding_config", entry) for entry in entries])
    if any(len(entry) != 3 for entry in config):
        raise TypeError(
            f"pad: each entry of padding_config is (low, high, interior), but got {config}."
        )
    _check_terms(typeof(operand), padding_value)
    return pad_p.bind(*adopt_dtype(operand, padding_value), padding_config=config)


def _check_terms(aval: ShapedArray, value: Any) -> None:
    """Raise where each device would add a padding value to its term of a sum."""
    if aval.placement is None and not aval.mat:
        return
    spec = aval.sharding.spec if aval.is_divided else None
    terms = aval.mat.unreduced | (frozenset() if spec is None else spec.unreduced)
    if terms and (isinstance(value, Tracer) or np.asarray(value) != 0):
        raise ShardingTypeError(
            f"pad: the operand {aval.str_short()} is unreduced along {sorted(terms, key=str)}: "
            f"devices have terms of a sum, which are padded by zero alone. Add it up before."
        )


def _pad_type(x: ShapedArray, value: ShapedArray, *, padding_config: PaddingConfig) -> ShapedArray:
    require_same_dtype("pad", (x, value))
    if value.shape:
        raise TypeError(f"pad: the padding value must be a scalar, but it is {value.str_short()}.")
    if len(padding_config) != x.ndim:
        raise TypeError(
            f"pad: padding_config has {len(padding_config)} entries; {x.str_short()} needs one for "
            f"each of its {x.ndim} axes."
        )
    shape = []
    for axis, (size, (low, high, interior)) in enumerate(zip(x.shape, padding_config, strict=True)):
        out = low + high + size + (larger(0, size - 1) * interior if interior else 0)
        if interior < 0 or out < 0:
            raise ValueError(
                f"pad: ({low}, {high}, {interior}) on axis {axis} of {x.str_short()} would give "
                f"size {out}; the interior padding and the size must not be negative."
            )
        shape.append(out)
    return x.update(shape=tuple(shape))


def pad_array(x: NumPyArray, value: Any, *, padding_config: PaddingConfig) -> NumPyArray:
    """``pad`` of NumPy arrays."""
    spread = [s + max(0, s - 1) * i for s, (_, _, i) in zip(x.shape, padding_config, strict=True)]
    shape = [s + low + high for s, (low, high, _) in zip(spread, padding_config, strict=True)]
    out = np.full(shape, value, x.dtype)
    target, source = [], []
    for size, total, (low, _, interior) in zip(x.shape, shape, padding_config, strict=True):
        step = interior + 1
        # The elements whose place is within the result: low + k * step in [0, total).
        first = max(0, -(low // step)) if low < 0 else 0
        last = min(size, -(-(total - low) // step))
        last = max(first, last)
        start = low + first * step
        target.append(builtins.slice(start, start + (last - first) * step, step))
        source.append(builtins.slice(first, last))
    values = x[tuple(source)]
    if 0 not in out.shape and values.size:
        out[tuple(target)] = values
    return out


def _pad_vmap(
    size: int, operands: Values, dims: Sequence[int | None], *, padding_config: PaddingConfig
) -> Batched:
    (x, value), (d, value_dim) = operands, dims
    if value_dim is None and d is not None:
        config = (*padding_config[:d], (0, 0, 0), *padding_config[d:])
        return pad_p.bind(x, value, padding_config=config), d
    x = batch_first(x, d, size)
    config = ((0, 0, 0), *padding_config)
    zero, one = (constant(v, x) for v in (0, 1))
    ones = broadcast_in_dim_p.bind(one, shape=typeof(x).shape, broadcast_dimensions=())
    mask = pad_p.bind(ones, zero, padding_config=config)
    padded = pad_p.bind(x, zero, padding_config=config)
    values = broadcast_in_dim_p.bind(value, shape=typeof(padded).shape, broadcast_dimensions=(0,))
    return select_scalars(eq_p.bind(mask, zero), padded, values), 0


def unpadded(x: Any, value: Any, padding_config: PaddingConfig) -> Any:
    """The elements of an array from where ``pad`` put them; a value for those that it cut off."""
    inverse = tuple([(-low, -high, 0) for low, high, _ in padding_config])
    bare = pad_p.bind(x, value, padding_config=inverse)
    steps = tuple([interior + 1 for _, _, interior in padding_config])
    shape = typeof(bare).shape
    return slice_p.bind(bare, start_indices=(0,) * len(shape), limit_indices=shape, strides=steps)


def _pad_transpose(ct: Any, x: Any, value: Any, *, padding_config: PaddingConfig) -> list[Any]:
    inside = unpadded(ct, constant(0, ct), padding_config)
    to_value = None
    if type(value) is UndefPrimal:
        # What is inside is left out of the sum: subtracting it would leave its rounding errors.
        false, true = np.bool_(False), np.bool_(True)
        bare = broadcast_in_dim_p.bind(false, shape=typeof(inside).shape, broadcast_dimensions=())
        added = pad_p.bind(bare, true, padding_config=padding_config)
        outside = select_scalars(added, constant(0, ct), ct)
        to_value = sum_axes(outside, tuple(range(len(padding_config))))
    return [inside if type(x) is UndefPrimal else None, to_value]


def _pad_lowering(
    ctx: LoweringContext, x: Any, value: Any, *, padding_config: PaddingConfig
) -> Any:
    low, high, interior = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    attributes = {
        "edge_padding_low": lower.integers(low),
        "edge_padding_high": lower.integers(high),
        "interior_padding": lower.integers(interior),
    }
    return ctx.op("stablehlo.pad", [x, value], attributes=attributes)[0]


pad_p: Primitive = primitive(
    "pad",
    rules.impl(pad_array),
    rules.abstract_eval(_pad_type),
    jointly_linear(),
    rules.vmap(_pad_vmap),
    rules.transpose(_pad_transpose),
    rules.lowering["stablehlo"](_pad_lowering),
    resized("padding on sharded dims", linear=(0,)),
)
