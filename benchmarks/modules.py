"""Modules beside flat arrays and beside Flax: calls, scans over layers, training steps, import.

Run it as ``python -m benchmarks.modules``; with the group ``reference`` installed it measures Flax
in the same run. Ratios are of medians of interleaved rounds.
"""

from __future__ import annotations

import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from bindax import nnx as ours
from bindax import optimizers

Case = Callable[[], Any]


def interleaved(cases: dict[str, Case], rounds: int = 40, calls: int = 20) -> dict[str, float]:
    """The median time of a call, in microseconds."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            case()
            start = time.perf_counter()
            for _ in range(calls):
                case()
            times[name].append((time.perf_counter() - start) / calls * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def flat_module(nnx: Any, arrays: list[Any]) -> Any:
    """A module with all parameters as attributes."""

    class Flat(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            for i, x in enumerate(arrays):
                setattr(self, f"p{i}", nnx.Param(x))

    return Flat()


def call_cases(count: int, theirs: Any, jax: Any) -> dict[str, Case]:
    """A compiled function that does nothing, of parameters in a module and flat."""
    host = [np.ones((4, 4), "f4") for _ in range(count)]
    arrays = [bnp.asarray(x) for x in host]
    plain = bindax.jit(lambda *xs: None)
    lifted = ours.jit(lambda m: None)
    module = flat_module(ours, arrays)
    other = ours.Linear(1, 1, rngs=ours.Rngs(0))
    exchanged = flat_module(ours, arrays)
    exchanged.train = True

    def after_a_change() -> None:
        other.mark = object()  # of another module
        lifted(module)

    def after_an_exchange() -> None:
        exchanged.train = not exchanged.train
        lifted(exchanged)

    grown = flat_module(ours, arrays)
    added: Any = ours.Param(arrays[0])

    def after_a_growth() -> None:
        if hasattr(grown, "added"):
            del grown.added
        else:
            grown.added = added
        lifted(grown)

    cases: dict[str, Case] = {
        f"flat, {count}": lambda: plain(*arrays),
        f"nnx.jit, {count}": lambda: lifted(module),
        f"nnx.jit after a change elsewhere, {count}": after_a_change,
        f"nnx.jit after an attribute was exchanged, {count}": after_an_exchange,
        f"nnx.jit after an attribute was added or deleted, {count}": after_a_growth,
    }
    if theirs is not None:
        flax_arrays = [jax.numpy.asarray(x) for x in host]
        flax_plain = jax.jit(lambda *xs: None)
        flax_module = flat_module(theirs, flax_arrays)
        flax_lifted = theirs.jit(lambda m: None)
        cases[f"JAX flat, {count}"] = lambda: flax_plain(*flax_arrays)
        cases[f"Flax nnx.jit, {count}"] = lambda: flax_lifted(flax_module)
    return cases


def scan_cases(nnx: Any, jnp: Any, label: str) -> dict[str, Case]:
    """A scan over 24 layers: traced each time, and compiled."""

    @nnx.split_rngs(splits=24)  # type: ignore[untyped-decorator]
    @nnx.vmap  # type: ignore[untyped-decorator]
    def make(rngs: Any) -> Any:
        return nnx.Linear(32, 32, rngs=rngs)

    layers = make(nnx.Rngs(0))
    x = jnp.ones((8, 32))

    def apply(x: Any, layers: Any) -> Any:
        step = nnx.scan(
            lambda x, layer: jnp.tanh(layer(x)), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry
        )
        return step(x, layers)

    compiled = nnx.jit(apply)
    return {
        f"{label}trace of a scan over 24 layers": lambda: nnx.eval_shape(apply, x, layers),
        f"{label}scan over 24 layers": lambda: compiled(x, layers).block_until_ready(),
    }


def trace_cases(nnx: Any, jax: Any, label: str, depth: int = 50) -> dict[str, Case]:
    """A program of layers traced with the parameters in a module, and in a list of pairs."""

    class Layer(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.kernel = nnx.Param(jax.numpy.ones((8, 8)))
            self.bias = nnx.Param(jax.numpy.ones(8))

    class Layers(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.layers = nnx.List([Layer() for _ in range(depth)])

    def apply(pairs: Any, x: Any) -> Any:
        for kernel, bias in pairs:
            x = jax.numpy.tanh(jax.numpy.matmul(x, kernel) + bias)
        return x

    module = Layers()
    pairs = [(layer.kernel[...], layer.bias[...]) for layer in module.layers]
    x = jax.numpy.ones((4, 8))

    def of_module(module: Any, x: Any) -> Any:
        return apply([(layer.kernel[...], layer.bias[...]) for layer in module.layers], x)

    return {
        f"{label}trace of {depth} layers in a list": lambda: jax.eval_shape(apply, pairs, x),
        f"{label}trace of {depth} layers in a module": lambda: nnx.eval_shape(of_module, module, x),
    }


def train_case(nnx: Any, optimizer: Any, jnp: Any, label: str) -> dict[str, Case]:
    """A training step of two blocks of attention."""

    class Block(nnx.Module):  # type: ignore[misc]
        def __init__(self, rngs: Any) -> None:
            self.attention = nnx.MultiHeadAttention(4, 64, decode=False, rngs=rngs)
            self.norm = nnx.LayerNorm(64, rngs=rngs)
            self.wide = nnx.Linear(64, 256, rngs=rngs)
            self.narrow = nnx.Linear(256, 64, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = x + self.attention(self.norm(x))
            return x + self.narrow(nnx.gelu(self.wide(x)))

    model = nnx.Sequential(Block(nnx.Rngs(0)), Block(nnx.Rngs(1)))
    state = nnx.Optimizer(model, optimizer, wrt=nnx.Param)
    x = jnp.ones((8, 32, 64))

    @nnx.jit  # type: ignore[untyped-decorator]
    def step(model: Any, state: Any, x: Any) -> Any:
        loss, grads = nnx.value_and_grad(lambda m: (m(x) ** 2).mean())(model)
        state.update(model, grads)
        return loss

    return {
        f"{label}training step of two blocks": lambda: step(model, state, x).block_until_ready()
    }


def import_time(module: str) -> float:
    """Milliseconds that importing a module takes in a fresh process, NumPy aside."""
    program = (
        "import numpy, time; s = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - s)"
    )
    runs = [subprocess.check_output([sys.executable, "-c", program]) for _ in range(5)]
    return statistics.median(map(float, runs)) * 1e3


def main() -> None:
    """Print a table and a line of JSON."""
    theirs: Any = None
    jax: Any = None
    optax: Any = None
    try:
        theirs = importlib.import_module("flax.nnx")
        jax, optax = importlib.import_module("jax"), importlib.import_module("optax")
    except ImportError:
        theirs = None
    found: dict[str, float] = {}
    for count in (10, 100, 1000):
        found.update(interleaved(call_cases(count, theirs, jax)))
    cases = {
        **scan_cases(ours, bnp, ""),
        **trace_cases(ours, bindax, ""),
        **train_case(ours, optimizers.adam(1e-3), bnp, ""),
    }
    if theirs is not None:
        cases.update(scan_cases(theirs, jax.numpy, "Flax, "))
        cases.update(trace_cases(theirs, jax, "Flax, "))
        cases.update(train_case(theirs, optax.adam(1e-3), jax.numpy, "Flax, "))
    found.update(interleaved(cases, rounds=10, calls=3))
    found["import bindax.nnx (ms)"] = import_time("bindax.nnx")
    if theirs is not None:
        found["import flax.nnx (ms)"] = import_time("flax.nnx")
    width = max(map(len, found))
    for name, value in found.items():
        print(f"{name.ljust(width)}  {value:10.1f}")  # noqa: T201 -- it is a program
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
