"""Sharding rules that name axes, as ``einsum`` does; and that of elementwise primitives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.arrays.sharding._ambiguity import ambiguous

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

Entries = dict[Any, Any]
"""The entry of a ``PartitionSpec`` for each name of an axis."""


def named_axes(text: str) -> Callable[..., Any]:
    """The rule that names axes; see ``ShardingKind``.

    Raises:
        ValueError: when the text is not of the form ``"ij,jk->ik"``.
    """
    given, arrow, made = text.replace(" ", "").partition("->")
    operands, results = given.split(","), made.split(",")
    letters = [term.replace("...", "", 1) for term in (*operands, *results)]
    if not arrow or not all(term.isalpha() or not term for term in letters):
        raise ValueError(
            f"a sharding rule of names of axes is written as {'ij,jk->ik'!r}, with letters and "
            f"'...', but it is {text!r}."
        )

    def rule(primitive: Primitive, *avals: Any, **params: Any) -> Any:
        named = _named(primitive, operands, avals)
        found = _entries(primitive, named, set("".join(results)), avals)
        others = max(sum(type(name) is int for name in axes) for axes in named)
        specs = [tuple(map(found.get, _axes(term, others))) for term in results]
        return specs if primitive.multiple_results else specs[0]

    return rule


def _axes(term: str, others: int) -> list[Any]:
    """The name of each axis; those of ``...`` are numbers, counted from the last."""
    before, dots, after = term.partition("...")
    return [*before, *range(-others if dots else 0, 0), *after]


def _named(primitive: Primitive, terms: Sequence[str], avals: Sequence[Any]) -> list[list[Any]]:
    """The names of the axes of each operand."""
    if len(terms) != len(avals):
        raise TypeError(
            f"the sharding rule of {primitive.name} names the axes of {len(terms)} operands, but "
            f"there are {len(avals)}."
        )
    letters = [len(term.replace("...", "", 1)) for term in terms]
    return [
        _axes(term, aval.ndim - count)
        for term, count, aval in zip(terms, letters, avals, strict=True)
    ]


def _entries(
    primitive: Primitive, named: Sequence[Sequence[Any]], kept: set[str], avals: Sequence[Any]
) -> Entries:
    """The mesh axes that divide each name, in all operands."""
    found: Entries = {}
    for axes, aval in zip(named, avals, strict=True):
        for name, entry in zip(axes, aval.sharding.spec, strict=True):
            if entry is None:
                continue
            if type(name) is str and name.isupper():
                raise ambiguous(primitive, "needs its operands whole along an axis", avals)
            if name in found and type(name) is str and name not in kept:
                problem = f"sums along the axis {name!r}, which several operands have divided"
                raise ambiguous(primitive, problem, avals)
            if found.setdefault(name, entry) != entry:
                problem = f"got incompatible shardings for the axis {name!r}"
                raise ambiguous(primitive, problem, avals)
    return found


def elementwise(primitive: Primitive, *avals: Any, **params: Any) -> Any:
    """The sharding rule of elementwise primitives; operands of fewer axes are scalars."""
    entries: list[Any] = [None] * max(aval.ndim for aval in avals)
    for aval in avals:
        if aval.ndim < len(entries):
            continue
        for i, entry in enumerate(aval.sharding.spec):
            if entry is not None and entries[i] not in (None, entry):
                problem = f"got incompatible shardings for broadcasting, along axis {i}"
                raise ambiguous(primitive, problem, avals)
            entries[i] = entries[i] or entry
    if not primitive.multiple_results:
        return tuple(entries)
    plain = tuple([aval.plain() for aval in avals])
    return [tuple(entries)] * len(primitive.out_avals(plain, params))
