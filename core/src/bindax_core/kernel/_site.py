"""The place in a package's source where something was declared."""

from __future__ import annotations

import sys
from typing import NamedTuple


class Site(NamedTuple):
    """A module, file and line; which distribution they belong to is found when somebody asks."""

    module: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


def caller_site(depth: int = 1) -> Site:
    """The site of the call ``depth`` frames above the function that asks."""
    frame = sys._getframe(depth + 1)
    return Site(frame.f_globals.get("__name__", "?"), frame.f_code.co_filename, frame.f_lineno)
