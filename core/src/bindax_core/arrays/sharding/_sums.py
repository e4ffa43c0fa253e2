"""Sums that are still to be added up: how primitives take them, and what has such cotangents.

A value is *unreduced* along mesh axes where devices hold terms of it. Linear primitives hand that
on. The cotangent of a value that is *reduced* along an axis, of which devices hold copies, is
unreduced there, and the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.arrays.sharding._ambiguity import listed
from bindax_core.errors import ShardingTypeError

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

Names = frozenset[Any]
NONE: Names = frozenset()


def sums_of(primitive: Primitive, linear: Any, avals: Sequence[Any]) -> tuple[Names, Names]:
    """The mesh axes along which the results are unreduced, and those along which they are reduced.

    Args:
        primitive: what is applied.
        linear: in which operands it is linear: True for all of them together, ``"each"`` for each
            by itself, a tuple of positions for some together; None for none.
        avals: the types of the operands.

    Raises:
        ShardingTypeError: when the operands do not go together.
    """
    pairs = [_of(aval) for aval in avals]
    if not any(unreduced or reduced for unreduced, reduced in pairs):
        return NONE, NONE
    if any(unreduced for unreduced, _ in pairs):
        return _unreduced(primitive, linear, avals, pairs), NONE
    return NONE, _reduced(primitive, avals, pairs)


def _of(aval: Any) -> tuple[Names, Names]:
    if not getattr(aval, "is_divided", False):
        return NONE, NONE
    spec = aval.sharding.spec
    return spec.unreduced, spec.reduced


def _unreduced(
    primitive: Primitive, linear: Any, avals: Sequence[Any], pairs: Sequence[tuple[Names, Names]]
) -> Names:
    """The axes along which the results are unreduced, of operands of which some are."""
    if linear == "each":
        (first, *others) = [names for names, _ in pairs if names]
        partners = zip(avals, pairs, strict=True)
        if others or not all(
            names or not aval.ndim or first <= reduced for aval, (names, reduced) in partners
        ):
            problem = "multiplies an unreduced value by one that is not reduced along its mesh axes"
            raise _refused(primitive, problem, avals)
        return first
    taken = range(len(avals)) if linear is True else linear or ()
    if any(names and i not in taken for i, (names, _) in enumerate(pairs)):
        problem = f"lhs or rhs passed to {primitive.name} cannot be unreduced: it is not linear"
        raise _refused(primitive, problem, avals)
    found = {pairs[i][0] for i in taken if avals[i].ndim or pairs[i][0]}
    if NONE in found:
        raise _refused(primitive, "lhs is unreduced while rhs is not, or rhs is alone", avals)
    if len(found) > 1:
        problem = f"lhs and rhs to `{primitive.name}` must be unreduced along the same mesh axes"
        raise _refused(primitive, problem, avals)
    return found.pop()


def _reduced(
    primitive: Primitive, avals: Sequence[Any], pairs: Sequence[tuple[Names, Names]]
) -> Names:
    """The axes along which the results are reduced, of operands of which some are."""
    found: Names = frozenset().union(*(reduced for _, reduced in pairs))
    for aval, (_, reduced) in zip(avals, pairs, strict=True):
        if reduced == found or not aval.ndim:
            continue
        names = {name for axes in aval.sharding.spec.axes for name in axes}
        if names & found:
            problem = (
                "Inputs cannot be sharded/varying on the same axes that another input is reduced on"
            )
        else:
            problem = (
                "Inputs cannot be replicated on the same axes that another input is reduced on"
            )
        raise _refused(primitive, problem, avals)
    return found


def _refused(primitive: Primitive, problem: str, avals: Sequence[Any]) -> ShardingTypeError:
    return ShardingTypeError(
        f"{primitive.name}: {problem}: {listed(avals)}. Add unreduced values up by reshard, or "
        f"have both operands alike."
    )
