"""Nested values as text, one part on a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Parts(NamedTuple):
    """The way a value is shown: what begins and ends it, and its parts with their names."""

    start: str
    parts: list[tuple[str, Any]]
    end: str


def describe(value: Any, shown: Callable[[Any], str] = repr) -> str:
    """A value and all below it as text.

    Values show their parts that have a method ``_nnx_parts``; what appears a second time is shown
    by its type and ``<shared>``.

    Args:
        value: the value.
        shown: the text of what has no parts.
    """
    return _text(value, "", set(), shown)


def _text(value: Any, indent: str, met: set[int], shown: Callable[[Any], str]) -> str:
    parts = _parts(value)
    if parts is None:
        return shown(value).replace("\n", f"\n{indent}")
    if not isinstance(value, (list, tuple, dict)):
        if id(value) in met:
            return f"{type(value).__name__}(<shared>)"
        met.add(id(value))
    lines = [f"{name}{_text(x, indent + '  ', met, shown)}" for name, x in parts.parts]
    return _block(parts.start, lines, parts.end, indent)


def _parts(value: Any) -> Parts | None:
    kind = type(value)
    if hasattr(kind, "_nnx_parts"):
        found: Parts = value._nnx_parts()
        return found
    if kind in (list, tuple) and any(_parts(x) is not None for x in value):
        left, right = "[]" if kind is list else "()"
        return Parts(left, [("", x) for x in value], right)
    if kind is dict and any(_parts(x) is not None for x in value.values()):
        return Parts("{", [(f"{key!r}: ", x) for key, x in value.items()], "}")
    return None


def _block(start: str, lines: Iterable[str], end: str, indent: str) -> str:
    text = ",\n".join(f"{indent}  {line}" for line in lines)
    return f"{start}\n{text}\n{indent}{end}" if text else f"{start}{end}"
