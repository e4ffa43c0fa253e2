"""Partition specs: for each axis of an array, the mesh axes that divide it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from itertools import combinations
from typing import Any, Final

from bindax_core.arrays._settings import config


class _Unconstrained:
    """The entry of an axis that the compiler may divide as it likes."""

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED: Final = _Unconstrained()


class UnreducedKind(Enum):
    """The reduction by which the terms that devices hold become one value.

    Attributes:
        sum: they are added up, as ``P(unreduced=...)`` means.
        max: the greatest counts, as by ``pmax``. Types have no such terms.
        min: the least counts, as by ``pmin``. Types have no such terms.

    >>> PartitionSpec(unreduced={"x"}).unreduced_kind
    <UnreducedKind.sum: 1>
    """

    sum = 1
    max = 2
    min = 3


class PartitionSpec(Sequence[Any]):
    """The mesh axes that divide each axis of an array.

    Args:
        partitions: for each axis of the array the name of a mesh axis, a tuple of names (the
            first divides outermost), None for an axis that is not divided, or
            ``PartitionSpec.UNCONSTRAINED`` for one that the compiler decides on. Axes of the array
            that are left out at the end are not divided.
        unreduced: mesh axes along which devices hold parts of a sum that is still to be added up.
        reduced: mesh axes along which devices hold copies, whose cotangents are ``unreduced``.
        unreduced_kind: ``UnreducedKind.sum``, which None stands for.

    Raises:
        ValueError: when a name occurs twice, or the kind is another one.

    >>> P = PartitionSpec
    >>> P("x", None, ("y", "z"))
    P('x', None, ('y', 'z'))
    >>> len(P("x")), P("x")[0]
    (1, 'x')
    >>> P("x", unreduced={"y"})
    P('x', unreduced={'y'})
    """

    UNCONSTRAINED: Final = UNCONSTRAINED

    def __init__(
        self,
        *partitions: Any,
        unreduced: Any = (),
        reduced: Any = (),
        unreduced_kind: UnreducedKind | None = None,
    ) -> None:
        if unreduced_kind not in (None, UnreducedKind.sum):
            raise ValueError(
                f"PartitionSpec: unreduced_kind={unreduced_kind!r} must be UnreducedKind.sum: what "
                f"devices hold is added up. Take the greatest or least of it inside of shard_map, "
                f"by pmax or pmin."
            )
        self._entries = tuple([_entry(given) for given in partitions])
        self.unreduced: frozenset[Any] = _names(unreduced, "unreduced")
        self.reduced: frozenset[Any] = _names(reduced, "reduced")
        names = self.names
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"{self!r} has the mesh axis {twice!r} twice; a mesh axis divides one axis of an "
                f"array."
            )
        if self.unreduced or self.reduced:
            self._refuse_overlaps(frozenset(names))

    def _refuse_overlaps(self, dividing: frozenset[Any]) -> None:
        sets = {"partitions": dividing, "unreduced": self.unreduced, "reduced": self.reduced}
        for one, other in combinations(sets, 2):
            shared = sorted(sets[one] & sets[other], key=str)
            if shared:
                raise ValueError(
                    f"{self!r} has the mesh axis {shared[0]!r} among its {one} and as {other}; "
                    f"along an axis an array is divided, unreduced or reduced."
                )

    @property
    def unreduced_kind(self) -> UnreducedKind | None:
        """The reduction that is still to be done, or None."""
        return UnreducedKind.sum if self.unreduced else None

    @property
    def partitions(self) -> tuple[Any, ...]:
        """The entries."""
        return self._entries

    @property
    def axes(self) -> tuple[tuple[Any, ...], ...]:
        """The names of each entry as a tuple, empty where it names no mesh axis."""
        named = [() if entry is None or is_open(entry) else entry for entry in self._entries]
        return tuple([entry if type(entry) is tuple else (entry,) for entry in named])

    @property
    def names(self) -> tuple[Any, ...]:
        """The mesh axes that divide axes of the array, in order."""
        return tuple([name for axes in self.axes for name in axes])

    def padded(self, ndim: int) -> PartitionSpec:
        """The spec with an entry for each of ``ndim`` axes."""
        return self.update((*self._entries, *[None] * (ndim - len(self._entries))))

    def inserted(self, axis: int, entry: Any = None) -> PartitionSpec:
        """The spec of an array with one more axis, before the given one."""
        before = self.padded(max(axis, len(self._entries)))._entries
        return self.update((*before[:axis], entry, *before[axis:]))

    def removed(self, axis: int) -> PartitionSpec:
        """The spec of an array without one of its axes."""
        return self.update((*self._entries[:axis], *self._entries[axis + 1 :]))

    def of_cotangent(self) -> PartitionSpec:
        """The spec of cotangents: unreduced where it is reduced, and the other way round."""
        if not self.unreduced and not self.reduced:
            return self
        return PartitionSpec(*self._entries, unreduced=self.reduced, reduced=self.unreduced)

    def update(
        self,
        partitions: Iterable[Any] | None = None,
        unreduced: Any = None,
        reduced: Any = None,
        *,
        unreduced_kind: UnreducedKind | None = None,
    ) -> PartitionSpec:
        """The spec with some of its parts replaced; what is None stays.

        >>> PartitionSpec("x", unreduced={"y"}).update((None,), reduced={"z"})
        P(None, unreduced={'y'}, reduced={'z'})
        """
        return PartitionSpec(
            *(self._entries if partitions is None else partitions),
            unreduced=self.unreduced if unreduced is None else unreduced,
            reduced=self.reduced if reduced is None else reduced,
            unreduced_kind=unreduced_kind,
        )

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    def __add__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*self._entries, *other)

    def __radd__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*other, *self._entries)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is PartitionSpec
            and other._entries == self._entries
            and other.unreduced == self.unreduced
            and other.reduced == self.reduced
        )

    def __hash__(self) -> int:
        return hash((PartitionSpec, self._entries, self.unreduced, self.reduced))

    def __repr__(self) -> str:
        shown = [repr(entry) for entry in self._entries]
        for word, names in (("unreduced", self.unreduced), ("reduced", self.reduced)):
            if names:
                shown.append(f"{word}={{{', '.join(sorted(map(repr, names)))}}}")
        # JAX writes the tuple of the entries, where one has a comma behind it.
        comma = "," if config.conventions == "jax" and len(shown) == len(self._entries) == 1 else ""
        return f"P({', '.join(shown)}{comma})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(PartitionSpec, unreduced=self.unreduced, reduced=self.reduced), self._entries


def is_open(entry: Any) -> bool:
    """Tell whether an entry leaves an axis to the compiler."""
    return isinstance(entry, _Unconstrained)


def _names(given: Any, what: str) -> frozenset[Any]:
    """The names of a set of mesh axes."""
    if isinstance(given, str) or not isinstance(given, (set, frozenset, tuple, list)):
        raise TypeError(f"PartitionSpec: {what}={given!r:.80} must be a set of names of mesh axes.")
    if None in given:
        raise ValueError(f"PartitionSpec: {what} holds None, which names no mesh axis.")
    return frozenset(given)


def _entry(given: Any) -> Any:
    """One name without a tuple; no names as None."""
    if isinstance(given, (tuple, list)):
        if any(name is None or is_open(name) or isinstance(name, tuple) for name in given):
            raise TypeError(
                f"PartitionSpec: the entry {given!r} must hold names of mesh axes, nothing else."
            )
        return None if not given else given[0] if len(given) == 1 else tuple(given)
    if getattr(type(given), "__hash__", None) is None:
        raise TypeError(
            f"PartitionSpec: the entry {given!r:.80} must be the name of a mesh axis, a tuple of "
            f"names, None or PartitionSpec.UNCONSTRAINED."
        )
    return given
