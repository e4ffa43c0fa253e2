"""``jax.sharding``: what programs ask of the mesh at work."""

from __future__ import annotations

from typing import Any

import attrs

from bindax.sharding import UnreducedKind as UnreducedKind
from bindax.sharding import get_abstract_mesh as get_abstract_mesh
from bindax.sharding import no_collectives as no_collectives
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


@attrs.frozen
class ManualAxisType:
    """The axes of a mesh along which a value varies, for annotations."""

    varying: frozenset[Any] = frozenset()
    unreduced: frozenset[Any] = frozenset()
    reduced: frozenset[Any] = frozenset()
    unreduced_kind: UnreducedKind | None = None
