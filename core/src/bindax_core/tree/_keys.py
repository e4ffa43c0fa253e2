"""Keys: the steps of a path from the root of a pytree to one of its nodes.

>>> from bindax_core.tree_util import KeyEntry, KeyPath, keystr, tree_leaves_with_path
>>> def last(path: KeyPath) -> KeyEntry:
...     return path[-1]
>>> [(keystr(path), last(path)) for path, _ in tree_leaves_with_path({"a": 1})]
[("['a']", DictKey(key='a'))]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

_SHOWN = 8
"""The number of keys that an error shows at either end of a very long path."""


class _Key:
    """Base of the key types: one value, compared and hashed with the type."""

    __slots__ = ("_value",)
    __match_args__ = ("key",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._value == other._value)

    def __hash__(self) -> int:
        return hash((type(self), self._value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__match_args__[0]}={self._value!r})"

    def __str__(self) -> str:
        return f"[{self._value!r}]"

    def __reduce__(self) -> tuple[type, tuple[Any]]:
        return type(self), (self._value,)


class SequenceKey(_Key):
    """The step to an element of a list, a tuple or a deque.

    >>> str(SequenceKey(2))
    '[2]'
    """

    __slots__ = ()
    __match_args__ = ("idx",)

    def __init__(self, idx: int) -> None:
        super().__init__(idx)

    @property
    def idx(self) -> int:
        """The position of the element."""
        return self._value  # type: ignore[no-any-return]


class _KeyOfNode(_Key):
    __slots__ = ()

    def __init__(self, key: Any) -> None:
        super().__init__(key)

    @property
    def key(self) -> Any:
        """The key of a mapping, or the position of the child."""
        return self._value


class DictKey(_KeyOfNode):
    """The step to the value of a key of a mapping.

    >>> str(DictKey("weights"))
    "['weights']"
    """

    __slots__ = ()


class GetAttrKey(_Key):
    """The step to an attribute.

    >>> str(GetAttrKey("weights"))
    '.weights'
    """

    __slots__ = ()
    __match_args__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(name)

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self._value  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return f".{self._value}"


class FlattenedIndexKey(_KeyOfNode):
    """The step to a child of a node whose type does not name its children.

    >>> str(FlattenedIndexKey(0))
    '[<flat index 0>]'
    """

    __slots__ = ()

    def __str__(self) -> str:
        return f"[<flat index {self._value}>]"


KeyEntry: TypeAlias = Any
"""One step of a path: one of the key types, or whatever a node type uses instead."""
KeyPath: TypeAlias = tuple[KeyEntry, ...]
"""The steps from the root to a node; empty for the root."""


def keystr(keys: Iterable[KeyEntry], *, simple: bool = False, separator: str = "") -> str:
    """Write a path as text; that of the root is empty.

    Args:
        keys: the path.
        simple: write the bare names and positions, without brackets and quotes.
        separator: what to put between the steps.

    >>> path = (DictKey("layers"), SequenceKey(0), GetAttrKey("bias"))
    >>> keystr(path)
    "['layers'][0].bias"
    >>> keystr(path, simple=True, separator="/")
    'layers/0/bias'
    """
    if not isinstance(separator, str):
        raise TypeError(f"keystr: separator must be a text, but it is {separator!r:.60}.")
    bare = (key._value if simple and isinstance(key, _Key) else key for key in keys)
    return separator.join(map(str, bare))


def position(path: Iterable[KeyEntry], prefix: str = "") -> str:
    """Say where a path leads, for an error message: ``at path ['a'][1]`` or ``at the root``."""
    keys = tuple(path)
    if not keys:
        return f"at {prefix}" if prefix else "at the root"
    if len(keys) > 3 * _SHOWN:
        hidden = len(keys) - 2 * _SHOWN
        return f"at path {prefix}{keystr(keys[:_SHOWN])}<{hidden} more>{keystr(keys[-_SHOWN:])}"
    return f"at path {prefix}{keystr(keys)}"
