"""A griffe extension: the examples in docstrings become blocks of code on the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from griffe import Extension, Object

PROMPT = re.compile(r"( *)>>> ")


def fenced(text: str) -> str:
    """Return a docstring whose examples stand between fences."""
    return "\n".join(_fenced_lines(text.splitlines()))


def _fenced_lines(lines: list[str]) -> Iterator[str]:
    indent: str | None = None  # of the example that the line is part of
    for line in lines:
        prompt = PROMPT.match(line)
        if indent is None and prompt:
            indent = prompt[1]
            yield f"{indent}```pycon"
        elif indent is not None and not line.strip():
            yield f"{indent}```"
            indent = None
        yield line
    if indent is not None:
        yield f"{indent}```"


class Examples(Extension):
    """Fences the examples of every object that griffe reads."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
