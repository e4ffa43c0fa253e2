"""Lists and dictionaries that are modules: shared, changed and found again as these are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any

from bindax_nnx.module import Module


class List(Module, MutableSequence[Any]):
    """A list that is a module, with the methods of lists.

    >>> layers = List([1, 2])
    >>> layers.append(3)
    >>> list(layers), len(layers)
    ([1, 2, 3], 3)
    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        for i, item in enumerate(items):
            setattr(self, str(i), item)

    def __len__(self) -> int:
        return sum(map(str.isdecimal, self.__dict__))

    def _name(self, index: int) -> str:
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"a List of {size} items has none at {index}.")
        return str(index % size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.__dict__[self._name(index)]

    def __setitem__(self, index: Any, item: Any) -> None:
        if isinstance(index, slice):
            items = list(self)
            items[index] = item
            self._replace(items)
        else:
            setattr(self, self._name(index), item)

    def __delitem__(self, index: Any) -> None:
        items = list(self)
        del items[index]
        self._replace(items)

    def _replace(self, items: list[Any]) -> None:
        for i in range(len(items), len(self)):
            delattr(self, str(i))
        for i, item in enumerate(items):
            setattr(self, str(i), item)

    def __iter__(self) -> Iterator[Any]:
        return map(self.__dict__.__getitem__, map(str, range(len(self))))

    def insert(self, index: int, item: Any) -> None:
        """Put an item before the one at an index."""
        size = len(self)
        place = min(max(index + size if index < 0 else index, 0), size)
        for i in range(size, place, -1):
            setattr(self, str(i), self.__dict__[str(i - 1)])
        setattr(self, str(place), item)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, List) and list(self) == list(other))

    def __hash__(self) -> int:
        return id(self)

    def __add__(self, other: Iterable[Any]) -> List:
        return List([*self, *other])

    @classmethod
    def _nnx_order(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        others = sorted(name for name in names if not name.isdecimal())
        return (*map(str, range(len(names) - len(others))), *others)

    def _nnx_key(self, name: str) -> Any:
        return int(name) if name.isdecimal() else name


class Dict(Module, MutableMapping[str, Any]):
    """A dictionary with string keys that is a module, with the methods of dictionaries.

    >>> layers = Dict(encoder=1)
    >>> layers["decoder"] = 2
    >>> sorted(layers)
    ['decoder', 'encoder']
    """

    def __init__(self, items: Any = (), **named: Any) -> None:
        for name, item in {**dict(items), **named}.items():
            self[name] = item

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __setitem__(self, name: str, item: Any) -> None:
        setattr(self, name, item)

    def __delitem__(self, name: str) -> None:
        delattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __contains__(self, name: object) -> bool:
        return name in self.__dict__

    def __eq__(self, other: object) -> bool:
        return self is other or Mapping.__eq__(self, other)

    def __hash__(self) -> int:
        return id(self)
