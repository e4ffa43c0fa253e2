"""Access to the forms of values: a base class, a wrapper and ``display``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from bindax_text.display.notebook import html_of
from bindax_text.display.parts import Parts, tree_parts
from bindax_text.display.plain import describe, type_text
from bindax_text.display.terminal import rich_of

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree


class Displayed:
    """Base of classes whose instances are shown with their parts, wherever they are shown.

    >>> class Point(Displayed):
    ...     def __bindax_parts__(self):
    ...         return Parts("Point(", [("x=", 1.5)], ")")
    >>> Point()
    Point(
      x=1.5
    )
    """

    __slots__ = ()

    def __bindax_parts__(self) -> Parts:
        """Return what the value is shown with."""
        raise TypeError(f"{type(self).__name__} must define __bindax_parts__, to be shown.")

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich__(self) -> Tree | Text:
        return rich_of(self)


class View:
    """A value of any kind that notebooks and ``rich`` show by its parts, such as a pytree.

    Args:
        value: an array, a pytree, a module, or a container of these.

    >>> import numpy as np
    >>> View({"w": np.ones((2, 3), np.float32)})
    {
      'w': Array(shape=(2, 3), dtype=float32)
    }
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def __repr__(self) -> str:
        return describe(self.value, type_text, tree_parts)

    def _repr_html_(self) -> str:
        return html_of(self.value)

    def __rich__(self) -> Tree | Text:
        return rich_of(self.value)


def display(*values: Any) -> None:
    """Show values with all below them: in a cell of a notebook folded, with pictures; else as text.

    Args:
        values: arrays, pytrees, modules, states, variables, or containers of these.

    >>> import numpy as np
    >>> display({"w": np.ones((2, 3), np.float32), "rate": 0.1})
    {
      'w': Array(shape=(2, 3), dtype=float32),
      'rate': 0.1
    }
    """
    show: Any = print
    interactive: Any = sys.modules.get("IPython")
    if interactive is not None and interactive.get_ipython() is not None:
        show = interactive.display.display
    for value in values:
        show(View(value))
