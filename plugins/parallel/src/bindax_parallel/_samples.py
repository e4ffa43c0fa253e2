"""Samples of ``shard_map``, in which every collective occurs: the suite checks its rules with it.

All parts are computed on one device, so that the samples run everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bindax_lax_basic as lax
import bindax_parallel as parallel
from bindax_core.sharding import AbstractMesh
from bindax_core.sharding import PartitionSpec as P
from bindax_testing import Sample, array, sample

_MESH = AbstractMesh((2,), ("i",))
_GRID = AbstractMesh((2, 2), ("i", "j"))
_PAIRS = [(0, 1)]

PARTS: dict[str, Callable[[Any], Any]] = {
    "psum": lambda x: parallel.psum(x * x, "i"),
    "pmax": lambda x: parallel.pmax(x, "i"),
    "pmin": lambda x: parallel.pmin(x, "i"),
    "all_gather": lambda x: parallel.all_gather(x, "i", axis=1),
    "psum_scatter": lambda x: parallel.psum_scatter(x, "i", tiled=True),
    "all_to_all": lambda x: parallel.all_to_all(x, "i", 0, 1, tiled=True),
    "ppermute": lambda x: parallel.ppermute(x, "i", _PAIRS),
    "pcast": lambda x: x * parallel.pcast(parallel.psum(x, "i"), "i", to="varying"),
    "axis_index": lambda x: x * lax.convert_element_type(parallel.axis_index("i"), x.dtype),
}
"""A function of the part of a device for each collective, by its name."""


def samples() -> Iterator[Sample]:
    """Each collective along an axis of two devices, and programs on a grid."""
    for name, part in PARTS.items():
        mapped = parallel.shard_map(part, mesh=_MESH, in_specs=P("i"), out_specs=P("i"))
        yield sample(mapped, array((4, 2), "float64"), label=f"shard_map-{name}")
    specs = (P("i", "j"), P(None, "j"))
    product = parallel.shard_map(
        lambda x, w: parallel.psum(x * w, ("i", "j")), mesh=_GRID, in_specs=specs, out_specs=P()
    )
    operands = array((2, 4), "float64"), array((1, 4), "float64")
    yield sample(product, *operands, label="shard_map-grid")
    total = parallel.shard_map(
        lambda x, w: (x + w, parallel.pmean(x, "i")), mesh=_GRID, in_specs=specs, out_specs=specs
    )
    yield sample(total, array((2, 4), "float32"), array((1, 4), "float32"), label="shard_map-two")
    jointly = parallel.shard_map(
        lambda x: parallel.ppermute(x * x, ("i", "j"), [(0, 3), (3, 1)]),
        mesh=_GRID,
        in_specs=specs[0],
        out_specs=specs[0],
    )
    yield sample(jointly, array((2, 4), "float64"), label="shard_map-jointly")
    in_common = P("i"), P()
    operands = array((4, 2), "float64"), array((2, 2), "float64")
    passed = parallel.shard_map(
        lambda x, w: x * parallel.ppermute(w, "i", _PAIRS),
        mesh=_MESH,
        in_specs=in_common,
        out_specs=P("i"),
    )
    yield sample(passed, *operands, label="shard_map-common")
    untyped = parallel.shard_map(
        lambda x, w: parallel.psum(x * w, "i"),
        mesh=_MESH,
        in_specs=in_common,
        out_specs=P(),
        check_vma=False,
    )
    yield sample(untyped, *operands, label="shard_map-untyped")
