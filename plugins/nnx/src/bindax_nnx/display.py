"""Objects, states and variables as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_nnx.object import Object
from bindax_nnx.state import State
from bindax_nnx.variables import Variable


def describe(value: Any) -> str:
    """A value and all below it as text, one attribute on a line.

    What appears a second time is shown by its type and ``<shared>``.
    """
    return _text(value, "", set())


def display(*values: Any) -> None:
    """Print objects, states and variables with all below them.

    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    >>> display(Scale())
    Scale(
      factor=Param(
        value=2.0
      )
    )
    """
    for value in values:
        print(describe(value))  # noqa: T201 -- it is what it is for


def _text(value: Any, indent: str, open_: set[int]) -> str:
    if isinstance(value, (Object, Variable)):
        if id(value) in open_:
            return f"{type(value).__name__}(<shared>)"
        open_.add(id(value))
    if isinstance(value, Variable):
        return repr(value).replace("\n", f"\n{indent}")
    if isinstance(value, Object):
        shown = sorted(value.__dict__.items(), key=lambda item: item[0])
        pairs = [f"{name}={_text(x, indent + '  ', open_)}" for name, x in shown]
        return _block(f"{type(value).__name__}(", pairs, ")", indent)
    if isinstance(value, State):
        pairs = [f"{k!r}: {_text(x, indent + '  ', open_)}" for k, x in value.items()]
        return _block("State({", pairs, "})", indent)
    if type(value) in (list, tuple) and any(isinstance(x, (Object, Variable)) for x in value):
        left, right = "[]" if type(value) is list else "()"
        return _block(left, [_text(x, indent + "  ", open_) for x in value], right, indent)
    if type(value) is dict and any(isinstance(x, (Object, Variable)) for x in value.values()):
        pairs = [f"{k!r}: {_text(x, indent + '  ', open_)}" for k, x in value.items()]
        return _block("{", pairs, "}", indent)
    return repr(value).replace("\n", f"\n{indent}")


def _block(start: str, lines: Iterable[str], end: str, indent: str) -> str:
    text = ",\n".join(f"{indent}  {line}" for line in lines)
    return f"{start}\n{text}\n{indent}{end}" if text else f"{start}{end}"
