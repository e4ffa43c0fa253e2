"""Lines where large arrays were made, for errors about memory that is lacking.

To note a line takes a microsecond, which is little beside the time to fill a large array. Of small
arrays nothing is noted.
"""

from __future__ import annotations

import weakref
from typing import Any

from bindax_core.kernel._source_info import SourceInfo, user_source_info

LARGE = 1 << 20
"""The bytes from which the line of an array is noted."""

_origins: dict[int, tuple[weakref.ref[Any], SourceInfo]] = {}


def note_origin(array: Any) -> None:
    """Note the user's line that makes an array, with the names that it is in."""
    source = user_source_info(2)
    if source is not None:
        key = id(array)
        _origins[key] = (weakref.ref(array, lambda _: _origins.pop(key, None)), source)


def origin_of(array: Any) -> SourceInfo | None:
    """Return the line that made a large array; None where none was noted."""
    noted = _origins.get(id(array))
    return noted[1] if noted is not None and noted[0]() is array else None
