"""The axis of a batch: what ``batch`` rules are given, and what they are written with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    >>> unmap_avals(AxisData(4), [typeof(np.ones((2, 3), np.float32))], [1])
    [float32[2,4,3]]
    """
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

    def moved(x: Any, dim: int | None) -> Any:
        if dim is None:
            return jnp.broadcast_to(x, (axis_data.size, *jnp.shape(x)))
        return jnp.moveaxis(x, dim, 0)

    return tree_map(moved, args, dims)


def unmapped(size: int, aval: Any, dim: int | None) -> Any:
    """The type of a batch, from that of an element."""
    if dim is None:
        return aval
    return aval.update(shape=(*aval.shape[:dim], size, *aval.shape[dim:]))
