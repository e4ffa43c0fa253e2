"""The errors of this backend, and what is read from the diagnostics of its compiler."""

from __future__ import annotations

import re

from bindax_core.errors import clause
from bindax_core.extend import BackendError


class InstallationError(BackendError, ImportError):
    """A package of IREE does not import."""


class CompilationError(BackendError, TypeError):
    """A program cannot be compiled: IREE or this backend lacks an operation or a dtype."""


class ExecutionError(BackendError):
    """A compiled program failed while it ran."""


_PRIMITIVE = re.compile(r'loc\("jit\([^"]*/(?P<name>[^"/]+)"')
_ERROR = re.compile(r"error: (?P<text>.*)")


def compilation_error(name: str, what: str, diagnostics: str) -> CompilationError:
    """The error for a program that IREE rejected, from the text that its compiler printed."""
    lines = [match["text"] for match in _ERROR.finditer(diagnostics)]
    found = next(filter(None, map(_PRIMITIVE.search, lines)), None)
    primitive = "" if found is None else f" the primitive {found['name']} in"
    reason = lines[0].split(" loc(")[0] if lines else diagnostics.strip()[-300:]
    return CompilationError(
        f"the backend 'iree' cannot compile{primitive} {name} for {what}: {clause(reason[:400])}. "
        f'Compile it with jit(..., backend="xla"), or write it without that operation.'
    )
