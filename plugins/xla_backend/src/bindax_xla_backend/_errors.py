"""The errors of this backend, and how those of XLA are put into words."""

from __future__ import annotations

from bindax_core.extend import BackendError


class UnsupportedTypeError(BackendError, TypeError):
    """XLA has no type for an abstract value."""


class LoweringError(BackendError, TypeError):
    """A lowering rule built something that is wrong."""


class CompilationError(BackendError):
    """XLA rejected a program."""


class ExecutionError(BackendError):
    """A compiled program failed while it ran."""


class ArgumentError(BackendError, TypeError):
    """An argument does not have the type that a program was compiled for."""


class CallbackResultError(BackendError, TypeError):
    """A host callback returned something else than it had announced."""


def first_lines(text: str, count: int = 12) -> str:
    """The start of a message of XLA, which can be thousands of lines."""
    lines = text.strip().splitlines()
    if len(lines) <= count:
        return "\n".join(lines)
    return "\n".join([*lines[:count], f"... ({len(lines) - count} more lines)"])
