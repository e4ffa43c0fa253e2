"""Jaxprs on batches, from jaxprs on elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import ClosedJaxpr, DebugInfo, jaxpr_as_fun
from bindax_transforms._flat import broadcast_flags, cached_on_jaxpr
from bindax_transforms.batching.axis_sizes import axis_key
from bindax_transforms.batching.mapped_types import BatchDim, unmapped_aval
from bindax_transforms.batching.vmap import AxisData, move_batch_axis, vmap_flat
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr


def vmap_jaxpr(
    jaxpr: ClosedJaxpr,
    axis_size: int,
    in_dims: Sequence[BatchDim],
    instantiate: bool | Sequence[bool] = False,
) -> tuple[ClosedJaxpr, list[BatchDim]]:
    """A jaxpr on batches, from a jaxpr on elements.

    Args:
        jaxpr: a jaxpr without constants.
        axis_size: the size of the batch.
        in_dims: the batch axis of each argument, or None.
        instantiate: which results must have a batch axis even if they are the same for all.

    Returns:
        The jaxpr, and the batch axis of each result: 0, or None where it has none.

    >>> from bindax_transforms import make_jaxpr
    >>> vmap_jaxpr(make_jaxpr(lambda x, y: (x * y, y))(1.0, 1.0), 3, [0, None])
    ({ lambda a:float64[3], b:float64[] .
      let c:float64[3] = mul a b
      in ( c, b ) }, [0, None])
    """
    dims, wanted = tuple(in_dims), broadcast_flags(jaxpr, instantiate)
    key = ("vmap", *axis_key(axis_size), dims, wanted)
    return cached_on_jaxpr(jaxpr, key, lambda: _vmap_jaxpr(jaxpr, axis_size, dims, wanted))


def _vmap_jaxpr(
    jaxpr: ClosedJaxpr, axis_size: int, in_dims: tuple[BatchDim, ...], instantiate: tuple[bool, ...]
) -> tuple[ClosedJaxpr, list[BatchDim]]:
    dims_out: list[BatchDim] = []

    def function(*operands: Any) -> list[Any]:
        axis = AxisData(axis_size)
        outs, dims = vmap_flat(jaxpr_as_fun(jaxpr), axis, operands, in_dims, DebugInfo("vmap"))
        wanted = [
            0 if d is not None or force else None
            for d, force in zip(dims, instantiate, strict=True)
        ]
        dims_out.extend(wanted)
        return [
            x if w is None else move_batch_axis(axis_size, d, w, x)
            for x, d, w in zip(outs, dims, wanted, strict=True)
        ]

    in_avals = [
        unmapped_aval(axis_size, d, aval) for d, aval in zip(in_dims, jaxpr.in_avals, strict=True)
    ]
    return trace_to_jaxpr(function, in_avals, DebugInfo("vmap")), dims_out
