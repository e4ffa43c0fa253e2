"""The errors of this backend, and how those of XLA are put into words."""

from __future__ import annotations

from bindax_core.errors import OutOfMemoryError, clause
from bindax_core.extend import BackendError

FORKED = (
    "this process was forked after XLA had started its threads, which it lacks, so it can compile "
    "and run nothing with XLA. Functions of jit are interpreted here; start processes with "
    'multiprocessing.get_context("spawn") or "forkserver" to have them compiled.'
)


class InstallationError(BackendError, ImportError):
    """``jaxlib`` does not import."""

    @classmethod
    def because_of(cls, error: Exception) -> InstallationError:
        """The error for what ``jaxlib`` raised."""
        from importlib.metadata import requires  # slow, and seldom needed

        needed = next(one for one in requires("bindax-xla-backend") or () if "jaxlib" in one)
        return cls(
            f"the backend 'xla' needs jaxlib, which does not import: {type(error).__name__}: "
            f"{clause(error)}. Install it again: pip install --force-reinstall '{needed}'."
        )


class UnsupportedTypeError(BackendError, TypeError):
    """XLA has no type for an abstract value."""


class LoweringError(BackendError, TypeError):
    """A lowering rule built something that is wrong."""


class CompilationError(BackendError):
    """XLA rejected a program."""


class ExecutionError(BackendError):
    """A compiled program failed while it ran."""


class AllocationError(ExecutionError, OutOfMemoryError):
    """A device had no memory left for a value of a program."""


class ProcessLostError(ExecutionError):
    """A program of several processes failed: one of them is gone, or runs another program."""


class ArgumentError(BackendError, TypeError):
    """An argument does not have the type that a program was compiled for."""


class CallbackResultError(BackendError, TypeError):
    """A host callback returned something else than it had announced."""


def excerpt(text: str, count: int = 6) -> str:
    r"""Both ends of a message of XLA, which can be thousands of lines.

    >>> excerpt("a\nb\nc\nd", count=1)
    'a\n... (2 more lines)\nd'
    """
    lines = text.strip().splitlines()
    if len(lines) <= 2 * count:
        return "\n".join(lines)
    left_out = f"... ({len(lines) - 2 * count} more lines)"
    return "\n".join([*lines[:count], left_out, *lines[-count:]])
