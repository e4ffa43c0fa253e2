"""Reading of types, and of the mesh that those of a program are on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.errors import JaxprTextError, JaxprTypeError, TreeError
from bindax_core.extend import AbstractValue, ExtendedDType, ShapedArray, as_extended
from bindax_core.sharding import AbstractMesh
from bindax_text._numbers import find_dtype
from bindax_text._placed_types import (
    LETTERS,
    Entries,
    mesh_from,
    placed,
    placed_on,
    read_names,
    read_sets,
)
from bindax_text._tokens import Tokens


def at(tokens: Tokens, subject: str, function: Callable[..., Any], *args: Any, **kw: Any) -> Any:
    """Call what may raise anything, such as a plugin's code, and say in which line it did."""
    try:
        return function(*args, **kw)
    except Exception as error:
        known = isinstance(error, JaxprTextError | JaxprTypeError | TreeError)
        reason = str(error) if known else f"{type(error).__name__}: {error}"
        raise tokens.error(f"{subject}{reason:.500}") from error


class TypeReader(ABC):
    """Reads types; what is made of values is read by the reader of a whole text.

    Attributes:
        tokens: the tokens.
        mesh: the mesh that the program which is being read names, or None.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.mesh: AbstractMesh | None = None

    @abstractmethod
    def of_form(self, depth: int) -> Any:
        """Read an instance of a class that has a text form."""

    @abstractmethod
    def fields(self, closing: str, depth: int) -> dict[str, Any]:
        """Read ``name=value``, separated by commas, to the closing bracket."""

    def named_mesh(self) -> AbstractMesh:
        self.tokens.expect("[")
        return at(self.tokens, "a mesh is damaged: ", mesh_from, self.fields("]", 0))  # type: ignore[no-any-return]

    def type(self) -> AbstractValue:
        if self.tokens.next.kind == "qualified":
            found = self.of_form(0)
            if not isinstance(found, AbstractValue):
                raise self.tokens.error(f"expected a type, found a {type(found).__name__}")
            return found
        dtype, entries = self.dtype(), Entries()
        aval = ShapedArray(self.shape(entries), dtype, self.tokens.has("~"))
        has_more = self.tokens.has("{")
        if has_more and self.tokens.next.text not in LETTERS:
            return self._at_type(placed, aval, self.fields("}", 0))
        sets = read_sets(self.tokens) if has_more else {}
        if not sets and not any(entries):
            return aval
        return self._at_type(placed_on, self.mesh, aval, entries, sets)

    def _at_type(self, function: Callable[..., Any], *args: Any) -> AbstractValue:
        return at(self.tokens, "a type is damaged: ", function, *args)  # type: ignore[no-any-return]

    def shape(self, entries: Entries | None = None) -> tuple[int, ...]:
        """The sizes; to ``entries`` the mesh axes that divide each are added."""
        self.tokens.expect("[")
        shape: list[int] = []
        for _ in self.tokens.parts("]"):
            text = self.tokens.next.text
            if self.tokens.next.kind != "number" or not text.isdigit() or len(text) > 18:
                self.tokens.fail("expected the size of an axis")
            shape.append(int(self.tokens.take().text))
            if entries is not None:
                entries.append(read_names(self.tokens) if self.tokens.has("@") else ())
        return tuple(shape)

    def dtype(self) -> np.dtype[Any]:
        return self.extended().dtype if self.tokens.has("extended") else self._plain_dtype()

    def extended(self) -> ExtendedDType:
        """An extended dtype, of which the name was taken: its name, and the type of an element."""
        self.tokens.expect("(")
        name = self.tokens.take_string()
        self.tokens.expect(",")
        base, shape = self._plain_dtype(), self.shape()
        self.tokens.expect(")")
        made = at(self.tokens, "an extended dtype is damaged: ", np.dtype, [(name, base, shape)])
        found = as_extended(made)
        if not isinstance(found, ExtendedDType) or found.name != name or not shape:
            raise self.tokens.error(f"{name!r} is no extended dtype")
        return found

    def _plain_dtype(self) -> np.dtype[Any]:
        name = self.tokens.take_kind("name", "a dtype")
        found = find_dtype(name)
        if found is None:
            raise self.tokens.error(
                f"there is no dtype {name!r} here. Import the package that defines it"
            )
        return found
