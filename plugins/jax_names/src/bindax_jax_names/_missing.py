"""The names that were asked for and are not there, and what is said of them."""

from __future__ import annotations

import threading
from types import FrameType
from typing import NamedTuple

from bindax_jax_names._table import jax_release


class MissingName(NamedTuple):
    """A name of JAX that was asked for and that bindax does not have.

    Attributes:
        name: the full name, such as ``"jax.export.export"``.
        asked_by: the module and line that asked first.
    """

    name: str
    asked_by: str


_missing: dict[str, str] = {}
_lock = threading.RLock()


def missing_names() -> list[MissingName]:
    """The names of JAX that this process asked for and bindax does not have, in order.

    A name in this list is no failure by itself: many packages ask for names that they need only in
    some of their functions.

    >>> from bindax_jax_names import missing_names
    >>> all(entry.name.startswith("jax") for entry in missing_names())
    True
    """
    with _lock:
        return [MissingName(name, place) for name, place in _missing.items()]


def record_missing(name: str, place: str) -> None:
    """Note a name that was asked for."""
    with _lock:
        _missing.setdefault(name, place)


def asked_for(frame: FrameType | None) -> str:
    """The module and line that asked, past the import system and this package."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", "?"))
        if not module.startswith(("importlib", "bindax_jax_names._")):
            return f"{module}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"


def missing_message(path: str, name: str, place: str) -> str:
    """The text of the error for a name that JAX has, or may have, and bindax does not."""
    full = f"{path}.{name}"
    if path.startswith("jax._src"):
        return (
            f"{full}, asked for at {place}, is a private name of JAX that the alias does not "
            f"serve; it serves those of private names that have a public meaning. Use a public "
            f"name of JAX there, or run this program with JAX itself."
        )
    return (
        f"{full}, asked for at {place}, is a name of JAX {jax_release()} that bindax does not "
        f"have. Do without it, or run this program with JAX itself; "
        f"bindax.jax_names.missing_names() lists every such name that was asked for."
    )
