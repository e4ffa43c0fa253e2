"""Types in place of arrays, where a function is traced and nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    AbstractValue,
    Tracer,
    admitted_type,
    bound_shardings,
    tree_map,
)
from bindax_core.sharding import named


class AbstractArgument(Tracer):
    """Stands for an argument of which only the type is known, and perhaps where it is to lie."""

    __slots__ = ("aval", "sharding")

    aval: Any  # a slot, in place of the property of the base

    def __init__(self, aval: Any, sharding: Any = None) -> None:
        self.aval = aval
        self.sharding = sharding


def abstract_arguments(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call, with stand-ins for those of which only the type is given."""
    return tree_map(_stand_in, (args, kwargs))  # type: ignore[no-any-return]


def _stand_in(x: Any) -> Any:
    if not isinstance(x, AbstractValue):
        return x
    given = getattr(x, "placement", None)
    if given is None:
        return AbstractArgument(admitted_type(x))
    sharding = named(given, "ShapeDtypeStruct: sharding")
    sharding.check(x.shape, "ShapeDtypeStruct: the array")  # type: ignore[attr-defined]
    return AbstractArgument(admitted_type(x), sharding)


def shardings_of_operands(operands: Sequence[Any]) -> list[Any] | None:
    """For each operand the sharding that it is bound to or stands for, or None; None if all are."""
    found = bound_shardings(operands) or [None] * len(operands)
    found = [
        x.sharding if isinstance(x, AbstractArgument) else sharding
        for x, sharding in zip(operands, found, strict=True)
    ]
    return found if any(found) else None
