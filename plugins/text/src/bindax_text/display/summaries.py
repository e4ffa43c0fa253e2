"""Arrays in few words and numbers, without bringing a large one to the host."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bindax_core import Array, ShapedArray, typeof
from bindax_core.extend import Tracer, is_extended, size_text

MOST_FETCHED = 1 << 20
"""The bytes of an array on a device that are brought to the host to be shown."""
MOST_SAMPLED = 1 << 16
"""The elements that a histogram counts; of more, evenly spaced ones."""
BARS = 32
_MOST_PRINTED, _MOST_ENDS = 1000, 5000


class Numbers(NamedTuple):
    """The distribution of the elements of an array.

    Attributes:
        least: the least element; of complex numbers, the least magnitude.
        mean: the mean.
        most: the greatest.
        counts: the histogram between the two, without what is not finite.
        nans: how many are NaN.
        infinities: how many are infinite.
        sampled: how many were looked at.
    """

    least: float
    mean: float
    most: float
    counts: tuple[int, ...]
    nans: int
    infinities: int
    sampled: int


class Summary(NamedTuple):
    """The type, place and elements of an array, as they are shown.

    Attributes:
        type: dtype and shape, such as ``float32[3,4]``.
        size: the bytes, as text.
        where: where it is, or why its elements are not shown.
        host: the elements; None where they are not shown.
        numbers: their distribution, if they are numbers.
    """

    type: str
    size: str
    where: str
    host: np.ndarray[Any, Any] | None
    numbers: Numbers | None


def is_array(value: Any) -> bool:
    """Tell whether a value is an array, traced or not, or one of NumPy with numbers."""
    if type(value) is np.ndarray:
        is_record = value.dtype.type is np.void and not is_extended(value.dtype)
        return value.dtype.kind not in "OSUMm" and not is_record
    return isinstance(value, (Array, Tracer))


def summary_of(array: Any) -> Summary:
    """Return what is shown of an array.

    >>> found = summary_of(np.array([1.0, 2.0, np.nan]))
    >>> found.type, found.size, found.numbers.mean, found.numbers.nans
    ('float64[3]', '24 bytes', 1.5, 1)
    """
    aval: Any = typeof(array)
    host, where = _host(array)
    elements = aval.size if isinstance(aval, ShapedArray) else None
    size = size_text(elements * aval.dtype.itemsize) if isinstance(elements, int) else ""
    numbers = None if host is None else numbers_of(host)
    return Summary(aval.str_short(), size, where, host, numbers)


def _host(array: Any) -> tuple[np.ndarray[Any, Any] | None, str]:
    """The elements on the host, if they may be brought there, and what to say of them."""
    if isinstance(array, np.ndarray):
        return array, "NumPy"
    if isinstance(array, Tracer):
        return None, "traced: it has no elements yet"
    if array.is_deleted():
        return None, "deleted, or donated to a compiled function"
    where = "" if array.placement is None else _where(array)
    if not (array.is_fully_addressable or array.is_fully_replicated):
        return None, f"{where}; parts are in other processes"
    near = array.on_host or (array.placement.host_accessible and len(array.devices()) == 1)
    if not near and array.nbytes > MOST_FETCHED:
        return None, f"{where}; too large to be brought to the host, index it to see a part"
    try:
        return array.numpy(), where
    except Exception as error:  # such as a transfer that the user forbade
        return None, f"{where}; its elements cannot be read: {error}"


def _where(array: Array) -> str:
    """The device of an array, or how it is divided among several."""
    first, *others = sorted(array.devices(), key=lambda device: device.id)
    if not others:
        return f"on {first.platform}:{first.id}"
    divided = getattr(array.sharding, "spec", None) or type(array.sharding).__name__
    return f"{divided} on {1 + len(others)} devices"


def numbers_of(host: np.ndarray[Any, Any]) -> Numbers | None:
    """Return the distribution of elements; None of those that are no numbers, or of none."""
    if host.size == 0 or host.dtype.names is not None:
        return None
    step = -(-host.size // MOST_SAMPLED)
    picked: Any = host.flat[::step]
    if picked.dtype.kind == "c":
        picked = np.abs(picked)
    try:
        with np.errstate(all="ignore"):
            picked = picked.astype(np.float64)
    except (TypeError, ValueError):
        return None
    finite = picked[np.isfinite(picked)]
    nans = int(np.isnan(picked).sum())
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (np.nan, np.nan)
    counts = _histogram(finite, least, most) if finite.size else ()
    mean = float(np.mean(finite / finite.size) * finite.size) if finite.size else np.nan
    infinities = picked.size - finite.size - nans
    return Numbers(least, mean, most, counts, nans, infinities, picked.size)


def _histogram(finite: np.ndarray[Any, Any], least: float, most: float) -> tuple[int, ...]:
    """The number of elements in each of even intervals; of equal elements there is one."""
    if least == most:
        return (finite.size,)
    width = most / 2 - least / 2  # of half, as the whole may overflow
    positions = ((finite / 2 - least / 2) / width * BARS).astype(np.int64).clip(0, BARS - 1)
    return tuple(np.bincount(positions, minlength=BARS).tolist())


def elements_text(summary: Summary) -> str:
    """The elements as NumPy prints them, shortened where they are many; empty without."""
    host = summary.host
    if host is None or host.dtype.names is not None:
        return ""
    ends = math.prod([min(n, 7) for n in host.shape])
    if host.size > _MOST_PRINTED and ends > _MOST_ENDS:
        return ""
    options: Any = {"threshold": _MOST_PRINTED, "edgeitems": 3, "separator": ", "}
    return np.array2string(host, max_line_width=100, **options)


def numbers_text(numbers: Numbers) -> str:
    """The distribution in words.

    >>> numbers_text(numbers_of(np.array([1.0, 3.0, np.inf])))
    '1 to 3, mean 2, 1 infinite'
    """
    parts = []
    if numbers.counts:
        parts.append(f"{numbers.least:.4g} to {numbers.most:.4g}, mean {numbers.mean:.4g}")
    if numbers.nans:
        parts.append(f"{numbers.nans:,} NaN")
    if numbers.infinities:
        parts.append(f"{numbers.infinities:,} infinite")
    return ", ".join(parts)
