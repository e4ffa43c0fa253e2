"""The checksum line: a text that was changed after it was written may be another valid jaxpr."""

from __future__ import annotations

import hashlib
import re

from bindax_core.errors import JaxprTextError

_LINE = re.compile(r"checksum ([0-9a-f]{16})\n")


def with_checksum(rest: str) -> str:
    """The lines of a text after its first one, with the checksum line before them."""
    return f"checksum {_digest(rest)}\n{rest}"


def check_rest(text: str, position: int) -> int:
    """Compare the rest of a text with its checksum line, where it has one; the end of that line.

    Raises:
        JaxprTextError: when the text is not the one that was written.
    """
    line = _LINE.match(text, position)
    if line is None:
        return position
    if line[1] != _digest(text[line.end() :]):
        raise JaxprTextError(
            "line 2: the text was changed after it was written: it does not have this checksum. "
            "If the change is yours, remove line 2; otherwise write the program anew."
        )
    return line.end()


def _digest(rest: str) -> str:
    return hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()[:16]
