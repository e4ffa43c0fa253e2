"""Named axes, for operations across the elements of a batch, or across devices.

An axis takes part in a program as a value: the index of each element along it, which is mapped by
the ``vmap`` that names the axis. An operation across the axis takes the index as an operand, so it
reaches that ``vmap`` through whatever stands between, and programs that use the axis close over it
like over any other outer value. A transformation that stages one jaxpr for many devices names
axes too: there the index is an argument of the jaxpr.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import (
    MainTrace,
    Primitive,
    ShapedArray,
    as_array,
    full_raise,
    primitive,
    rules,
    trace_state,
)
from bindax_transforms.batching.vmap import AxisData, BatchTrace, BatchTracer


class NamedAxis(NamedTuple):
    """An axis that a transformation around the caller names.

    Attributes:
        name: its name.
        size: its number of elements.
        index: a scalar int32, the position of each element along it: mapped by the ``vmap`` that
            names the axis, or an argument of the jaxpr that is staged for many devices.
        mesh: the names and sizes of the axes of all these devices; None under ``vmap``.
    """

    name: Any
    size: int
    index: Any
    mesh: tuple[tuple[Any, int], ...] | None = None


class _Staged(threading.local):
    """The axes of jaxprs that are being staged for many devices, the outermost first."""

    axes: tuple[NamedAxis, ...] = ()


_staged = _Staged()


@contextmanager
def name_axes(axes: Sequence[NamedAxis]) -> Iterator[None]:
    """Name axes inside a block, in which a jaxpr with their indices as arguments is staged.

    Args:
        axes: the axes; ``index`` is the tracer of the argument.

    >>> from bindax_core.extend import DebugInfo, ShapedArray
    >>> from bindax_transforms import trace_to_jaxpr
    >>> def function(index, x):
    ...     with name_axes([NamedAxis("devices", 8, index)]):
    ...         return [x + find_named_axis("devices", "example").index]
    >>> scalar = ShapedArray((), np.int32)
    >>> trace_to_jaxpr(function, [scalar, scalar], DebugInfo("example"))
    { lambda a:int32[], b:int32[] .
      let c:int32[] = add b a
      in ( c ) }
    """
    before = _staged.axes
    _staged.axes = (*before, *axes)
    try:
        yield
    finally:
        _staged.axes = before


def device_axes() -> dict[Any, NamedAxis]:
    """The axes of meshes along which the program that is being staged is that of one device.

    They are those of ``shard_map`` around the caller, the outermost first.

    >>> device_axes()
    {}
    """
    return {axis.name: axis for axis in _staged.axes if axis.mesh is not None}


def find_named_axis(name: Any, operation: str) -> NamedAxis:
    """The innermost axis of a name.

    A jaxpr that is being staged inside the axis closes over its index from here on, whether it
    uses the index or the size alone: it is not used again where the axis has another size.

    Args:
        name: what ``vmap(axis_name=...)`` was given.
        operation: the caller, for the message.

    Raises:
        NameError: when nothing around the caller gives this name; the message lists those that
            are given.

    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x + find_named_axis("i", "example").index, axis_name="i")(np.zeros(3))
    Array([0., 1., 2.], dtype=float64)
    """
    for level, axis in reversed(_named()):
        if axis.name == name:
            if isinstance(axis, NamedAxis):
                return axis._replace(index=_where_staged(axis.index, level))
            return NamedAxis(name, int(axis.size), _index(trace_state.stack[level], axis))
    bound = ", ".join(f"{name!r} (of size {size})" for name, size in bound_axes().items())
    listed = f"there is {bound}" if bound else "none is"
    raise NameError(
        f"{operation}: no axis is named {name!r} here; {listed}. Name one by "
        f"vmap(..., axis_name=...) or shard_map around the function that uses it."
    )


def bound_axes() -> dict[Any, int]:
    """The named axes around the caller with their sizes, the outermost first.

    >>> bound_axes()
    {}
    """
    return {axis.name: int(axis.size) for _, axis in _named()}


def _named() -> list[tuple[int, AxisData | NamedAxis]]:
    """The named axes with the levels of their traces, the outermost first."""
    found: list[tuple[int, AxisData | NamedAxis]] = [
        (main.level, main.global_data)
        for main in trace_state.stack
        if issubclass(main.trace_type, BatchTrace) and main.global_data.name is not None
    ]
    if _staged.axes:
        found += [(axis.index._trace.main.level, axis) for axis in _staged.axes]
        found.sort(key=lambda pair: pair[0])
    return found


def _index(main: MainTrace, axis: AxisData) -> Any:
    # A rule that runs late enters the vmap anew: the index of the ended trace is of no use there.
    if axis.index is None or axis.index._trace is not main.trace:
        positions = as_array(np.arange(axis.size, dtype=np.int32))
        axis.index = BatchTracer(main.trace, positions, 0)
    return _where_staged(axis.index, main.level)


def _where_staged(index: Any, level: int) -> Any:
    """An index as a jaxpr that is being staged inside its axis sees it."""
    dynamic = trace_state.dynamic
    return index if dynamic is None or dynamic.level < level else full_raise(dynamic.trace, index)


class _AxisIndexPrimitive(Primitive):
    """Its application is the index of the axis that has the name where it is evaluated."""

    __slots__ = ()

    def bind(self, *operands: Any, axis_name: Any, axis_size: int) -> Any:
        axis = find_named_axis(axis_name, "axis_index")
        if axis.size != axis_size:
            raise ValueError(
                f"a jaxpr that was made for an axis {axis_name!r} of size {axis_size} is evaluated "
                f"where that axis has the size {axis.size}. Give make_jaxpr this size in axis_env."
            )
        return axis.index


axis_index_p: Primitive = primitive(
    "axis_index",
    rules.abstract_eval(lambda **params: ShapedArray((), np.int32)),
    *(
        kind.absent("its application is an index, to whatever evaluates it")
        for kind in (rules.impl, rules.jvp, rules.vmap, rules.transpose)
    ),
    rules.lowering["stablehlo"].absent("its application is an index, to whatever evaluates it"),
    type=_AxisIndexPrimitive,
)
"""The index along an axis that is named where the program is evaluated, in jaxprs that were made by
``make_jaxpr(axis_env=...)``. Parameters: ``axis_name``, ``axis_size``."""


@contextmanager
def name_axes_of(axis_env: Sequence[tuple[Any, int]]) -> Iterator[None]:
    """Name axes inside a block in which a jaxpr is staged that is evaluated where they are named.

    Args:
        axis_env: names and sizes.
    """
    trace: Any = None if trace_state.dynamic is None else trace_state.dynamic.trace
    places = [{"axis_name": name, "axis_size": int(size)} for name, size in axis_env]
    indices = [trace.record(axis_index_p, [], place)[0] for place in places]
    pairs = zip(axis_env, indices, strict=True)
    with name_axes([NamedAxis(name, int(size), index) for (name, size), index in pairs]):
        yield
