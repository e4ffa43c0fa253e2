"""Live arrays, and the memory that they take, for errors about memory that is lacking."""

from __future__ import annotations

import gc
import math
from collections import Counter
from typing import Any

from bindax_core.arrays._array import Array

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


def describe_live_arrays(platform: str | None = None, count: int = 10) -> str:
    """List the largest live arrays, those of one type on one line, without tiny ones.

    Args:
        platform: the name of the backend that has them; None for all.
        count: the number of lines below the first.
    """
    arrays = live_arrays(platform)
    kinds = Counter((x.aval.str_short(), _platform(x), _size(x)) for x in arrays)
    largest = sorted(kinds.items(), key=lambda kind: -kind[0][2] * kind[1])
    total = sum(size * number for (_, _, size), number in largest)
    large = [(kind, number) for kind, number in largest if 1000 * kind[2] * number > total]
    lines = [_line(*kind, number) for kind, number in large[:count]]
    head = f"Live arrays, with those that are being computed, take {size_text(total)}"
    return "\n".join([f"{head}; the largest:" if lines else f"{head}.", *lines])


def _line(name: str, platform: str, size: int, number: int) -> str:
    times = f"{number} x " if number > 1 else ""
    where = "" if platform == "numpy" else f" on {platform}"
    return f"  {times}{name}{where}: {size_text(size)}{' each' if number > 1 else ''}"


def _size(array: Array) -> int:
    """The bytes of an array, without elements that a view repeats."""
    host: Any = array._host
    if host is None or array._buffer is not None:
        return array.nbytes
    stored = [n for n, stride in zip(host.shape, host.strides, strict=True) if stride]
    return int(math.prod(stored) * host.itemsize)
