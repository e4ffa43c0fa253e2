"""Loops: run time of scans and their gradients, tracing of a scanned network and of an unrolled."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import jax
import numpy as np

import bindax
from benchmarks.measure import Case, repeated

WIDTH = 64
BATCH = 8
LAYERS = 50

Function = Callable[..., Any]
Make = Callable[[ModuleType], tuple[Function, tuple[Any, ...]]]


def recurrent_network(library: ModuleType) -> tuple[Function, tuple[Any, ...]]:
    """The loss of a recurrent network over 1,000 steps."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 16
    xs = random.standard_normal((1_000, BATCH, WIDTH)).astype(np.float32)

    def loss(weights: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = library.lax.tanh(h @ weights + x)
            return h, None

        return library.lax.scan(step, xs[0], xs)[0].sum()

    return loss, (weights, xs)


def small_steps(library: ModuleType) -> tuple[Function, tuple[Any, ...]]:
    """The loss of 10,000 steps that compute little."""
    xs = np.random.default_rng(0).standard_normal((10_000, 4)).astype(np.float32)

    def loss(w: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            c = library.lax.sin(w * c + x)
            return c, c * x

        c, ys = library.lax.scan(step, xs[0], xs)
        return c.sum() + ys.sum()

    return loss, (np.full(4, 0.9, np.float32), xs)


def convolution_net(library: ModuleType) -> tuple[Function, tuple[Any, ...]]:
    """The loss of three convolutions on a batch of small images."""
    random = np.random.default_rng(0)
    channels = (3, 16, 32, 32)
    kernels = [
        random.standard_normal((out, given, 3, 3)).astype(np.float32) / (3 * given**0.5)
        for given, out in itertools.pairwise(channels)
    ]
    images = random.standard_normal((8, 3, 32, 32)).astype(np.float32)

    def loss(kernels: list[Any], x: Any) -> Any:
        for kernel in kernels:
            x = library.lax.conv_general_dilated(x, kernel, (1, 1), "SAME")
            x = library.lax.max(x, 0.1 * x)
        return (x * x).sum()

    return loss, (kernels, images)


def task(library: ModuleType, make: Make, gradient: bool) -> Callable[[], Any]:
    """Make the task of running a compiled loss, or its gradient, on arrays on the device."""
    function, numbers = make(library)
    args = library.jit(lambda leaves: library.tree.map(lambda x: x + 0, leaves))(numbers)
    program = library.jit(library.grad(function) if gradient else function)
    leaves = library.tree.leaves
    return lambda: np.asarray(leaves(program(*args))[0])


def network(library: ModuleType, scanned: bool) -> Function:
    """A network of 50 layers, in a loop or written out; a new one, which no cache knows."""

    def layer(x: Any, weights: Any) -> Any:
        w, b = weights
        return library.lax.tanh(x @ w + b), None

    def loss(weights: Any, x: Any) -> Any:
        if scanned:
            return library.lax.scan(layer, x, weights)[0].sum()
        for i in range(LAYERS):
            x, _ = layer(x, (weights[0][i], weights[1][i]))
        return x.sum()

    return loss


def lowered(library: ModuleType, scanned: bool, gradient: bool) -> Callable[[], Any]:
    """Make the task of tracing and lowering a network, or its gradient."""
    width = 16
    weights = (
        np.ones((LAYERS, width, width), np.float32),
        np.ones((LAYERS, width), np.float32),
    )
    x = np.ones((4, width), np.float32)

    def lower() -> Any:
        function = network(library, scanned)
        return library.jit(library.grad(function) if gradient else function).lower(weights, x)

    return lower


PROGRAMS: dict[str, Make] = {
    "run RNN of 1k steps": recurrent_network,
    "run scan of 10k small steps": small_steps,
    "run convolution net": convolution_net,
}


def cases() -> Iterator[Case]:
    """Yield runs, and tracing with lowering, forward and of the gradient."""
    for name, make in PROGRAMS.items():
        for gradient in (False, True):
            own, other = task(bindax, make, gradient), task(jax, make, gradient)
            title = f"{name} gradient" if gradient else name
            yield Case(title, repeated(own, 0.1), repeated(other, 0.1), target=1.05, goal=1.0)
    for scanned, way in ((True, "scanned"), (False, "unrolled")):
        for gradient in (False, True):
            own, other = lowered(bindax, scanned, gradient), lowered(jax, scanned, gradient)
            title = f"trace + lower {LAYERS} layers {way}{' gradient' if gradient else ''}"
            yield Case(title, repeated(own), repeated(other), target=0.5, goal=0.25)
