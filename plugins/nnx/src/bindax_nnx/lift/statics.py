"""Static arguments: constants of a traced function, as parts of the structure of its arguments."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from bindax_core.tree_util import register_static


@register_static
class Static:
    """A static argument as a part of the structure; 1, 1.0 and True are different ones."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static) or type(self.value) is not type(other.value):
            return False
        return bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)


def marked(args: Sequence[Any], numbers: Container[int]) -> tuple[Any, ...]:
    """Arguments, of which those at some positions are static."""
    return tuple([Static(x) if i in numbers else x for i, x in enumerate(args)])


def unmarked(args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by position and by name, with the values of the static ones."""
    values = [x.value if type(x) is Static else x for x in (*args, *kwargs.values())]
    return values[: len(args)], dict(zip(kwargs, values[len(args) :], strict=True))
