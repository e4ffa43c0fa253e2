"""``shard_map`` beside JAX on eight devices: values, derivatives, collectives, messages."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shard_map_programs

import bindax
import bindax.numpy as bnp
from bindax import lax
from bindax_core.sharding import AbstractMesh
from bindax_core.sharding import PartitionSpec as P
from bindax_parallel import shard_map

HERE = Path(__file__).parent
PROGRAMS = shard_map_programs.PROGRAMS
MESH = AbstractMesh((2, 2), ("x", "y"))
X = np.arange(16, dtype=np.float32).reshape(4, 4) / 8


@pytest.fixture(scope="module")
def answers() -> Any:
    with np.load(HERE / "shard_map_answers.npz") as stored:
        return dict(stored)


def library(make_mesh: Callable[..., Any]) -> Any:
    def mapped(f: Any, sizes: Any, names: Any, ins: Any, outs: Any, check: bool = True) -> Any:
        mesh = make_mesh(sizes, names)
        return shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=check)

    return types.SimpleNamespace(
        jnp=bnp, lax=lax, P=P, shard_map=mapped, vary=lambda x: x, vmap=bindax.vmap
    )


def check(name: str, answers: Any, lib: Any, jit: bool) -> tuple[Any, Any]:
    function, args = PROGRAMS[name](lib)
    loss = shard_map_programs.loss(lib, function)
    gradient = bindax.grad(loss, argnums=tuple(range(len(args))))
    if jit:
        function, gradient = (bindax.jit(f).lower(*args).compile() for f in (function, gradient))
    np.testing.assert_allclose(function(*args), answers[f"{name}/value"], rtol=2e-5, atol=1e-5)
    for i, got in enumerate(gradient(*args)):
        wanted = answers[f"{name}/gradient/{i}"]
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    return function, gradient


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_parts_on_one_device_give_what_jax_gives_on_eight(name: str, answers: Any) -> None:
    check(name, answers, library(AbstractMesh), jit=False)


def check_random(seed: int, answers: Any, lib: Any, jit: bool) -> None:
    function, args = shard_map_programs.random_program(seed)(lib)
    loss = bindax.value_and_grad(shard_map_programs.loss(lib, function), argnums=(0, 1))
    value, cts = (bindax.jit(loss) if jit else loss)(*args)
    got = [float(value), *(float((ct * ct).sum()) for ct in cts)]
    np.testing.assert_allclose(got, answers[f"random/{seed}"], rtol=1e-4, err_msg=f"seed {seed}")


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(shard_map_programs.RANDOM))
def test_random_programs(seed: int, answers: Any) -> None:
    check_random(seed, answers, library(AbstractMesh), jit=False)


def by_vmap() -> Any:
    """The library, with ``shard_map`` as a ``vmap`` for each axis of the mesh."""

    def mapped(f: Any, sizes: Any, names: Any, ins: Any, outs: Any, check: bool = True) -> Any:
        count = int(np.prod(sizes))

        def run(*args: Any) -> Any:
            parts, axes = [], []
            for x, spec in zip(args, ins, strict=True):
                divided = any(spec)
                rows = (*sizes, x.shape[0] // count, *x.shape[1:])
                parts.append(x.reshape(rows) if divided else x)
                axes.append(0 if divided else None)
            batched = f
            for name in reversed(names):
                batched = bindax.vmap(batched, tuple(axes), axis_name=name)
            out = batched(*parts)
            return out.reshape(-1, *out.shape[len(sizes) + 1 :])

        return run

    made = library(AbstractMesh)
    made.shard_map = mapped
    return made


@pytest.mark.every(8)
@pytest.mark.parametrize("seed", range(shard_map_programs.RANDOM))
def test_random_programs_under_vmap(seed: int, answers: Any) -> None:
    check_random(seed, answers, by_vmap(), jit=False)


def on_eight_devices(check: str, timeout: int) -> None:
    code = f"import test_shard_map; test_shard_map.{check}()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_eight_devices_give_what_jax_gives() -> None:
    pytest.importorskip("jaxlib", reason="NumPy has one device")
    on_eight_devices("check_devices", 240)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_eight_devices_give_what_jax_gives_for_all_random_programs() -> None:
    pytest.importorskip("jaxlib", reason="NumPy has one device")
    on_eight_devices("check_all_random", 3600)


def check_all_random() -> None:
    """Run every random program on eight devices, compiled."""
    bindax.config.num_cpu_devices = 8
    with np.load(HERE / "shard_map_answers.npz") as stored:
        answers = dict(stored)
    for seed in range(shard_map_programs.RANDOM):
        check_random(seed, answers, library(bindax.make_mesh), jit=True)
        print(seed, flush=True)


def check_devices() -> None:
    """Run every program on eight devices: by ``jit``, and in part operation by operation."""
    bindax.config.num_cpu_devices = 8
    with np.load(HERE / "shard_map_answers.npz") as stored:
        answers = dict(stored)
    more = {}
    for name in PROGRAMS:
        function, gradient = check(name, answers, library(bindax.make_mesh), jit=True)
        found = [
            count
            for f in (function, gradient)
            for count in shard_map_programs.collectives(f.as_text())
        ]
        wanted = answers[f"{name}/collectives"].tolist()
        if any(a > b for a, b in zip(found, wanted, strict=True)):
            more[name] = found, wanted
    assert not more, more
    for seed in range(0, shard_map_programs.RANDOM, 100):
        check_random(seed, answers, library(bindax.make_mesh), jit=True)
    function, args = PROGRAMS["network"](library(bindax.make_mesh))
    np.testing.assert_allclose(function(*args), answers["network/value"], rtol=1e-5)
