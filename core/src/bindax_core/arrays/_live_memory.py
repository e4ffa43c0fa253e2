"""Live arrays, and the memory that they take, for errors about memory that is lacking."""

from __future__ import annotations

import gc
import math
from collections import Counter
from typing import Any, NamedTuple

from bindax_core.arrays._array import Array
from bindax_core.arrays._origins import origin_of

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def live_arrays(platform: str | None = None) -> list[Array]:
    """List the arrays of this process that are alive, to find what holds memory.

    Args:
        platform: ``"numpy"`` for those on the host, or the name of a backend for those on its
            devices; None for all.

    >>> import numpy as np
    >>> from bindax_core import Array, live_arrays
    >>> x = Array.from_numpy(np.ones(3))
    >>> any(y is x for y in live_arrays("numpy"))
    True
    """
    found = [x for x in gc.get_objects() if type(x) is Array and not x.is_deleted()]
    return [x for x in found if platform in (None, _platform(x))]


def _platform(x: Array) -> str:
    return "numpy" if x.placement is None else str(x.placement.backend.name)


def size_text(size: float) -> str:
    """A number of bytes with a decimal unit.

    >>> size_text(40), size_text(1500), size_text(4e13)
    ('40 bytes', '1.5 kB', '40.0 TB')
    """
    exponent = min(int(math.log10(max(size, 1)) / 3 + 1e-9), len(_UNITS) - 1)
    number = size / 1000**exponent
    return f"{number:.1f} {_UNITS[exponent]}" if exponent else f"{number:.0f} bytes"


class _Kind(NamedTuple):
    """The arrays that are listed on one line."""

    type: str
    platform: str
    size: int
    origin: str


def describe_live_arrays(platform: str | None = None, count: int = 10) -> str:
    """List the largest live arrays, those of one type and line together, without tiny ones.

    Args:
        platform: the name of the backend that has them; None for all.
        count: the number of lines below the first.
    """
    kinds = Counter(map(_kind, live_arrays(platform)))
    largest = sorted(kinds.items(), key=lambda kind: -kind[0].size * kind[1])
    total = sum(kind.size * number for kind, number in largest)
    large = [(kind, number) for kind, number in largest if 1000 * kind.size * number > total]
    lines = [_line(kind, number) for kind, number in large[:count]]
    head = f"Live arrays, with those that are being computed, take {size_text(total)}"
    return "\n".join([f"{head}; the largest:" if lines else f"{head}.", *lines])


def _kind(x: Array) -> _Kind:
    origin = origin_of(x)
    made = "" if origin is None else f", made at {origin}"
    return _Kind(x.aval.str_short(), _platform(x), _size(x), made)


def _line(kind: _Kind, number: int) -> str:
    times, each = (f"{number} x ", " each") if number > 1 else ("", "")
    where = "" if kind.platform == "numpy" else f" on {kind.platform}"
    return f"  {times}{kind.type}{where}: {size_text(kind.size)}{each}{kind.origin}"


def _size(array: Array) -> int:
    """The bytes of an array, without elements that a view repeats."""
    host: Any = array._host
    if host is None or array._buffer is not None:
        return array.nbytes
    stored = [n for n, stride in zip(host.shape, host.strides, strict=True) if stride]
    return int(math.prod(stored) * host.itemsize)
