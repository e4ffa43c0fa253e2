"""The place in a package's source where something was declared."""

from __future__ import annotations

import os
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


def absolute_path(path: str) -> str:
    """The absolute form of a path; the path itself where the working directory is deleted."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        return path
