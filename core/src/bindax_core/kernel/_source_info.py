"""Where equations and traces come from: lines of the program and names, formatted late.

The user's line is the innermost frame that is not internal. What is made of an equation has the
line of that equation, and what a rule makes the line where its primitive was applied.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

from bindax_core._extension_points import runtime
from bindax_core._functions import describe_function
from bindax_core._site import internal_files, is_internal, is_internal_file

_new: Callable[..., SourceInfo] = tuple.__new__  # the class itself takes twice as long


class Transformation(str):
    """An entry of a stack of names that is written around the next one, as in ``jvp(encoder)``."""

    __slots__ = ()


class SourceInfo(NamedTuple):
    """Where an equation comes from: a line of the user's program, and a stack of names.

    Attributes:
        code: the code object of the user's function; None where only names are known.
        instruction: the position in it.
        stack: the names around the equation in its jaxpr, outermost first: named scopes, modules,
            and each ``Transformation``.
    """

    code: CodeType | None
    instruction: int
    stack: tuple[str, ...] = ()

    @classmethod
    def of_line(cls, file: str, line: int, function: str, stack: tuple[str, ...]) -> SourceInfo:
        """Return the source for a line that is known as text."""
        code = cls.of_line.__code__
        named = code.replace(co_filename=file, co_firstlineno=line, co_name=function)
        return cls(named.replace(co_qualname=function), -1, stack)

    @property
    def file(self) -> str:
        """The file of the line."""
        return "<unknown>" if self.code is None else self.code.co_filename

    @property
    def line(self) -> int:
        """The number of the line; 0 when there is none."""
        if self.code is None:
            return 0
        for start, end, line in self.code.co_lines():
            if start <= self.instruction < end and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def function(self) -> str:
        """The name of the function that the line is in."""
        return "" if self.code is None else self.code.co_name

    @property
    def names(self) -> str:
        """The stack of names as text, such as ``transpose(jvp(encoder))/attention``."""
        shown: list[str] = []
        for entry in reversed(self.stack):
            if isinstance(entry, Transformation):
                shown[-1:] = [f"{entry}({shown[-1] if shown else ''})"]
            else:
                shown.append(entry)
        return "/".join(reversed(shown))

    @property
    def scope(self) -> str:
        """The names without transformations, such as ``encoder/attention``."""
        return "/".join(entry for entry in self.stack if not isinstance(entry, Transformation))

    @property
    def where(self) -> str:
        """The line for a message, which says whether reverse mode runs backwards there."""
        backward = any(x == "transpose" for x in self.stack if isinstance(x, Transformation))
        return f"{'in the backward pass of' if backward else 'at'} {self}"

    def inside(self, *names: str) -> SourceInfo:
        """Return the same line with names further in."""
        return _new(SourceInfo, (self.code, self.instruction, self.stack + names))

    def around(self, inner: SourceInfo | None) -> SourceInfo:
        """Return what is known of an equation of a jaxpr that is applied here."""
        if inner is None or not self.stack:
            return inner or self
        return _new(SourceInfo, (inner.code, inner.instruction, self.stack + inner.stack))

    def __str__(self) -> str:
        scope = f", scope {self.names}" if self.scope else ""
        return f"{self.file}:{self.line} ({self.function}{scope})"


class _Current(threading.local):
    """The names and the line that a thread is at, for the equations that it makes.

    Attributes:
        info: the names that it is in, with the line of the equation that is applied, if one is.
    """

    info: SourceInfo = SourceInfo(None, 0)


current_source: _Current = _Current()

rule_files: set[str] = set()
"""The files in which rules are declared."""

_MOST = 4096
_known: dict[tuple[int, int, tuple[str, ...]], SourceInfo] = {}
"""The sources found last, so that equations of one line share one object."""


def user_source_info(depth: int = 1) -> SourceInfo | None:
    """Return the line of the equation that is applied, or the innermost one that is not internal.

    Args:
        depth: how many frames are passed over.
    """
    info = current_source.info
    if info.code is not None:
        return info
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if file in internal_files or is_internal_file(file):
            frame = frame.f_back
            continue
        if file in rule_files:
            frame = _outside_of_rules(frame)
            code = frame.f_code
        key = (id(code), frame.f_lasti, info.stack)  # an id that holds: the source keeps the code
        found = _known.get(key)
        if found is None:
            if len(_known) >= _MOST:
                _known.clear()
            found = _known[key] = _new(SourceInfo, (code, frame.f_lasti, info.stack))
        return found
    return None


def _outside_of_rules(frame: FrameType) -> FrameType:
    """Return the frame that applies the primitive, where a frame is one of its rule."""
    found: FrameType | None = frame
    outer = frame.f_back
    while outer is not None and (found is None or found.f_code.co_filename in rule_files):
        if outer.f_code.co_qualname == "Primitive.bind":  # which called the rule
            found = None
        elif found is None and not is_internal(outer.f_code):
            found = outer
        outer = outer.f_back
    return found or frame


# ------------------------------------------------------------------------- origins of traces


class DebugInfo(NamedTuple):
    """The transformation that started a trace, and the user's function, for messages."""

    transformation: str
    function: Callable[..., Any] | None = None

    def __str__(self) -> str:
        if self.function is None:
            return self.transformation
        return f"{self.transformation} of {describe_function(self.function)}"


def escaped_message(x: Any, stack: Any) -> str:
    """Describe the use of a tracer where its trace is not active."""
    main = x._trace.main
    history = x.history()
    made = f"; {history}" if history else ""
    keeper = "" if main.alive else runtime.keeper_of(main)
    if main.alive and main.stack is not stack:
        how = "is used in another thread than the one that traces it"
    else:
        how = "escaped from it and is used after it ended"
    return (
        f"Encountered an unexpected tracer, {x.aval.str_short()}, made in {main.origin}{made}, "
        f"{how}.{keeper} Return it from the function instead of keeping it in global state, such "
        f"as a variable, an attribute or a container outside."
    )
