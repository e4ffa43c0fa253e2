"""Programs on a mesh beside the same on one device, and beside JAX."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import P, lax

from ._programs import collectives, placed, programs


@pytest.mark.parametrize("name", ["data parallel", "tensor parallel", "attention backwards"])
def test_as_on_one_device(name: str, mesh: Any) -> None:
    example = programs(bindax)[name]
    jitted = bindax.jit(example.function)
    divided = bindax.tree.leaves(jitted(*placed(bindax, mesh, example)))
    alone = bindax.tree.leaves(jitted(*example.values))
    assert {len(x.devices()) for x in divided} == {8}
    assert {len(x.devices()) for x in alone} == {1}
    for x, y in zip(divided, alone, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)


def test_the_parts_of_parameters_stay_where_they_are(mesh: Any) -> None:
    example = programs(bindax)["tensor parallel"]
    params, x, y = placed(bindax, mesh, example)
    step = bindax.jit(example.function, donate_argnums=0)
    before = bindax.tree.leaves(params)
    losses = []
    for _ in range(3):
        used, (params, loss) = params, step(params, x, y)
        losses.append(float(loss))
        assert all(leaf.is_deleted() for leaf in bindax.tree.leaves(used))
    for x, y in zip(before, bindax.tree.leaves(params), strict=True):
        assert y.sharding.is_equivalent_to(x.sharding, y.ndim)
    assert losses[0] > losses[1] > losses[2]
    assert step.cache_info().misses == 1


def test_nothing_is_exchanged_for_nothing(mesh: Any) -> None:
    example = programs(bindax)["rows by columns"]
    compiled = bindax.jit(example.function).lower(*placed(bindax, mesh, example)).compile()
    assert collectives(compiled.as_text()) == {}


def run_beside_jax(first: str, *names: str) -> list[str]:
    program = Path(__file__).with_name("_beside_jax.py")
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    done = subprocess.run(
        [sys.executable, str(program), first, *names],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.nightly
def test_the_collectives_of_jax() -> None:
    pytest.importorskip("jax")
    *lines, last = run_beside_jax("jax")
    assert last == "done"
    assert len(lines) == len(programs(bindax))  # one more for each difference
    assert "tensor parallel: {'all-reduce': 2}" in lines
    one_each = "'all-gather': 1, 'all-reduce': 3, 'all-to-all': 1, 'reduce-scatter': 1"
    assert f"along both: {{{one_each}}}" in lines


def test_bindax_before_jax() -> None:
    pytest.importorskip("jax")
    lines = run_beside_jax("bindax", "blocks")
    assert lines == ["blocks: {'all-gather': 1, 'all-reduce': 1}", "done"]


def test_exchanges_along_two_axes_are_one_where_they_are_of_a_kind(mesh: Any, numbers: Any) -> None:
    def part(x: Any) -> Any:
        return lax.pmax(lax.psum(x, "x"), "y"), lax.psum(x, ("x", "y"))

    mapped = bindax.jit(bindax.shard_map(part, mesh=mesh, in_specs=P("x", "y"), out_specs=P()))
    sums = numbers.reshape(4, 2, 2, 4).sum(0)
    for found, wanted in zip(mapped(numbers), (sums.max(1), sums.sum(1)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert mapped.lower(numbers).as_text().count("stablehlo.all_reduce") == 3


def test_the_text_of_a_program_says_for_how_many_devices_it_is(on: Any, numbers: Any) -> None:
    text = bindax.jit(lambda x: x + 1, in_shardings=on("x")).lower(numbers).as_text()
    assert "mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32" in text
    assert "num_partitions" not in bindax.jit(lambda x: x + 1).lower(numbers).as_text()
