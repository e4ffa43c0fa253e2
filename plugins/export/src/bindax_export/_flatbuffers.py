"""Flatbuffers: tables of numbers, texts, bytes and lists, written and read.

A buffer starts with the position of its root table. A table starts with the distance to its list
of fields, which gives the place of each field in the table or 0 for one that is missing; a field
holds a number, or the distance to something that follows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bindax_export._errors import FormatError


class Number(NamedTuple):
    """A number of a fixed width, by its code in ``struct``."""

    code: str
    value: int


class Numbers(NamedTuple):
    """A list of numbers of one width."""

    code: str
    values: Sequence[int]


Table = Mapping[int, Any]
"""The fields by number: ``Number``, ``Numbers``, ``str``, ``bytes``, a table, a list of those."""


def write(root: Table) -> bytearray:
    """The buffer of a table; four bytes after the first four are free for a mark."""
    buffer = bytearray(8)
    _put_table(buffer, 0, root)
    return buffer


def _pad(buffer: bytearray, size: int) -> None:
    buffer.extend(bytes(-len(buffer) % size))


def _point(buffer: bytearray, at: int) -> None:
    """Let the field at a position point to what follows."""
    struct.pack_into("<I", buffer, at, len(buffer) - at)


def _put(buffer: bytearray, at: int, value: Any) -> None:
    if isinstance(value, Mapping):
        _put_table(buffer, at, value)
    elif isinstance(value, str):
        _put_vector(buffer, at, value.encode(), 1)
        buffer.append(0)
    elif isinstance(value, bytes | bytearray):
        _put_vector(buffer, at, value, 1)
    elif isinstance(value, Numbers):
        packed = struct.pack(f"<{len(value.values)}{value.code}", *value.values)
        _put_vector(buffer, at, packed, struct.calcsize(value.code))
    else:
        _put_vector(buffer, at, bytes(4 * len(value)), 4)
        start = len(buffer) - 4 * len(value)
        for i, item in enumerate(value):
            _put(buffer, start + 4 * i, item)


def _put_vector(buffer: bytearray, at: int, content: bytes | bytearray, size: int) -> None:
    _pad(buffer, 4)
    _point(buffer, at)
    buffer.extend(struct.pack("<I", len(content) // size))
    buffer.extend(content)


def _put_table(buffer: bytearray, at: int, table: Table) -> None:
    _pad(buffer, 4)
    count = 1 + max(table, default=-1)
    places, offset = [0] * count, 4
    # Wide fields first: each then stands at a multiple of its width.
    by_width = sorted(table, key=lambda slot: -_width(table[slot]))
    for slot in by_width:
        places[slot] = offset
        offset += _width(table[slot])
    fields = struct.pack(f"<{count + 2}H", 4 + 2 * count, offset, *places)
    start = len(buffer)
    buffer.extend(fields)
    _pad(buffer, 4)
    _point(buffer, at)
    here = len(buffer)
    buffer.extend(bytes(offset))
    struct.pack_into("<i", buffer, here, here - start)
    for slot in by_width:
        value, place = table[slot], here + places[slot]
        if isinstance(value, Number):
            struct.pack_into(f"<{value.code}", buffer, place, value.value)
        else:
            _put(buffer, place, value)


def _width(value: Any) -> int:
    return struct.calcsize(value.code) if isinstance(value, Number) else 4


class Reader:
    """A table of a buffer; every method raises ``FormatError`` where the buffer is damaged."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position
        self._fields = position - self._number("i", position)
        self._count = (self._number("H", self._fields) - 4) // 2

    @classmethod
    def root(cls, data: bytes) -> Reader:
        """The root table of a buffer."""
        if len(data) < 8:
            raise FormatError("it is empty or too short")
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def number(self, slot: int, code: str, default: int = 0) -> int:
        """A number."""
        place = self._place(slot)
        return default if place is None else self._number(code, place)

    def text(self, slot: int) -> str:
        """A text; empty when it is missing."""
        return self._text(self._target(slot))

    def raw(self, slot: int) -> bytes:
        """Bytes; none when they are missing."""
        return self._bytes(self._target(slot))

    def table(self, slot: int) -> Reader | None:
        """A table, or None."""
        target = self._target(slot)
        return None if target is None else Reader(self._data, target)

    def tables(self, slot: int) -> list[Reader]:
        """A list of tables."""
        return self._items(slot, lambda target: Reader(self._data, target))

    def texts(self, slot: int) -> list[str]:
        """A list of texts."""
        return self._items(slot, self._text)

    def numbers(self, slot: int, code: str) -> list[int]:
        """A list of numbers."""
        target = self._target(slot)
        if target is None:
            return []
        count = self._length(target, struct.calcsize(code))
        return list(struct.unpack_from(f"<{count}{code}", self._data, target + 4))

    def _items(self, slot: int, read: Callable[[int], Any]) -> list[Any]:
        start = self._target(slot)
        if start is None:
            return []
        places = [start + 4 + 4 * i for i in range(self._length(start, 4))]
        return [read(place + self._number("I", place)) for place in places]

    def _place(self, slot: int) -> int | None:
        if slot >= self._count:
            return None
        offset = self._number("H", self._fields + 4 + 2 * slot)
        return self._position + offset if offset else None

    def _target(self, slot: int) -> int | None:
        place = self._place(slot)
        return None if place is None else place + self._number("I", place)

    def _text(self, position: int | None) -> str:
        try:
            return self._bytes(position).decode()
        except UnicodeDecodeError:
            raise FormatError("a text in it is damaged") from None

    def _bytes(self, position: int | None) -> bytes:
        if position is None:
            return b""
        count = self._length(position, 1)
        return self._data[position + 4 : position + 4 + count]

    def _length(self, position: int, size: int) -> int:
        count = self._number("I", position)
        if position + 4 + count * size > len(self._data):
            raise FormatError("it ends too early")
        return count

    def _number(self, code: str, position: int) -> int:
        if position < 0 or position + struct.calcsize(code) > len(self._data):
            raise FormatError("it ends too early, or a position in it is wrong")
        return int(struct.unpack_from(f"<{code}", self._data, position)[0])
