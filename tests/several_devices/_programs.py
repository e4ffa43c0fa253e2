"""Programs on a mesh of eight devices, for bindax and for JAX alike: ``bx`` is either of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all")


class Example(NamedTuple):
    """A function of arrays, their values, and how they lie on the axes ``x`` (4) and ``y`` (2)."""

    function: Callable[..., Any]
    values: tuple[Any, ...]
    specs: tuple[Any, ...]


def collectives(text: str) -> dict[str, int]:
    """The collectives of an optimized program, counted."""
    found = re.findall(rf" ({'|'.join(COLLECTIVES)})(?:-start)?\(", text)
    return dict(sorted(Counter(found).items()))


def _draw(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    numbers = np.random.default_rng(0)
    return tuple(numbers.normal(size=shape).astype(np.float32) / 2 for shape in shapes)


def programs(bx: Any) -> dict[str, Example]:
    """The programs, by name."""
    jnp, P = bx.numpy, bx.P

    def product(a: Any, b: Any) -> Any:
        return a @ b

    def loss(params: Any, x: Any, y: Any) -> Any:
        for w, b in params[:-1]:
            x = jnp.tanh(x @ w + b)
        w, b = params[-1]
        return jnp.mean((x @ w + b - y) ** 2)

    def step(params: Any, x: Any, y: Any) -> Any:
        value, slopes = bx.value_and_grad(loss)(params, x, y)
        return bx.tree.map(lambda p, g: p - 0.1 * g, params, slopes), value

    def attention(x: Any, qkv: Any, out: Any) -> Any:
        q, k, v = (jnp.einsum("btd,dhk->bhtk", x, w) for w in qkv)
        weights = bx.nn.softmax(jnp.einsum("bhtk,bhsk->bhts", q, k) / 2.0, axis=-1)
        mixed = jnp.einsum("bhts,bhsk->bhtk", weights, v)
        return x + jnp.einsum("bhtk,hkd->btd", mixed, out)

    def decompositions(a: Any) -> Any:
        s = a @ jnp.swapaxes(a, -1, -2) + 4 * jnp.eye(4)
        return jnp.linalg.cholesky(s), jnp.linalg.solve(s, a), jnp.linalg.eigvalsh(s)

    def layers(x: Any, weights: Any) -> Any:
        def layer(x: Any, w: Any) -> Any:
            return jnp.tanh(x @ w), jnp.sum(x)

        return bx.lax.scan(layer, x, weights)

    def along_both(x: Any) -> Any:
        kinds = import_module(f"{bx.__name__}.sharding").AxisType
        mesh = bx.make_mesh((4, 2), ("x", "y"), axis_types=(kinds.Auto,) * 2)
        lax, both = bx.lax, ("x", "y")

        def part(x: Any) -> Any:
            total, low, high = lax.psum(x, both), lax.pmin(x, both), lax.pmax(x, ("y", "x"))
            every = lax.all_gather(jnp.sin(x), both, tiled=True)
            share = lax.psum_scatter(every * x[0], both, scatter_dimension=1, tiled=True)
            swapped = lax.all_to_all(x * 2, ("y", "x"), 1, 0)
            return total * (high - low), share, swapped

        return bx.shard_map(part, mesh=mesh, in_specs=P(both), out_specs=P(both))(x)

    a, b, w1, b1, w2, b2, y = _draw((8, 16), (16, 8), (16, 32), (32,), (32, 8), (8,), (8, 8))
    params = [(w1, b1), (w2, b2)]
    x3, qkv, out, stack = _draw((8, 6, 8), (3, 8, 4, 4), (4, 4, 8), (3, 16, 16))
    (stacked,) = _draw((8, 4, 4))
    replicated = [(P(), P()), (P(), P())]
    divided = [(P(None, "y"), P("y")), (P("y", None), P())]
    heads = P(None, None, "y")
    slopes = bx.grad(lambda *given: jnp.sum(attention(*given) ** 2), argnums=(0, 1, 2))
    return {
        "along both": Example(along_both, (stacked.reshape(16, 8),), (P(("x", "y")),)),
        "rows by columns": Example(product, (a, b), (P("x"), P(None, "y"))),
        "along the sum": Example(product, (a, b), (P(None, "x"), P("x"))),
        "blocks": Example(product, (a, b), (P("x", "y"), P("y", "x"))),
        "gradient": Example(bx.grad(loss), (params, a, y), (replicated, P("x"), P("x"))),
        "data parallel": Example(step, (params, a, y), (replicated, P(("x", "y")), P(("x", "y")))),
        "tensor parallel": Example(step, (params, a, y), (divided, P("x"), P("x"))),
        "attention": Example(attention, (x3, tuple(qkv), out), (P("x"), (heads,) * 3, P("y"))),
        "attention backwards": Example(
            slopes, (x3, tuple(qkv), out), (P("x"), (P(None, "y"),) * 3, P("y"))
        ),
        "decompositions": Example(decompositions, (stacked,), (P("x"),)),
        "scan": Example(layers, (a, stack), (P("x"), P(None, None, "y"))),
    }


def placed(bx: Any, mesh: Any, example: Example) -> tuple[Any, ...]:
    """The operands of a program on the mesh."""

    def put(spec: Any, value: Any) -> Any:
        if isinstance(spec, bx.P):
            return bx.device_put(value, bx.NamedSharding(mesh, spec))
        return type(spec)(map(put, spec, value))

    return tuple(map(put, example.specs, example.values))
