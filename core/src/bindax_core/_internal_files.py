"""Files whose frames are hidden: those of bindax, and of plugins that ask for it."""

from __future__ import annotations

import os
from types import CodeType

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
