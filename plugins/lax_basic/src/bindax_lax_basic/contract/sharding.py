"""The sharding rule of products of arrays."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Primitive, ShapedArray
from bindax_core.sharding import PartitionSpec, ambiguous
from bindax_lax_basic.rules.sharding import entries, left_open, names_of

SUMMED = "is ambiguous: Contracting dimensions are sharded in both operands"
BATCHED = "requires lhs batch dimensions and rhs batch dimensions to have the same sharding"
OPEN = "cannot leave its sum open: lhs and rhs contracting dims should be sharded identically"
SUMS = "takes no sums: lhs or rhs passed to dot_general cannot be unreduced"


def dot_sharding(
    primitive: Primitive,
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    dimension_numbers: tuple[Any, Any],
    **params: Any,
) -> Any:
    """The ``sharding`` rule of ``dot_general``; the results of reduced operands are not reduced."""
    left, right = entries(lhs), entries(rhs)
    contracted, batched = dimension_numbers
    if lhs.sharding.spec.unreduced or rhs.sharding.spec.unreduced:
        raise ambiguous(primitive, SUMS, [lhs, rhs])
    terms: tuple[Any, ...] = ()
    for i, j in zip(*contracted, strict=True):
        if left_open(left[i]) or left_open(right[j]):
            if left[i] != right[j]:
                raise ambiguous(primitive, OPEN, [lhs, rhs])
            terms += names_of(left[i])
        elif left[i] and right[j]:
            raise ambiguous(primitive, SUMMED, [lhs, rhs])
    pairs = [(left[i], right[j]) for i, j in zip(*batched, strict=True)]
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise ambiguous(primitive, BATCHED, [lhs, rhs])
    used = [{*summed, *own} for summed, own in zip(contracted, batched, strict=True)]
    ours = [entry for i, entry in enumerate(left) if i not in used[0]]
    theirs = [entry for j, entry in enumerate(right) if j not in used[1]]
    found = (*[a or b for a, b in pairs], *ours, *theirs)
    return PartitionSpec(*found, unreduced=terms) if terms else found
