"""Values of the types and with the batch axes that programs take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import operations_for, typeof
from bindax_lax_basic import broadcast_in_dim


def converted(values: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """Values of the given dtypes, weak or not, which those of another one are converted to."""
    return [
        x if typeof(x) == aval else operations_for(aval).convert(x, aval.dtype, aval.weak_type)
        for x, aval in zip(values, avals, strict=True)
    ]


def batch_in_front(axis_size: int, x: Any, dim: int | None) -> Any:
    """A batch along the first axis; a value without batch axis is repeated."""
    if dim == 0:
        return x
    operations = operations_for(typeof(x))
    if dim is None:
        return operations.broadcast_axis(x, axis_size, 0)
    return operations.move_axis(x, dim, 0)


def spread(flags: Any, shape: tuple[int, ...]) -> Any:
    """One flag for each element of a batch, repeated along the other axes."""
    return flags if len(shape) == 1 else broadcast_in_dim(flags, shape, (0,))
