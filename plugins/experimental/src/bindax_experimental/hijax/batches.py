"""The axis of a batch: what ``batch`` rules are given, and what they are written with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import tree_map


@dataclass(frozen=True)
class AxisData:
    """The axis that a ``batch`` rule maps over.

    Attributes:
        size: the number of elements.
    """

    size: int


def unmap_avals(axis_data: AxisData, avals: Any, dims: Any) -> Any:
    """The types of batches, from those of their elements.

    Args:
        axis_data: the axis.
        avals: a pytree of types.
        dims: where each has the axis, None for not at all, in the same structure.

    >>> import numpy as np
    >>> from bindax_core.extend import typeof
    >>> unmap_avals(AxisData(4), [typeof(np.ones((2, 3), np.float32))], [1])[0].shape
    (2, 4, 3)
    """
    _require_axis("unmap_avals", axis_data)
    return tree_map(lambda aval, dim: unmapped(axis_data.size, aval, dim), avals, dims)


def bdims_at_front(axis_data: AxisData, args: Any, dims: Any) -> Any:
    """Batches with the axis in front; what has none is repeated.

    Args:
        axis_data: the axis.
        args: a pytree of arrays.
        dims: where each has the axis, None for not at all, in the same structure.

    >>> import bindax_numpy as jnp
    >>> x, y = bdims_at_front(AxisData(2), (jnp.ones((3, 2)), jnp.ones(3)), (1, None))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    _require_axis("bdims_at_front", axis_data)

    def moved(x: Any, dim: int | None) -> Any:
        if dim is None:
            return jnp.broadcast_to(x, (axis_data.size, *jnp.shape(x)))
        return jnp.moveaxis(x, dim, 0)

    return tree_map(moved, args, dims)


def _require_axis(function: str, axis_data: Any) -> None:
    if not hasattr(axis_data, "size") or np.ndim(axis_data.size):
        raise TypeError(
            f"{function}: axis_data is the AxisData that a batch rule is given, but got "
            f"{axis_data!r:.60}."
        )


def unmapped(size: int, aval: Any, dim: int | None) -> Any:
    """The type of a batch, from that of an element.

    Raises:
        TypeError: it is no type of an array, or the axis is no integer.
    """
    if dim is None:
        return aval
    if not hasattr(aval, "update") or not hasattr(aval, "shape"):
        raise TypeError(f"unmap_avals: avals are types of arrays, but one is {aval!r:.60}.")
    if not isinstance(dim, int):
        raise TypeError(f"unmap_avals: dims are integers or None, but one is {dim!r:.60}.")
    return aval.with_axis(dim, size)
