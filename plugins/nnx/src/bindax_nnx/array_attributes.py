"""Notes of traversals for arrays that attributes hold without a variable."""

from __future__ import annotations

from typing import Any, TypeVar

from bindax_nnx._tokens import ARRAY
from bindax_nnx.variables import Variable, make_variable

A = TypeVar("A")


class ArrayAttribute(Variable[A]):
    """A note of a traversal: an array that an attribute holds without a variable."""

    __slots__ = ()

    def _require_context(self) -> None:
        """Accept any change: the attribute is changed, not this."""


def array_attribute(value: Any) -> Variable[Any]:
    """The note of a traversal for an array."""
    noted = make_variable(ArrayAttribute, value, {})
    object.__setattr__(noted, "_token", ARRAY)
    return noted


def content_of(x: Any) -> Any:
    """The array of an attribute that holds one without a variable; otherwise the variable."""
    return x._value if type(x) is ArrayAttribute else x
