"""The order in which the values of a mapping are flattened."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_TOTALLY_ORDERED = frozenset({str, int, bytes, bool})
"""Types of keys among which ``<`` is a total order: sorting them does not depend on the input."""


def key_order(keys: Iterable[Any]) -> list[Any]:
    """Sort the keys of a mapping into the order in which its values are flattened.

    The order depends on the keys alone, not on the order in which they were inserted. Keys that can
    be compared with each other are sorted. Otherwise they are grouped: numbers first, then by the
    name of their type; within a group they are sorted by value where that is possible, and else by
    what they print.

    >>> key_order(["b", 1, "a", None, 0])
    [0, 1, None, 'a', 'b']
    """
    keys = list(keys)
    try:
        result = sorted(keys)
    except TypeError:
        return _grouped(keys)
    if len(result) < 2 or type(result[0]) in _TOTALLY_ORDERED or _is_total(keys, result):
        return result
    # For instance sets: `<` is defined but says nothing about most pairs.
    return _grouped(keys)


def _grouped(keys: list[Any]) -> list[Any]:
    groups: dict[str, list[Any]] = {}
    for key in keys:
        groups.setdefault(_group(key), []).append(key)
    return [key for name in sorted(groups) for key in _sorted_group(groups[name])]


def _group(key: Any) -> str:
    if isinstance(key, int | float):
        return ""
    return f"{type(key).__module__}.{type(key).__qualname__}"


def _sorted_group(keys: list[Any]) -> list[Any]:
    try:
        result = sorted(keys)
        if _is_total(keys, result):
            return result
    except TypeError:
        pass
    return sorted(keys, key=_printed)


def _is_total(keys: list[Any], result: list[Any]) -> bool:
    """Tell whether sorting the keys from the other end gives the same result."""
    opposite = keys[::-1]
    opposite.sort()
    return all(a is b for a, b in zip(result, opposite, strict=True))


def _printed(key: Any) -> tuple[str, int]:
    if isinstance(key, tuple):
        # Elements of different types, or not comparable: order by their groups.
        parts = "\x00".join(f"{_group(k)}\x01{_printed(k)[0]}" for k in key)
        return parts, 0
    if isinstance(key, frozenset):
        return "\x00".join(sorted(f"{_group(k)}\x01{_printed(k)[0]}" for k in key)), 0
    # The default repr holds the address, which says nothing between processes; equal keys have
    # equal hashes, so that those order what is left in the same way within a process.
    written: Any = type(key).__repr__
    return "" if written is object.__repr__ else repr(key), hash(key)
