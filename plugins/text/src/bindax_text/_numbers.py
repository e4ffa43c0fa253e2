"""Dtypes by name, numbers of a dtype from Python numbers, and the names that are no variables."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any

import numpy as np

from bindax_core.extend import float0

VERSION = 1
HEADER = f"bindax jaxpr {VERSION}\n"
RESERVED = frozenset(("complex", "from", "inf", "nan", "program", "return"))
"""Names that are no variables."""

_DTYPE = re.compile("[a-z]{3,}[a-z0-9_]*")


@lru_cache(maxsize=256)
def find_dtype(name: str) -> np.dtype[Any] | None:
    """The dtype of booleans or numbers with a name, or None.

    >>> find_dtype("float32"), find_dtype("f4"), find_dtype("object")
    (dtype('float32'), None, None)
    """
    if name == "float0":
        return float0
    # NumPy takes many names for dtypes, some of which it warns about.
    if _DTYPE.fullmatch(name) is None:
        return None
    try:
        found = np.dtype(name)
    except TypeError:
        return None
    return found if found.name == name and found.kind not in "OSUMm" else None


def payload(array: np.ndarray[Any, Any]) -> bytes:
    """The bytes of an array, little end first; equal arrays have equal bytes.

    >>> payload(np.array(0x4241, np.uint16))
    b'AB'
    """
    array = array.byteswap() if sys.byteorder == "big" else array
    if array.dtype.char not in "gG" or np.finfo(array.dtype).nmant != 63:
        return array.tobytes()
    # An x86 long double is ten bytes in sixteen; the others hold what was in memory before.
    raw = np.frombuffer(array.tobytes(), np.uint8).reshape(-1, np.dtype("g").itemsize).copy()
    raw[:, 10:] = 0
    return raw.tobytes()


def read_number(number: bool | int | float | complex, dtype: np.dtype[Any]) -> Any:
    """A number as an array without axes, or None where it is none of the dtype.

    >>> read_number(2.5, np.dtype("float32")), read_number(2.5, np.dtype("int32"))
    (array(2.5, dtype=float32), None)
    """
    if type(number) is not type(np.zeros((), dtype).item()):
        return None
    try:
        with np.errstate(all="ignore"):
            found = np.array(number, dtype)
    except (OverflowError, TypeError, ValueError):
        return None
    return None if isinstance(number, int) and found.item() != number else found


def shortest(number: np.ndarray[Any, Any]) -> bool | int | float | complex | None:
    """The number of an array without axes, with as few digits as give it back; None if none does.

    >>> shortest(np.array(0.1, np.float32))
    0.1
    """
    exact = number.item()
    candidates: list[Any] = [exact] if isinstance(exact, bool | int) else []
    if isinstance(exact, complex):
        parts = [shortest(part) for part in (number.real, number.imag)]
        candidates = [complex(*parts)] if None not in parts else []  # type: ignore[arg-type]
    elif isinstance(exact, float):
        candidates = [float(str(number)), float(repr(exact))]  # a nan's sign is not in its text
    for candidate in candidates:
        found = read_number(candidate, number.dtype)
        if found is not None and found.tobytes() == number.tobytes():
            return candidate  # type: ignore[no-any-return]
    return None
