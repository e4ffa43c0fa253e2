"""Programs that are exported by bindax and by JAX, written once for the names that both have."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

SIZES = {"b": 3, "t": 5, "s": 2}
"""The values of the dimension variables, for the calls."""


class Program(NamedTuple):
    """A program, made from the names of a library, and the shapes of its arguments as text."""

    make: Callable[[Any], Callable[..., Any]]
    shapes: tuple[str, ...]


def library(module: Any) -> Any:
    """The names that programs use."""
    names = ("numpy", "nn", "lax", "random", "grad")
    return SimpleNamespace(**{name: getattr(module, name) for name in names})


def operands(program: Program) -> list[Any]:
    """Arrays for a call of a program."""
    rng = np.random.default_rng(0)
    shapes = [
        tuple(SIZES[n] if n in SIZES else int(n) for n in text.rstrip(",").split(","))
        for text in program.shapes
    ]
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def mlp(m: Any) -> Any:
    return lambda x, w, v: m.nn.softmax(m.nn.relu(x @ w + 1) @ v)


def attention(m: Any) -> Any:
    def f(q: Any, k: Any, v: Any) -> Any:
        scores = m.numpy.einsum("bqd,bkd->bqk", q, k) / m.numpy.sqrt(q.shape[-1])
        return m.nn.softmax(scores, axis=-1) @ v

    return f


def convolution(m: Any) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lambda x, w: m.lax.conv_general_dilated(
        x, w, (1, 2), "SAME", dimension_numbers=numbers
    ).reshape(x.shape[0], -1)


def recurrence(m: Any) -> Any:
    def f(xs: Any, w: Any, h: Any) -> Any:
        return m.lax.scan(lambda h, x: (m.numpy.tanh(h @ w + x), h.sum(1)), h, xs)

    return f


def transform(m: Any) -> Any:
    return lambda x: m.numpy.abs(m.numpy.fft.fft(x))


def solve(m: Any) -> Any:
    def f(a: Any, y: Any) -> Any:
        definite = a @ m.numpy.swapaxes(a, -1, -2) + 5 * m.numpy.eye(4, dtype=a.dtype)
        return m.numpy.linalg.solve(definite, y), m.numpy.linalg.cholesky(definite)

    return f


def sort(m: Any) -> Any:
    return lambda x: (m.numpy.sort(x, axis=0), m.numpy.argsort(x, axis=-1), m.lax.top_k(x, 2))


def loop(m: Any) -> Any:
    def f(x: Any) -> Any:
        body = lambda c: (c[0] + 1, c[1] * 0.5 + x.mean(0))  # noqa: E731
        return m.lax.while_loop(lambda c: c[0] < 5, body, (np.int32(0), x))

    return f


def gradient(m: Any) -> Any:
    return m.grad(lambda x, w: (m.numpy.tanh(x @ w) ** 2).mean(), argnums=(0, 1))


def indexing(m: Any) -> Any:
    def f(x: Any) -> Any:
        rows = m.numpy.array([0, 2])
        updated = x.at[0].set(1.0).at[:, 1].add(2.0)
        return x[1:], x[::-1], x[-1], x[:, :2], x[rows], x[::2], updated, x[x.shape[0] // 2 :]

    return f


def reductions(m: Any) -> Any:
    def f(x: Any) -> Any:
        some = x.mean(), x.var(axis=0), x.max(axis=1), m.numpy.argmax(x, axis=0)
        return *some, m.numpy.cumsum(x, axis=0), x / x.shape[0], x.size * 1.0 + x

    return f


def creation(m: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        positions = m.numpy.arange(x.shape[0], dtype=x.dtype)
        filled = m.numpy.zeros((y.shape[0], 4), x.dtype)
        return m.numpy.concatenate([x + positions[:, None], filled, x[:1]], axis=0), m.numpy.eye(
            x.shape[0], dtype=x.dtype
        )

    return f


def long_scan(m: Any) -> Any:
    def f(x: Any) -> Any:
        start = m.numpy.zeros(4, x.dtype)
        total = m.lax.fori_loop(0, x.shape[0], lambda i, a: a + x[i], start)
        return total, m.lax.scan(lambda c, r: (c + r, c * r), start, x)

    return f


def noise(m: Any) -> Any:
    return lambda x: x + m.random.uniform(m.random.key(0), x.shape)


PROGRAMS = {
    "mlp": Program(mlp, ("b,4", "4,8", "8,3")),
    "attention": Program(attention, ("b,t,4", "b,s,4", "b,s,5")),
    "convolution": Program(convolution, ("b,8,8,2", "3,3,2,4")),
    "recurrence": Program(recurrence, ("6,b,3", "3,3", "b,3")),
    "transform": Program(transform, ("b,8",)),
    "solve": Program(solve, ("b,4,4", "b,4,2")),
    "sort": Program(sort, ("b,5",)),
    "loop": Program(loop, ("b,3",)),
    "gradient": Program(gradient, ("b,4", "4,2")),
    "indexing": Program(indexing, ("b,4",)),
    "reductions": Program(reductions, ("b,4",)),
    "creation": Program(creation, ("b,4", "t,4")),
    "long_scan": Program(long_scan, ("b,4",)),
    "noise": Program(noise, ("b,4",)),
}
