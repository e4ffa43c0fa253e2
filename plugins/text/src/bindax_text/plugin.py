"""Supply the forms of arrays that notebooks and ``rich`` ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bindax_core.extend import hookimpl
from bindax_text.display.notebook import html_of
from bindax_text.display.terminal import rich_of


@hookimpl
def bindax_array_attributes() -> Mapping[str, Any]:
    """The methods of arrays and tracers."""
    return {"_repr_html_": html_of, "__rich__": rich_of}
