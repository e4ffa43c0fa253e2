"""``jax.sharding``: what programs ask of the mesh at work."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import Any

import attrs

from bindax.sharding import get_abstract_mesh as get_abstract_mesh
from bindax.sharding import reshard as reshard
from bindax.sharding import use_abstract_mesh as use_abstract_mesh

__all__ = [
    "ManualAxisType",
    "UnreducedKind",
    "get_abstract_mesh",
    "no_collectives",
    "reshard",
    "use_abstract_mesh",
]


class UnreducedKind(Enum):
    """The reduction that parts of an array have not had yet."""

    sum = 1
    max = 2
    min = 3


@attrs.frozen
class ManualAxisType:
    """The axes of a mesh along which a value varies, for annotations; bindax's types have none."""

    varying: frozenset[Any] = frozenset()
    unreduced: frozenset[Any] = frozenset()
    reduced: frozenset[Any] = frozenset()
    unreduced_kind: UnreducedKind | None = None


def no_collectives(axes: Any = frozenset()) -> AbstractContextManager[None]:
    """A context manager that does nothing: collectives are what a function asks for."""
    return nullcontext()
