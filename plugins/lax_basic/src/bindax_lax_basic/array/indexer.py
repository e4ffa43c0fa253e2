"""An index ``x[...]`` as one gather or scatter.

Slices without steps are the windows. All arrays (and with them integers) broadcast to one group of
positions; a slice with a step has positions of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import Dimension, Tracer, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.array.index_parsing import Item, NewAxis, Positions, Run
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.selection import clamp_p
from bindax_lax_basic.gather_scatter.dimension_numbers import GatherDimensionNumbers
from bindax_lax_basic.gather_scatter.take import widened, wrap_index
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.operands import broadcast_shapes, scalar_array
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_in_dim_p
from bindax_lax_basic.shape.concatenate import concatenate_p
from bindax_lax_basic.shape.creation import broadcasted_iota

Shape = tuple[int, ...]


class Indexer(NamedTuple):
    """Windows of an array that are gathered from, or scattered to."""

    indices: Any  # the index vectors, of shape (*batch, number of indexed axes)
    numbers: GatherDimensionNumbers
    slice_sizes: Shape  # for each axis of the array the size of a window
    gathered: Shape  # the shape of what is gathered
    reverse: Shape  # its axes that are then reversed
    new_axes: Shape  # the axes of the result that are then inserted
    empty: bool  # whether an axis with no elements is indexed
    unique: bool  # whether no element is selected twice
    is_sorted: bool  # whether the index vectors are in ascending order

    @property
    def shape(self) -> Shape:
        """The shape of ``x[index]``."""
        sizes = list(self.gathered)
        for axis in self.new_axes:
            sizes.insert(axis, 1)
        return tuple(sizes)


class _Layout:
    """The axes of what is gathered, in order, collected one after the other."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.batch: list[int] = []
        self.windows: list[int] = []
        self.reverse: list[int] = []
        self.new_axes: list[int] = []

    def add_batch(self, sizes: Shape) -> Shape:
        """Axes of positions; returns their places among all such axes."""
        first = len(self.batch)
        self.batch.extend(sizes)
        self.sizes.extend(sizes)
        return tuple(range(first, len(self.batch)))

    def add_window(self, run: Run) -> None:
        if run.step < 0:
            self.reverse.append(len(self.sizes))
        self.windows.append(len(self.sizes))
        self.sizes.append(run.length)

    def add_new_axis(self) -> None:
        self.new_axes.append(len(self.sizes) + len(self.new_axes))


class _Component(NamedTuple):
    """The positions along one axis, and which batch axes theirs are."""

    axis: int
    value: Any
    batch_axes: Shape


def build_indexer(items: Sequence[Item], shape: Shape, *, wrap: bool = True) -> Indexer:
    """The indexer for the items of an index; negative positions count from the end to ``wrap``."""
    positions = [item for item in items if isinstance(item, Positions)]
    group = broadcast_shapes(*[item.shape for item in positions])
    layout = _Layout()
    components: list[_Component] = []
    # By NumPy's rule the group stands where its entries do, or first when they are apart.
    group_axes = None if _adjacent(positions) else layout.add_batch(group)
    for item in items:
        if isinstance(item, NewAxis):
            layout.add_new_axis()
        elif isinstance(item, Run):
            components.extend(_run_component(item, shape, layout, wrap))
        else:
            if group_axes is None:
                group_axes = layout.add_batch(group)
            if item.axis is not None:
                own = group_axes[len(group) - len(item.shape) :]
                value = _normalized(item.value, shape[item.axis], wrap)
                components.append(_Component(item.axis, value, own))
    return _assembled(items, shape, layout, components)


def _adjacent(positions: Sequence[Positions]) -> bool:
    places = sorted({item.place for item in positions})
    return not places or places == list(range(places[0], places[-1] + 1))


def _is_window(run: Run) -> bool:
    return abs(run.step) == 1 or (not isinstance(run.length, Dimension) and run.length <= 1)


def _run_component(run: Run, shape: Shape, layout: _Layout, wrap: bool) -> Iterator[_Component]:
    """The axis of a slice, and the positions it needs unless it is the whole axis."""
    if run.moves:
        run = run._replace(start=_normalized(run.start, shape[run.axis], wrap))
    if not _is_window(run):
        steps = run.start + run.step * _counted(run.length)
        yield _Component(run.axis, steps, layout.add_batch((run.length,)))
        return
    layout.add_window(run)
    size = shape[run.axis]
    symbolic = isinstance(run.length, Dimension) or isinstance(size, Dimension)
    if run.length != size if symbolic else 0 < run.length < size:
        first: Any = run.start + (run.length - 1) * run.step if run.step < 0 else run.start
        if isinstance(first, Dimension):
            first = scalar_array(first, np.dtype(np.int64))
        yield _Component(run.axis, first, ())


def _counted(length: Any) -> Any:
    # What a program makes, where the length is not known before it runs.
    symbolic = isinstance(length, Dimension)
    return broadcasted_iota(np.int64, (length,), 0) if symbolic else np.arange(length)


def _assembled(
    items: Sequence[Item], shape: Shape, layout: _Layout, components: Sequence[_Component]
) -> Indexer:
    positions = [item for item in items if isinstance(item, Positions)]
    many = [item for item in positions if item.shape]
    one_mask = len({item.place for item in many}) <= 1 and all(item.sole for item in many)
    windows = {run.axis: run.length for run in items if isinstance(run, Run) and _is_window(run)}
    axes = range(len(shape))
    numbers = GatherDimensionNumbers(
        tuple(layout.windows),
        tuple([axis for axis in axes if axis not in windows]),
        tuple([component.axis for component in components]),
    )
    count = math.prod(layout.batch)
    single = not isinstance(count, Dimension) and count <= 1
    return Indexer(
        indices=_index_vectors(components, tuple(layout.batch), shape),
        numbers=numbers,
        slice_sizes=tuple([windows.get(axis, 1) for axis in axes]),
        gathered=tuple(layout.sizes),
        reverse=tuple(layout.reverse),
        new_axes=tuple(layout.new_axes),
        empty=any(item.axis is not None and shape[item.axis] == 0 for item in positions),
        unique=single or one_mask,
        is_sorted=single,
    )


def _index_dtype(sizes: Sequence[int]) -> DType:
    small = all(not isinstance(size, Dimension) and size < 2**31 - 1 for size in sizes)
    return np.dtype(np.int32 if small else np.int64)


def _normalized(value: Any, size: int, wrap: bool) -> Any:
    """Positions in the dtype of indices, counted from the start; -1 or the size is out of bounds.

    Those that are far out are brought near, so that no position changes as the dtype does.
    """
    dtype = _index_dtype([size])
    if isinstance(value, Dimension) or isinstance(size, Dimension):
        value = convert(value, dtype, False)  # a value of the program, as the size is
    elif not isinstance(value, Tracer):
        wide = np.asarray(value)
        if wide.dtype.kind == "u" and wide.dtype.itemsize == 8:
            wide = np.minimum(wide, np.uint64(size))
        elif wide.dtype == object:  # a Python integer of more than 64 bits
            wide = np.asarray(min(max(int(value), -size - 1), size))
        wide = wide.astype(np.int64)
        if wrap:
            wide = np.where(wide < 0, wide + size, wide)
        return np.clip(wide, -1, size).astype(dtype)
    aval = typeof(value)
    signed = dtypes.kind_of(aval.dtype) == "signed integer"
    value = wrap_index(value, size) if wrap else widened(value)
    own = typeof(value).dtype
    if own.itemsize > dtype.itemsize or (not signed and aval.dtype.itemsize >= 4):
        low = scalar_array(-1 if signed else 0, own)
        value = clamp_p.bind(low, value, scalar_array(size, own))
    return convert(value, dtype, False)


def _index_vectors(components: Sequence[_Component], batch: Shape, shape: Shape) -> Any:
    dtype = _index_dtype(shape)
    if not components:
        return np.zeros((*batch, 0), dtype)
    if not any(isinstance(component.value, Tracer) for component in components):
        columns = [_concrete_column(component, batch, dtype) for component in components]
        return np.stack(columns, axis=-1)
    traced = [_traced_column(component, batch, dtype) for component in components]
    if len(traced) == 1:
        return traced[0]
    return concatenate_p.bind(*traced, dimension=len(batch))


def _concrete_column(component: _Component, batch: Shape, dtype: DType) -> NumPyArray:
    value = np.asarray(component.value, dtype)
    sizes = [1] * len(batch)
    for axis, size in zip(component.batch_axes, value.shape, strict=True):
        sizes[axis] = size
    return np.broadcast_to(value.reshape(sizes), batch)


def _traced_column(component: _Component, batch: Shape, dtype: DType) -> Any:
    if not isinstance(component.value, Tracer):
        return _concrete_column(component, batch, dtype)[..., None]
    return broadcast_in_dim_p.bind(
        convert(component.value, dtype, False),
        shape=(*batch, 1),
        broadcast_dimensions=component.batch_axes,
    )
