"""Sums that are still to be added up: how primitives take them, and what has such cotangents.

A value is *unreduced* along mesh axes where devices hold terms of it. Linear primitives hand that
on. The cotangent of a value that is *reduced* along an axis, of which devices hold copies, is
unreduced there, and the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.arrays.sharding._ambiguity import listed
from bindax_core.arrays.sharding._types import NO_MANUAL_AXES
from bindax_core.errors import ShardingTypeError, UnreducedError

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
    found = frozenset().union(*(reduced for _, reduced in pairs))
    _check_partners(primitive, avals, [reduced for _, reduced in pairs], found)
    return NONE, found


def _of(aval: Any) -> tuple[Names, Names]:
    if not getattr(aval, "is_divided", False):
        return NONE, NONE
    spec = aval.sharding.spec
    return spec.unreduced, spec.reduced


def manual_sums_of(primitive: Primitive, linear: Any, avals: Sequence[Any]) -> tuple[Names, Names]:
    """The same along manual axes; along these a reduced value goes with one that varies."""
    mats = [getattr(aval, "mat", None) or NO_MANUAL_AXES for aval in avals]
    pairs = [(mat.unreduced, mat.reduced) for mat in mats]
    unreduced, found = NONE, frozenset().union(*(reduced for _, reduced in pairs))
    varying = frozenset().union(*(mat.varying for mat in mats))
    if any(unreduced for unreduced, _ in pairs):
        unreduced = _unreduced(primitive, linear, avals, pairs)
        if unreduced & varying:
            raise _refused(primitive, "an operand varies along the axes of an unreduced one", avals)
    elif found:
        own = [mat.reduced | mat.varying for mat in mats]
        _check_partners(primitive, avals, own, found)
    return unreduced, found - varying - unreduced


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
        problem = (
            f"lhs or rhs passed to {primitive.name} cannot be unreduced: it is not linear, so "
            f"there is no unreduced rule for {primitive.name}"
        )
        raise UnreducedError(str(_refused(primitive, problem, avals)))
    found = {pairs[i][0] for i in taken}
    if NONE in found:
        raise _refused(primitive, "lhs is unreduced while rhs is not, or rhs is alone", avals)
    if len(found) > 1:
        problem = f"lhs and rhs to `{primitive.name}` must be unreduced along the same mesh axes"
        raise _refused(primitive, problem, avals)
    return found.pop()


def _check_partners(
    primitive: Primitive, avals: Sequence[Any], own: Sequence[Names], found: Names
) -> None:
    """Raise unless all operands go with those that are reduced along some axes."""
    for aval, names in zip(avals, own, strict=True):
        if found <= names or not aval.ndim or aval.dtype.kind == "b":
            continue  # booleans have no cotangents
        if found.intersection(aval.sharding.spec.names):
            problem = (
                "Inputs cannot be sharded/varying on the same axes that another input is reduced on"
            )
        else:
            problem = (
                "Inputs cannot be replicated on the same axes that another input is reduced on"
            )
        raise _refused(primitive, problem, avals)


def _refused(primitive: Primitive, problem: str, avals: Sequence[Any]) -> ShardingTypeError:
    return ShardingTypeError(
        f"{primitive.name}: {problem}: {listed(avals)}. Add unreduced values up by reshard, or "
        f"have both operands alike."
    )
