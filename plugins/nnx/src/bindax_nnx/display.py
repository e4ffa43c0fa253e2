"""Objects, states and variables on the screen."""

from __future__ import annotations

from typing import Any

from bindax_nnx._text import describe


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
