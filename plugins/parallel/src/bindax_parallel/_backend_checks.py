"""The check of collectives on backends that have several devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bindax_parallel as parallel
from bindax_core.sharding import AbstractMesh, make_mesh
from bindax_core.sharding import PartitionSpec as P
from bindax_parallel._samples import PARTS
from bindax_testing import BackendCall, BackendCheck, NotApplicable, backend_check
from bindax_testing.extend import require_same

_X = np.arange(8.0).reshape(4, 2) - 2.5


def checks_of_collectives() -> Iterator[BackendCheck]:
    """Each collective on two devices is what it is when one device computes all parts."""
    yield backend_check("collectives", _collectives)


def _collectives(call: BackendCall) -> None:
    devices = list(call.backend.devices())
    if len(devices) < 2 or not hasattr(call.backend, "place"):
        raise NotApplicable("the backend has one device")
    for name, part in PARTS.items():
        (wanted,) = call.expected(_mapped(part, AbstractMesh((2,), ("i",))), _X)
        mesh = make_mesh((2,), ("i",), devices=devices[:2])
        (got,) = call.results(_mapped(part, mesh), _X)
        require_same(f"{name} on two devices", got, wanted, scale=5.0)


def _mapped(part: Callable[[Any], Any], mesh: Any) -> Callable[[Any], list[Any]]:
    mapped = parallel.shard_map(part, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    return lambda x: [mapped(x)]
