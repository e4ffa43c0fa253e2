"""Filters: which variables of a graph something is about.

A filter is a type of variables, ``...`` or True for all, None or False for none, a string for the
variables with that ``tag``, a list or tuple of filters for those that any of them takes, or a
function ``(path, value) -> bool``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any as AnyValue
from typing import TypeAlias

from bindax_nnx.variables import Variable

Path: TypeAlias = tuple[AnyValue, ...]
Predicate: TypeAlias = Callable[[Path, AnyValue], bool]
Filter: TypeAlias = AnyValue


def to_predicate(filter: Filter) -> Predicate:
    """The function ``(path, value) -> bool`` that a filter stands for.

    Raises:
        TypeError: it is no filter.

    >>> from bindax_nnx import Param
    >>> to_predicate(Param)(("kernel",), Param(0.0))
    True
    """
    if filter is Ellipsis or filter is True:
        return Everything()
    if filter is None or filter is False:
        return Nothing()
    if isinstance(filter, type):
        return OfType(filter)
    if isinstance(filter, str):
        return WithTag(filter)
    if isinstance(filter, (list, tuple)):
        return Any(*filter)
    if callable(filter):
        predicate: Predicate = filter
        return predicate
    raise TypeError(
        f"{filter!r} is no filter. Filters are types of variables, ... for all, None for none, "
        f"strings for tags, lists of filters, and functions of a path and a value."
    )


@dataclasses.dataclass(frozen=True)
class Everything:
    """Takes every variable.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, Everything()))
    ['bias', 'mean', 'scale', 'var']
    """

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        return True


@dataclasses.dataclass(frozen=True)
class Nothing:
    """Takes no variable.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, Nothing()))
    []
    """

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        return False


@dataclasses.dataclass(frozen=True)
class OfType:
    """Takes variables, and other values, of a type and its subclasses.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, OfType(BatchStat)))
    ['mean', 'var']
    """

    type: type

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        return isinstance(value, self.type)


@dataclasses.dataclass(frozen=True)
class WithTag:
    """Takes variables whose metadata ``tag`` is a string.

    >>> from bindax_nnx import Module, Param, state
    >>> class Model(Module):
    ...     def __init__(self):
    ...         self.frozen, self.free = Param(1.0, tag="frozen"), Param(2.0)
    >>> sorted(state(Model(), WithTag("frozen")))
    ['frozen']
    """

    tag: str

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        if isinstance(value, Variable):
            return value.has_metadata("tag") and bool(value.get_metadata("tag") == self.tag)
        return bool(getattr(value, "tag", None) == self.tag)


@dataclasses.dataclass(frozen=True)
class PathContains:
    """Takes what has a key anywhere in its path; if not exact, a key that contains it as text.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, PathContains("mean")))
    ['mean']
    """

    key: AnyValue
    exact: bool = True

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        if self.exact:
            return self.key in path
        return any(str(self.key) in str(part) for part in path)


@dataclasses.dataclass(frozen=True, init=False)
class PathIn:
    """Takes what is at one of some paths.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, PathIn(("bias",), ("mean",))))
    ['bias', 'mean']
    """

    paths: frozenset[Path]

    def __init__(self, *paths: Path) -> None:
        object.__setattr__(self, "paths", frozenset(map(tuple, paths)))

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        return tuple(path) in self.paths


class _Combination:
    """Filters that are compared by their parts."""

    def __init__(self, *filters: Filter) -> None:
        self.predicates: tuple[Predicate, ...] = tuple(map(to_predicate, filters))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.predicates == other.predicates

    def __hash__(self) -> int:
        return hash((type(self), self.predicates))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.predicates))})"


class Any(_Combination):
    """Takes what any of some filters takes.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, Any(Param, BatchStat)))
    ['bias', 'mean', 'scale', 'var']
    """

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        return any(predicate(path, value) for predicate in self.predicates)


class All(_Combination):
    """Takes what all of some filters take.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, All(Param, PathContains("bias"))))
    ['bias']
    """

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        return all(predicate(path, value) for predicate in self.predicates)


class Not(_Combination):
    """Takes what a filter does not take.

    >>> from bindax_nnx import BatchNorm, BatchStat, Param, Rngs, state
    >>> layer = BatchNorm(2, rngs=Rngs(0))
    >>> sorted(state(layer, Not(Param)))
    ['mean', 'var']
    """

    def __init__(self, filter: Filter) -> None:
        super().__init__(filter)

    def __call__(self, path: Path, value: AnyValue) -> bool:
        """Tell whether the filter takes what is at a path."""
        return not self.predicates[0](path, value)


def check_order(filters: tuple[Filter, ...]) -> None:
    """Raise unless ``...`` is the last of some filters: what follows would never be asked."""
    for position, filter in enumerate(filters[:-1]):
        if filter is Ellipsis or filter is True:
            raise ValueError(
                f"`...` takes all that is left, so it must be the last filter, but it is the one "
                f"at position {position} of {filters!r}."
            )
