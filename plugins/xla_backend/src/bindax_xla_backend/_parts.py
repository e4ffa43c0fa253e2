"""Buffers on several devices whose parts are buffers of their own, which can be deleted alone.

XLA asks the first part of a buffer whether it was deleted, and a program that runs on another one
crashes. So it is remembered which buffers have parts that somebody else has, too.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from bindax_xla_backend import _jaxlib

_known: dict[int, tuple[weakref.ref[Any], list[Any]]] = {}
"""By the ``id`` of a buffer, which lives as long as the entry, its parts."""


def note_parts(buffer: Any, parts: Sequence[Any]) -> None:
    """Remember that parts of a buffer are buffers that somebody has."""
    key = id(buffer)
    _known[key] = (weakref.ref(buffer, lambda _: _known.pop(key, None)), list(parts))


def is_deleted(buffer: Any) -> bool:
    """Tell whether a buffer, or a part of it, was deleted or donated."""
    if buffer.is_deleted():
        return True
    _, parts = _known.get(id(buffer), (None, ()))
    return any(part.is_deleted() for part in parts)


def on_living_buffers(run: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """An execution on several devices that fails, rather than crashes, for a deleted buffer."""

    def checked(buffers: Sequence[Any]) -> Any:
        for buffer in buffers:
            if buffer.is_deleted() or (id(buffer) in _known and is_deleted(buffer)):
                raise _jaxlib.RuntimeFailure("INVALID_ARGUMENT: a buffer was deleted or donated.")
        return run(buffers)

    return checked
