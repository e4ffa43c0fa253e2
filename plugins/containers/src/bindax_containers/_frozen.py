"""Constants of containers, such as attributes and labels, with a usable ``==`` and ``hash``."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.errors import TreeError
from bindax_core.extend import Array, Tracer


class Frozen:
    """A snapshot of a value that is compared and hashed by its content, arrays included.

    Numbers of different types are different, and so are arrays of different dtypes; missing values
    (NaN, NaT) are equal to themselves. The order of the keys of a dict does not count.

    Args:
        value: plain data: numbers, strings, arrays, sequences, dicts and sets of these, or anything
            that is hashable.
        name: what the value is called in an error.

    Raises:
        TreeError: a part of the value is traced, or can neither be hashed nor looked into.

    >>> Frozen({"valid_range": np.array([0, 9])}) == Frozen({"valid_range": np.array([0, 9])})
    True
    >>> Frozen({"scale": 1}) == Frozen({"scale": 1.0})
    False
    """

    __slots__ = ("_hash", "_key", "_value")

    def __init__(self, value: Any, name: str = "the value") -> None:
        self._key = content_key(value, name)
        self._value = snapshot(value)
        self._hash = hash(self._key)

    def thaw(self) -> Any:
        """The value, as a copy whose containers are the caller's own; arrays are read-only."""
        return snapshot(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return repr(self._value)

    def __reduce__(self) -> Any:
        return Frozen, (self._value,)


def snapshot(value: Any) -> Any:
    """Copy the containers and the arrays of a value; what is read-only and all else stays."""
    kind = type(value)
    if kind is dict:
        return {key: snapshot(item) for key, item in value.items()}
    if kind in (list, tuple, set):
        return kind(snapshot(item) for item in value)
    if isinstance(value, np.ndarray):
        return read_only(value)
    return value


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an array that cannot be written to; the array itself if it cannot already."""
    if not array.flags.writeable and array.base is None:
        return array
    copied = array.copy()
    copied.flags.writeable = False
    return copied


def content_key(value: Any, name: str) -> Any:
    """A hashable value that is equal for equal contents.

    >>> content_key([1, 2.5], "a") == content_key([1, 2.5], "a")
    True
    """
    kind = type(value)
    if isinstance(value, Tracer):
        raise TreeError(
            f"{name} is a traced value, {value!r:.80}, where only constants can be. Keep traced "
            f"values in the data, or in a coordinate without an index."
        )
    if kind in (float, complex):
        return kind, repr(value)  # tells -0.0 from 0.0, and NaN is equal to itself
    if kind is dict:
        return kind, frozenset(
            (content_key(key, name), content_key(item, f"{name}[{key!r}]"))
            for key, item in value.items()
        )
    if kind in (list, tuple):
        return kind, tuple(content_key(item, f"{name}[{i}]") for i, item in enumerate(value))
    if kind in (set, frozenset):
        return kind, frozenset(content_key(item, name) for item in value)
    if isinstance(value, np.ndarray | np.generic | Array):
        return kind, *_array_key(np.asarray(value), name)
    return kind, _hashable(value, name)


def _array_key(array: np.ndarray[Any, Any], name: str) -> tuple[Any, ...]:
    if not array.dtype.hasobject:
        return array.dtype.str, array.shape, array.tobytes()
    elements = array.ravel().tolist()
    return "O", array.shape, tuple(content_key(item, name) for item in elements)


def _hashable(value: Any, name: str) -> Any:
    try:
        hash(value)
        equal = value == value
    except Exception as error:
        raise TreeError(
            f"{name} is of type {type(value).__qualname__}, which cannot be compared and hashed "
            f"({type(error).__name__}: {error}). Remove it, or replace it by plain data."
        ) from error
    # Missing values such as NaT are not equal to themselves.
    return value if equal is True else repr(value)
