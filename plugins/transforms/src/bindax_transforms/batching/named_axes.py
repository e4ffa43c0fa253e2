"""Named axes of ``vmap``, for operations across the elements of a batch.

An axis takes part in a program as a value: the index of each element along it, which is mapped by
the ``vmap`` that names the axis. An operation across the axis takes the index as an operand, so it
reaches that ``vmap`` through whatever stands between, and programs that use the axis close over it
like over any other outer value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import MainTrace, as_array, full_raise, trace_state
from bindax_transforms.batching.vmap import AxisData, BatchTrace, BatchTracer


class NamedAxis(NamedTuple):
    """An axis that a ``vmap`` around the caller names.

    Attributes:
        name: its name.
        size: its number of elements.
        index: a scalar int32, the position of each element along it: mapped by that ``vmap``.
    """

    name: Any
    size: int
    index: Any


def find_named_axis(name: Any, operation: str) -> NamedAxis:
    """The innermost axis of a name.

    A program that is being staged inside the axis closes over its index from here on, whether it
    uses the index or the size alone: it is not used again where the axis has another size.

    Args:
        name: what ``vmap(axis_name=...)`` was given.
        operation: the caller, for the message.

    Raises:
        NameError: when no ``vmap`` around the caller gives this name; the message lists those that
            do.

    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x + find_named_axis("i", "example").index, axis_name="i")(np.zeros(3))
    Array([0., 1., 2.], dtype=float64)
    """
    for main in reversed(_named()):
        axis: AxisData = main.global_data
        if axis.name == name:
            return NamedAxis(name, axis.size, _index(main, axis))
    raise NameError(f"{operation}: no axis is named {name!r} here; {_listed()}")


def bound_axes() -> dict[Any, int]:
    """The named axes around the caller with their sizes, the outermost first.

    >>> bound_axes()
    {}
    """
    return {main.global_data.name: main.global_data.size for main in _named()}


def _named() -> list[MainTrace]:
    return [
        main
        for main in trace_state.stack
        if issubclass(main.trace_type, BatchTrace) and main.global_data.name is not None
    ]


def _index(main: MainTrace, axis: AxisData) -> Any:
    if axis.index is None:
        positions = as_array(np.arange(axis.size, dtype=np.int32))
        axis.index = BatchTracer(main.trace, positions, 0)
    dynamic = trace_state.dynamic
    if dynamic is None or dynamic.level < main.level:
        return axis.index
    return full_raise(dynamic.trace, axis.index)


def _listed() -> str:
    bound = bound_axes()
    if not bound:
        return f"none is. {_REMEDY}"
    names = ", ".join(f"{name!r} (of size {size})" for name, size in bound.items())
    return f"there is {names}. {_REMEDY}"


_REMEDY = "Name one by vmap(..., axis_name=...) around the function that uses it."
