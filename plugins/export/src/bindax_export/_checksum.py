"""The checksum of files: compilers' parsers may end the process where a byte was changed.

It stands where readers of the format see nothing: a mark between the position of the root table and
the tables, and a digest after them. One damage cannot remove both marks.
"""

from __future__ import annotations

import hashlib

from bindax_export._errors import FormatError

_MARK = b"bdx1"
_END = b"bindax sha256\n\0\0"


def sealed(buffer: bytearray) -> bytearray:
    """The bytes of a file with the mark and the digest."""
    buffer[4:8] = _MARK
    return buffer + _END + hashlib.sha256(buffer).digest()


def require_whole(data: bytes) -> None:
    """Compare a file with its checksum; JAX and older versions of bindax write none.

    Raises:
        FormatError: when it was changed after it was written.
    """
    content, end, digest = data[:-48], data[-48:-32], data[-32:]
    if data[4:8] != _MARK and end != _END:
        return
    if data[4:8] != _MARK or end != _END or hashlib.sha256(content).digest() != digest:
        raise FormatError("its checksum does not fit, so it was changed after it was written")
