"""Errors of exported programs and of their dimensions."""

from __future__ import annotations

from bindax_core.errors import BindaxError


class InconclusiveDimensionOperation(BindaxError, TypeError):
    """An operation on a symbolic dimension that has no answer for all of its values."""


class ExportError(BindaxError, ValueError):
    """A program that cannot be exported, or a call that an exported program does not accept."""


class ContainerKeyError(BindaxError, TypeError):
    """A dictionary with a key that files cannot hold."""


class FormatError(ExportError):
    """A file that holds no exported program which this version can read.

    >>> from bindax_export import deserialize
    >>> try:
    ...     deserialize(b"no program")
    ... except FormatError:
    ...     print("not a program")
    not a program
    """
