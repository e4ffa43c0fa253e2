"""Predictions for an abstract mesh, beside what devices hold and exchange."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import NamedSharding, P
from bindax.sharding import Mesh

from . import _divided_programs as programs


def measured(mesh: Mesh, specs: dict[str, P]) -> Any:
    """The step compiled for devices that there are, and its arguments on them."""
    draw = np.random.default_rng(0)
    params = {
        name: bindax.device_put(
            draw.normal(size=shape).astype(np.float32), NamedSharding(mesh, specs[name])
        )
        for name, shape in programs.SHAPES.items()
    }
    x = np.ones((programs.ROWS, programs.WIDTH), np.float32)
    x = bindax.device_put(x, NamedSharding(mesh, P("data")))
    step = programs.step_on(mesh, specs)
    return step.lower(params, x).compile(), (params, x), step


def held(tree: Any) -> set[int]:
    """The bytes of each device: the sum over all arrays."""
    found: Counter[Any] = Counter()
    for array in bindax.tree.leaves(tree):
        for shard in array.addressable_shards:
            found[shard.device] += shard.data.nbytes
    return set(found.values())


@pytest.mark.every(3)
@pytest.mark.parametrize("shape", [(2, 1), (2, 2), (4, 2)])
@pytest.mark.parametrize("way", programs.SPECS)
def test_bytes_are_those_that_were_predicted(
    eight_devices: Any, way: str, shape: tuple[int, int]
) -> None:
    count = shape[0] * shape[1]
    devices = np.array(eight_devices.devices()[:count], object).reshape(shape)
    mesh, specs = Mesh(devices, ("data", "model")), programs.SPECS[way]
    compiled, operands, step = measured(mesh, specs)
    abstract = mesh.abstract_mesh
    report = bindax.inspect_mesh(programs.step_on(abstract, specs), abstract, specs, P("data"))(
        *programs.arguments()
    )
    plan = compiled.memory_analysis()
    assert report.memory.arguments == plan["argument_size_in_bytes"]
    assert held(operands) == {report.memory.arguments}
    assert report.memory.reused == plan["alias_size_in_bytes"]
    assert report.memory.temporaries is not None
    assert report.memory.temporaries == pytest.approx(
        plan["temp_size_in_bytes"], rel=0.3
    )  # of reductions that it joins

    predicted: Counter[str] = Counter()
    for one in report.exchanges:
        kind = "all-reduce" if one.kind == "reduce-scatter" else one.kind  # sliced on the CPU
        predicted[kind] += int(one.bytes)
    assert predicted == programs.counted(compiled.as_text())

    results = step(*operands)
    assert held(results) == {report.memory.results}
