"""The devices that take part in an exchange together, in terms of the axes of the mesh."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bindax_core.extend import BackendError
from bindax_core.sharding import AbstractMesh

_LISTS = re.compile(r"(?:replica_groups|source_target_pairs)=(\{\{.*?\}\}|\{\})")
_IOTA = re.compile(r"replica_groups=\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MESH = re.compile(
    r"replica_groups=mesh\[([^\]]*)\](?:, *device_ids=\((.*?)\))?(?<=[\])]) \{([^}]*)\}"
)
_ORDER = re.compile(r"\[([\d,]+)\](?:T\(([\d,]+)\))?")
_AXIS = re.compile(r"'([^']+)'=(\d+)")
_TAKEN = re.compile(r"'([^']+)'(?::\((\d+)\)(\d+))?")
Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Group:
    """The devices that exchange values with each other.

    Attributes:
        axes: the axes of the mesh along which they differ, with the number of devices where it is
            not that of the whole axis: ``"model"``, ``"model (4 of 16)"``.
        size: the number of devices of a group.
        members: for each group the numbers of its devices in the mesh; of a permutation, for each
            device that sends, its number and the other's.
    """

    axes: tuple[str, ...]
    size: int
    members: Numbers = field(compare=False, repr=False)

    def domains(self, domain: int) -> int:
        """Return the most domains that a group spans.

        Args:
            domain: the number of devices of a domain, in the order of the mesh.
        """
        found = np.sort(self.members // domain, axis=1)
        return int(1 + (np.diff(found, axis=1) != 0).sum(1).max(initial=0))


def group_of(text: str, mesh: AbstractMesh) -> Group:
    """Return the groups of an instruction of a compiled program.

    Args:
        text: the instruction.
        mesh: the mesh whose devices it counts, the last axis going fastest.

    >>> from bindax_core.sharding import AbstractMesh
    >>> mesh = AbstractMesh((2, 4), ("data", "model"))
    >>> group_of("all-reduce(%x), replica_groups=[2,4]<=[8]", mesh).axes
    ('model',)
    >>> group_of("all-reduce(%x), replica_groups={{0,4},{1,5},{2,6},{3,7}}", mesh).axes
    ('data',)
    """
    if "source_target_pairs" in text:
        return pairs_between(_lists(text), mesh)
    return group_between(_groups(text, mesh.size), mesh)


def group_between(groups: Sequence[Sequence[int]] | Numbers, mesh: AbstractMesh) -> Group:
    """Return groups of devices of a mesh, by their numbers; the first says along which axes."""
    numbers = np.asarray(groups, np.int64)
    axes = []
    places = np.unravel_index(numbers[0], mesh.axis_sizes) if mesh.axis_sizes else ()
    for (name, size), place in zip(mesh.shape_tuple, places, strict=True):
        count = len(set(place.tolist()))
        if count > 1:
            axes.append(str(name) if count == size else f"{name} ({count} of {size})")
    return Group(tuple(axes), numbers.shape[1], numbers)


def pairs_between(pairs: Sequence[Sequence[int]], mesh: AbstractMesh) -> Group:
    """Return the group of devices each of which sends to another, by their numbers."""
    moved = np.array([pair for pair in pairs if pair[0] != pair[1]], np.int64).reshape(-1, 2)
    if not len(moved):
        return Group((), 1, moved)
    places = np.array(np.unravel_index(moved, mesh.axis_sizes))
    differ = (places[:, :, 0] != places[:, :, 1]).any(1)
    found = [one for one, flag in zip(mesh.shape_tuple, differ, strict=True) if flag]
    axes = tuple(str(name) for name, _ in found)
    return Group(axes, math.prod(size for _, size in found), moved)


def _groups(text: str, count: int) -> Numbers:
    if found := _IOTA.search(text):
        return _counted(found[3], found[4]).reshape(int(found[1]), int(found[2]))
    if found := _MESH.search(text):
        along = _along(found[1], found[3])
        return along if found[2] is None else _order(found[2])[along]
    groups = _lists(text)
    if not groups and "replica_groups=" in text and "replica_groups={}" not in text:
        raise BackendError(f"the devices that exchange in {text.strip():.200} cannot be read.")
    groups = groups or [list(range(count))]  # none stands for one of all
    size = max(map(len, groups))
    return np.array([one for one in groups if len(one) == size], np.int64)


def _counted(sizes: str, order: str | None) -> Numbers:
    """The numbers from 0 on in a grid of some sizes, in another order of its axes."""
    dims = [int(n) for n in sizes.split(",")]
    axes = [int(n) for n in order.split(",")] if order else list(range(len(dims)))
    return np.arange(math.prod(dims)).reshape(dims).transpose(axes).ravel()


def _order(text: str) -> Numbers:
    """The devices of a mesh in its order, as a grid that is transposed or as a list."""
    if found := _ORDER.match(text):
        return _counted(found[1], found[2])
    return np.array([int(n) for n in re.findall(r"\d+", text)], np.int64)


def _lists(text: str) -> list[list[int]]:
    found = _LISTS.search(text)
    groups = re.findall(r"\{([\d,]+)\}", found[1]) if found else []
    return [[int(n) for n in one.split(",")] for one in groups]


def _along(sizes: str, taken: str) -> Numbers:
    """The groups along some axes of a mesh, or along parts of them."""
    shape: list[int] = []
    inside: list[int] = []  # the positions of the axes along which devices exchange
    parts = {name: (before, size) for name, before, size in _TAKEN.findall(taken)}
    for name, whole in _AXIS.findall(sizes):
        total = int(whole)
        before, size = parts.get(name, ("", ""))
        if size:
            inside.append(len(shape) + 1)
            shape += [int(before), int(size), total // int(before) // int(size)]
        else:
            inside += [len(shape)] if name in parts else []
            shape.append(total)
    others = [axis for axis in range(len(shape)) if axis not in inside]
    numbers = np.arange(math.prod(shape)).reshape(shape).transpose([*others, *inside])
    return np.asarray(numbers.reshape(-1, math.prod(shape[axis] for axis in inside)))
