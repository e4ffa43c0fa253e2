"""Places in the source: where something was declared, and which files' frames are hidden."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import NamedTuple, Protocol

_IN_FUNCTION = 1  # inspect.CO_OPTIMIZED


class Site(NamedTuple):
    """A module, file and line; which distribution they belong to is found when somebody asks.

    >>> site = Site("bindax_mine.plugin", "plugin.py", 3)
    >>> str(site)
    'bindax_mine.plugin:3'
    """

    module: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


def caller_site(depth: int = 1) -> Site:
    """The site of the call ``depth`` frames above the function that asks.

    >>> def declare(name):
    ...     return name, caller_site().line
    >>> declare("tanh")  # the line of this call
    ('tanh', 1)
    """
    frame = sys._getframe(depth + 1)
    return Site(frame.f_globals.get("__name__", "?"), frame.f_code.co_filename, frame.f_lineno)


class Statement(NamedTuple):
    """A statement of a module that runs now: the code of one run of the module, and a line of it.

    A reload, and a cell of a notebook that is run again, have code of their own.
    """

    code: CodeType | None
    line: int
    is_main: bool


def running_statement() -> Statement:
    """The innermost statement outside of functions that the caller of the caller is in."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_flags & _IN_FUNCTION:
        frame = frame.f_back
    if frame is None:  # in a thread
        return Statement(None, 0, False)
    return Statement(frame.f_code, frame.f_lineno, frame.f_globals.get("__name__") == "__main__")


class _Declared(Protocol):
    """A declaration of a module, with its place and statement."""

    site: Site
    statement: Statement


def is_declared_again(old: _Declared, new: _Declared) -> bool:
    """Tell whether a module that declared something has run again, and not declared it twice.

    It was reloaded, or a cell of a notebook was run twice. A function of a script or a notebook
    that declares something may be called again.
    """
    here, there = new.statement, old.statement
    is_factory = here.is_main and old.site == new.site
    is_same_run = here.code is not None and here.code is there.code
    is_new = not is_same_run or here.line == there.line or is_factory
    return old.site.module == new.site.module and is_new


def absolute_path(path: str) -> str:
    """The absolute form of a path; the path itself where the working directory is deleted."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        return path


# --------------------------------------- files of bindax, and of plugins that ask for it

_internal_directories: list[str] = []
internal_files: set[str] = set()  # by file: a code object takes long to hash
_other_files: set[str] = set()


def register_internal(file: str) -> None:
    """Hide the frames of a package in tracebacks and source locations.

    Args:
        file: the ``__file__`` of the package's ``__init__`` module.

    >>> import os
    >>> register_internal("bindax_mine/__init__.py")  # in the package: register_internal(__file__)
    >>> is_internal(compile("0", os.path.abspath("bindax_mine/helpers.py"), "exec"))
    True
    """
    directory = os.path.dirname(os.path.abspath(file)) + os.sep
    if directory not in _internal_directories:
        _internal_directories.append(directory)
        _other_files.clear()


def is_internal(code: CodeType) -> bool:
    """Tell whether a code object belongs to bindax or to a plugin that hides its frames.

    >>> import json
    >>> is_internal(is_internal.__code__), is_internal(json.dumps.__code__)
    (True, False)
    """
    return is_internal_file(code.co_filename)


def is_internal_file(file: str) -> bool:
    """Tell whether a file belongs to bindax or to a plugin that hides its frames."""
    if file not in internal_files and file not in _other_files:
        files = internal_files if file.startswith(tuple(_internal_directories)) else _other_files
        if len(files) >= 4096:  # a notebook's cells are files, too
            files.clear()
        files.add(file)
    return file in internal_files
