"""Supply the forms of arrays that notebooks and ``rich`` ask for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MethodType
from typing import Any

from bindax_core import config
from bindax_core.extend import hookimpl
from bindax_text.display.notebook import html_of
from bindax_text.display.terminal import rich_of


def _html_form(self: Any) -> MethodType:
    """The method that gives the HTML of an array; JAX's arrays have none.

    Packages written for JAX show arrays in their own way, and one that has HTML of its own by that.
    """
    if config.conventions == "jax":
        raise AttributeError("arrays have no _repr_html_ by JAX's conventions.")
    return MethodType(html_of, self)


@hookimpl
def bindax_array_attributes() -> Mapping[str, Any]:
    """The methods of arrays and tracers."""
    return {"_repr_html_": property(_html_form), "__rich__": rich_of}
