"""Programs that people run, written once for either library: their first call, warm call and peak.

Each takes the package (``bindax`` or ``jax``) and returns a function with its operands.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from benchmarks.rows import Row, Task, first, peak, wait, warm

Program: TypeAlias = Callable[[ModuleType], tuple[Callable[..., Any], tuple[Any, ...]]]


def _part(library: ModuleType, name: str) -> Any:
    return import_module(f"{library.__name__}.{name}")


def _normal(*shape: int, scale: float = 1.0) -> Any:
    numbers = np.random.default_rng(sum(shape)).normal(size=shape)
    return (scale * numbers).astype(np.float32)


def _descent(library: ModuleType, loss: Callable[..., Any]) -> Callable[..., Any]:
    """A step of gradient descent, with the loss before it."""

    def step(parameters: Any, *data: Any) -> Any:
        value, gradient = library.value_and_grad(loss)(parameters, *data)
        return value, library.tree.map(lambda p, g: p - 0.01 * g, parameters, gradient)

    return step


def transformer_step(library: ModuleType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step of training of two blocks with four heads of attention."""
    jnp, nn = _part(library, "numpy"), _part(library, "nn")
    batch, length, width, heads = 4, 32, 64, 4

    def normalized(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    def block(x: Any, p: Any) -> Any:
        q, k, v = jnp.moveaxis((normalized(x) @ p["qkv"]).reshape(*x.shape[:2], 3, heads, -1), 2, 0)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(width / heads))
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v)
        x = x + mixed.reshape(x.shape) @ p["out"]
        return x + nn.gelu(normalized(x) @ p["up"]) @ p["down"]

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        for p in parameters:
            x = block(x, p)
        return ((x - y) ** 2).mean()

    shapes = {"qkv": (width, 3 * width), "out": (width, width)}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    parameters = [{name: _normal(*s, scale=0.1) for name, s in shapes.items()} for _ in range(2)]
    data = _normal(batch, length, width)
    return _descent(library, loss), (parameters, data, data)


def convolution_net(library: ModuleType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step of training of two convolutions, pooling and a dense layer."""
    nn, lax = _part(library, "nn"), library.lax

    def loss(p: Any, images: Any, labels: Any) -> Any:
        x = images
        for kernel in p["kernels"]:
            x = lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            window = (1, 2, 2, 1)
            x = lax.reduce_window(nn.relu(x), -np.inf, lax.max, window, window, "VALID")
        logits = x.reshape(x.shape[0], -1) @ p["dense"]
        return -(nn.log_softmax(logits) * labels).sum(-1).mean()

    kernels = [_normal(3, 3, 1, 8, scale=0.2), _normal(3, 3, 8, 16, scale=0.2)]
    parameters = {"kernels": kernels, "dense": _normal(4 * 4 * 16, 10, scale=0.1)}
    images, labels = _normal(16, 16, 16, 1), np.eye(10, dtype=np.float32)[np.arange(16) % 10]
    return _descent(library, loss), (parameters, images, labels)


def recurrent_net(library: ModuleType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step of training of a gated recurrent network over 64 steps of a scan."""
    jnp, nn, lax = _part(library, "numpy"), _part(library, "nn"), library.lax
    width = 32

    def loss(p: Any, xs: Any, target: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            reset, update = jnp.split(nn.sigmoid(x @ p["gates_x"] + h @ p["gates_h"]), 2, axis=-1)
            new = jnp.tanh(x @ p["new_x"] + (reset * h) @ p["new_h"])
            return update * h + (1 - update) * new, None

        h, _ = lax.scan(step, jnp.zeros_like(xs[0]), xs)
        return ((h - target) ** 2).mean()

    shapes = {"gates_x": (width, 2 * width), "gates_h": (width, 2 * width)}
    shapes |= {"new_x": (width, width), "new_h": (width, width)}
    parameters = {name: _normal(*shape, scale=0.1) for name, shape in shapes.items()}
    return _descent(library, loss), (parameters, _normal(64, 8, width), _normal(8, width))


def hamiltonian_monte_carlo(library: ModuleType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Fifty samples of four chains, each by eight steps of a leapfrog."""
    jnp, random, lax = _part(library, "numpy"), library.random, library.lax
    precision = np.array([[2.0, -0.8], [-0.8, 1.0]], np.float32)

    def log_density(q: Any) -> Any:
        return -0.5 * q @ precision @ q

    def leapfrog(_: Any, state: Any) -> Any:
        q, p = state
        p = p + 0.1 * library.grad(log_density)(q)
        q = q + 0.2 * p
        return q, p + 0.1 * library.grad(log_density)(q)

    def sample(key: Any, q: Any) -> Any:
        def transition(q: Any, key: Any) -> Any:
            for_momentum, for_choice = random.split(key)
            p = random.normal(for_momentum, q.shape, dtype=np.float32)
            new_q, new_p = lax.fori_loop(0, 8, leapfrog, (q, p))
            change = log_density(new_q) - log_density(q) - 0.5 * (new_p @ new_p - p @ p)
            chosen = random.uniform(for_choice, dtype=np.float32)
            q = jnp.where(jnp.log(chosen) < change, new_q, q)
            return q, q

        return lax.scan(transition, q, random.split(key, 50))[1]

    keys = random.split(random.key(4), 4)
    return library.vmap(sample), (keys, _normal(4, 2))


def neural_ode(library: ModuleType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step of training through 32 steps of a Runge-Kutta method of order four."""
    jnp, lax = _part(library, "numpy"), library.lax

    def loss(p: Any, y: Any, target: Any) -> Any:
        def slope(y: Any) -> Any:
            return jnp.tanh(y @ p["in"]) @ p["out"]

        def step(y: Any, _: Any) -> Any:
            k1 = slope(y)
            k2 = slope(y + 0.05 * k1)
            k3 = slope(y + 0.05 * k2)
            k4 = slope(y + 0.1 * k3)
            return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return ((lax.scan(step, y, None, length=32)[0] - target) ** 2).mean()

    parameters = {"in": _normal(4, 32, scale=0.3), "out": _normal(32, 4, scale=0.3)}
    return _descent(library, loss), (parameters, _normal(64, 4), _normal(64, 4))


def per_example_gradients(library: ModuleType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The norm of the gradient of each of 64 examples, in a network of three layers."""
    jnp = _part(library, "numpy")

    def loss(layers: Any, x: Any, y: Any) -> Any:
        for weights in layers:
            x = jnp.tanh(x @ weights)
        return ((x - y) ** 2).sum()

    def norms(layers: Any, x: Any, y: Any) -> Any:
        gradients = library.vmap(library.grad(loss), in_axes=(None, 0, 0))(layers, x, y)
        return jnp.sqrt(sum((g**2).sum((1, 2)) for g in gradients))

    layers = [_normal(32, 64, scale=0.1), _normal(64, 64, scale=0.1), _normal(64, 8, scale=0.1)]
    return norms, (layers, _normal(64, 32), _normal(64, 8))


def gaussian_process(library: ModuleType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step of training of the scales of a Gaussian process with 100 points."""
    jnp = _part(library, "numpy")

    def loss(p: Any, x: Any, y: Any) -> Any:
        squares = ((x[:, None] - x[None]) ** 2).sum(-1)
        covariance = jnp.exp(p["scale"] - 0.5 * squares * jnp.exp(p["inverse_length"]))
        factor = jnp.linalg.cholesky(covariance + 0.1 * jnp.eye(len(x), dtype=np.float32))
        whitened = jnp.linalg.solve(factor, y)
        return 0.5 * whitened @ whitened + jnp.log(jnp.diag(factor)).sum()

    zero = np.zeros((), np.float32)
    x = _normal(100, 2)
    return _descent(library, loss), ({"scale": zero, "inverse_length": zero}, x, np.sin(x[:, 0]))


PROGRAMS: dict[str, Program] = {
    "transformer step": transformer_step,
    "convolution net": convolution_net,
    "recurrent net by scan": recurrent_net,
    "HMC": hamiltonian_monte_carlo,
    "neural ODE": neural_ode,
    "per-example gradients": per_example_gradients,
    "Gaussian process": gaussian_process,
}


_numbers = itertools.count()


def compiled(library: ModuleType, program: Program) -> Task:
    """The task of running a program that is compiled at the first call, to its end.

    It returns a number besides, another one each time, so that no program is found again.
    """
    function, operands = program(library)
    number = float(next(_numbers))
    jitted = library.jit(lambda *operands: (function(*operands), number))
    operands = library.tree.map(_part(library, "numpy").asarray, operands)
    return lambda: wait(library, jitted(*operands))


def rows() -> Iterator[tuple[str, Row]]:
    """Yield the first call, the warm call and the peak of memory of each program."""
    for name, program in PROGRAMS.items():
        prepare = partial(compiled, program=program)
        yield f"{name}, first call", first(prepare, is_long=name not in DAILY)
        yield f"{name}, warm call", warm(prepare, is_long=name not in DAILY)
        yield f"{name}, peak memory", peak(prepare, is_long=name not in DAILY)


DAILY = ("transformer step", "HMC", "Gaussian process")
"""The programs of the small selection."""
