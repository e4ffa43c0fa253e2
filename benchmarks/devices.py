"""Calls and a training step on eight devices, into which XLA divides the CPU.

They are timed in a process of their own, where both libraries have eight devices: the others here
have one, and a library reads their number once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import IO, Any

import numpy as np

from benchmarks.measure import Case, Sampler, repeated

COUNT = 8
FLAG = f"--xla_force_host_platform_device_count={COUNT}"


def call(library: Any, mesh: Any, leaves: int) -> Callable[[], Any]:
    """Make the task of one call with arrays in eight parts, waiting for the results."""
    sharding = library.NamedSharding(mesh, library.P(("data", "model")))
    ones = np.ones((COUNT, 4), np.float32)
    operands = [library.device_put(ones, sharding) for _ in range(leaves)]
    negative = library.jit(lambda *xs: [-x for x in xs])
    return lambda: library.block_until_ready(negative(*operands))


def step(library: Any, mesh: Any) -> Callable[[], Any]:
    """Make the task of a training step, data parallel and tensor parallel."""
    jnp, P = library.numpy, library.P

    def loss(params: Any, x: Any, y: Any) -> Any:
        for w in params[:-1]:
            x = jnp.tanh(x @ w)
        return jnp.mean((x @ params[-1] - y) ** 2)

    def update(params: Any, x: Any, y: Any) -> Any:
        value, slopes = library.value_and_grad(loss)(params, x, y)
        return [p - 1e-3 * s for p, s in zip(params, slopes, strict=True)], value

    specs = [P(None, "model"), P("model", None)] * 4
    draw = np.random.default_rng(0)
    weights = [draw.normal(size=(256, 256)).astype(np.float32) / 16 for _ in specs]
    params = [
        library.device_put(w, library.NamedSharding(mesh, spec))
        for w, spec in zip(weights, specs, strict=True)
    ]
    batch = draw.normal(size=(64, 256)).astype(np.float32)
    x = library.device_put(batch, library.NamedSharding(mesh, P("data")))
    jitted = library.jit(update)
    return lambda: library.block_until_ready(jitted(params, x, x))


TASKS: dict[str, Callable[[Any, Any], Callable[[], Any]]] = {
    "call on 8 devices, 1 leaf": lambda library, mesh: call(library, mesh, 1),
    "call on 8 devices, 100 leaves": lambda library, mesh: call(library, mesh, 100),
    "training step on 8 devices, 8 layers": step,
}


def serve(asked: IO[str], told: IO[str]) -> None:
    """Take a sample for each line that names a library and a task."""
    made: dict[str, Sampler] = {}
    for line in asked:
        key = line.rstrip("\n")
        if key not in made:
            name, task = key.split(" ", 1)
            library = import_module(name)
            auto = import_module(f"{name}.sharding").AxisType.Auto
            mesh = library.make_mesh((4, 2), ("data", "model"), axis_types=(auto, auto))
            made[key] = repeated(TASKS[task](library, mesh), duration=0.1)
        told.write(f"{made[key]()}\n")
        told.flush()


@cache
def server() -> subprocess.Popen[str]:
    """Start the process that takes the samples; it ends with this one, which closes its input."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {FLAG}".strip()
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.devices"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XLA_FLAGS": flags},
    )


def remote(library: str, task: str) -> Sampler:
    """Make a sampler whose samples the other process takes."""

    def sample() -> float:
        asked, told = server().stdin, server().stdout
        if asked is None or told is None:
            raise RuntimeError("the process that takes samples on eight devices has no pipes")
        asked.write(f"{library} {task}\n")
        asked.flush()
        return float(told.readline())

    return sample


def cases() -> Iterator[Case]:
    """Yield the tasks, of bindax beside JAX."""
    for task in TASKS:
        goal = 1.0 if "call" in task else 1.05
        yield Case(task, remote("bindax", task), remote("jax", task), target=1.2, goal=goal)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
