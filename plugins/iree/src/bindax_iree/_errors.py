"""The errors of this backend, and what is read from the diagnostics of its compiler."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bindax_core.errors import clause
from bindax_core.extend import BackendError
from bindax_iree._support import UNSUPPORTED


class InstallationError(BackendError, ImportError):
    """A package of IREE does not import."""


class CompilationError(BackendError, TypeError):
    """A program cannot be compiled: IREE or this backend lacks an operation or a dtype."""


class ExecutionError(BackendError):
    """A compiled program failed while it ran."""


_PRIMITIVE = re.compile(r'loc\("jit\([^"]*/(?P<name>[^"/]+)"')
_FEW = 12
_ERROR = re.compile(r"error: (?P<text>.*)")


def compilation_error(
    name: str, what: str, diagnostics: str, primitives: Sequence[str] = ()
) -> CompilationError:
    """The error for a program that IREE rejected, from the text that its compiler printed.

    Where the text does not name the primitive, those of the program are named.
    """
    lines = [match["text"] for match in _ERROR.finditer(diagnostics)]
    found = next(filter(None, map(_PRIMITIVE.search, lines)), None)
    reason = lines[0].split(" loc(")[0] if lines else _ending(diagnostics)
    subject = _made_of(name, primitives)
    if found is not None:
        subject = f"the primitive {found['name']} in {name}"
    advice = "Write it without that operation"
    if what == "host":
        advice += ', or compile it with jit(..., backend="xla")'
    return CompilationError(
        f"the backend 'iree' cannot compile {subject} for {what}: {clause(reason[:400])}. {advice}."
    )


def dtype_error(name: str, dtype: str, primitives: Sequence[str]) -> CompilationError:
    """The error for a program with operands or results of a dtype that IREE lacks."""
    return CompilationError(
        f"the backend 'iree' cannot compile {_made_of(name, primitives)} because IREE has no "
        f"element type for the dtype {dtype}. Convert the array to another first."
    )


def _made_of(name: str, primitives: Sequence[str]) -> str:
    """The name of a program, with those of its primitives.

    Of many primitives those are named that are not supported with all types.
    """
    if len(primitives) > _FEW:
        primitives = [*[one for one in primitives if one in UNSUPPORTED][:_FEW], "others"]
    return f"{name}, which is made of {', '.join(primitives)}," if primitives else name


def _ending(diagnostics: str) -> str:
    """The reason where the compiler printed no error: it is a mistake of its own that ended it."""
    code = re.search(r"Error code: (-?\d+)", diagnostics)
    ended = "" if code is None else f" with the exit code {code[1]}"
    return f"its compiler ended{ended} and printed no error"
