"""Programs of ``shard_map`` for bindax and JAX alike: ``lib`` has ``jnp``, ``lax``, ``P`` and
``shard_map(f, sizes, names, in_specs, out_specs)``.

Each program gives a function and its arguments. Run as a script, the file writes JAX's results,
derivatives and the collectives of its compiled programs, on eight devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32) * np.float32(0.5)


def product(lib: Any) -> Any:
    """A matrix product whose inner axis is divided."""

    def part(x: Any, w: Any) -> Any:
        return lib.lax.psum(x @ w, "x")

    specs = (lib.P(None, "x"), lib.P("x", None))
    return lib.shard_map(part, (8,), ("x",), specs, lib.P()), (numbers(4, 16), numbers(16, 6))


def network(lib: Any) -> Any:
    """A network in data and tensor parallel, and its loss."""

    def part(first: Any, second: Any, x: Any) -> Any:
        hidden = lib.jnp.tanh(x @ first)
        out = lib.lax.psum(hidden @ second, "model")
        return lib.lax.pmean((out**2).mean(), "data")

    P = lib.P
    specs = (P(None, "model"), P("model", None), P("data", None))
    function = lib.shard_map(part, (4, 2), ("data", "model"), specs, P())
    return function, (numbers(6, 8, seed=1), numbers(8, 4, seed=2), numbers(8, 6, seed=3))


def transposed(lib: Any) -> Any:
    """A transpose by an exchange of all with all, as in a Fourier transform of rows and columns."""

    def part(x: Any) -> Any:
        columns = lib.lax.all_to_all(x * 2, "x", 1, 0, tiled=True)
        return lib.jnp.cumsum(columns, 0)

    function = lib.shard_map(part, (8,), ("x",), (lib.P("x"),), lib.P(None, "x"))
    return function, (numbers(8, 16),)


def ring(lib: Any) -> Any:
    """A sum over all devices, by passing parts on around a ring."""
    around = [(i, (i + 1) % 8) for i in range(8)]

    def part(x: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            total, moving = state
            moving = lib.lax.ppermute(moving, "x", around)
            return total + moving, moving

        total, _ = lib.lax.fori_loop(0, 7, step, (x, x))
        return lib.jnp.sin(total)

    return lib.shard_map(part, (8,), ("x",), (lib.P("x"),), lib.P("x")), (numbers(16, 3),)


def moved_along_a_grid(lib: Any) -> Any:
    """Parts moved on along two axes at once, by all devices and by some."""
    around, some = [(i, (i + 1) % 8) for i in range(8)], [(0, 5), (5, 1), (2, 3)]
    names = ("x", "y")

    def part(x: Any) -> Any:
        def row(x: Any) -> Any:
            return lib.lax.ppermute(x, names, some) + lib.lax.ppermute(x * x, names, around)

        return lib.jnp.sin(x) * lib.vmap(row)(x)

    return lib.shard_map(part, (4, 2), names, (lib.P(names),), lib.P(names)), (numbers(16, 3),)


def gathered(lib: Any) -> Any:
    """Parts gathered and scattered again, in whole and in place."""

    def part(x: Any) -> Any:
        everything = lib.lax.all_gather(x, "x", axis=1)
        tiled = lib.lax.all_gather(x, "x", axis=0, tiled=True)
        back = lib.lax.psum_scatter(tiled * tiled, "x", scatter_dimension=0, tiled=True)
        return back + everything.sum(1) * x

    return lib.shard_map(part, (8,), ("x",), (lib.P("x"),), lib.P("x")), (numbers(16, 4),)


def places(lib: Any) -> Any:
    """Each device computes by its place in the grid."""

    def part(x: Any) -> Any:
        i, j = lib.lax.axis_index("a"), lib.lax.axis_index("b")
        scaled = lib.lax.cond(i > j, lambda x: x * 2, lib.jnp.sin, x)
        return scaled + 10 * i + j

    return (
        lib.shard_map(part, (2, 4), ("a", "b"), (lib.P("a", "b"),), lib.P("a", "b")),
        (numbers(4, 8),),
    )


def groups(lib: Any) -> Any:
    """Sums within pairs of neighbours."""
    pairs = [[0, 1], [2, 3], [4, 5], [6, 7]]

    def part(x: Any) -> Any:
        return lib.lax.psum(x * x, "x", axis_index_groups=pairs)

    function = lib.shard_map(part, (8,), ("x",), (lib.P("x"),), lib.P("x"), False)
    return function, (numbers(8, 3),)


def attention(lib: Any) -> Any:
    """Attention over a divided sequence; keys and values pass around a ring."""
    around = [(i, (i + 1) % 4) for i in range(4)]

    def part(q: Any, k: Any, v: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            total, norm, k, v = state
            weights = lib.jnp.exp(q @ k.T / 2)
            k, v = (lib.lax.ppermute(x, "seq", around) for x in (k, v))
            total, norm = total + weights @ old(v), norm + weights.sum(1)
            return (total, norm, k, v), None

        def old(v: Any) -> Any:
            return lib.lax.ppermute(v, "seq", [(b, a) for a, b in around])

        state = (q * 0, q[:, 0] * 0, k, v)
        (total, norm, _, _), _ = lib.lax.scan(step, state, None, length=4)
        return total / norm[:, None]

    P = lib.P
    function = lib.shard_map(part, (4,), ("seq",), (P("seq"), P("seq"), P("seq")), P("seq"))
    return function, tuple(numbers(8, 4, seed=i) for i in range(3))


def pipeline(lib: Any) -> Any:
    """Layers on different devices; parts of the batch pass from one to the next."""
    on = [(i, i + 1) for i in range(3)]

    def part(w: Any, xs: Any) -> Any:
        stage = lib.lax.axis_index("stage")

        def step(t: Any, state: Any) -> Any:
            moving, out = state
            fresh = lib.lax.dynamic_index_in_dim(xs, lib.jnp.minimum(t, 2), 0, False)
            x = lib.jnp.where(stage == 0, fresh, moving)
            y = lib.jnp.tanh(x @ w[0])
            out = lib.lax.dynamic_update_index_in_dim(out, y, lib.jnp.maximum(t - 3, 0), 0)
            return lib.lax.ppermute(y, "stage", on), out

        start = lib.vary(xs[0] * 0 + 0 * stage), lib.vary(xs * 0 + 0 * stage)
        _, out = lib.lax.fori_loop(0, 6, step, start)
        return lib.lax.psum(lib.jnp.where(stage == 3, out, 0), "stage")

    P = lib.P
    function = lib.shard_map(part, (4,), ("stage",), (P("stage"), P()), P())
    return function, (numbers(4, 5, 5), numbers(3, 2, 5, seed=1))


def extremes(lib: Any) -> Any:
    """A stable softmax over a divided axis."""

    def part(x: Any) -> Any:
        top = lib.lax.pmax(lib.lax.stop_gradient(x.max(1)), "x")
        weights = lib.jnp.exp(x - top[:, None])
        return weights / lib.lax.psum(weights.sum(1), "x")[:, None]

    return (
        lib.shard_map(part, (8,), ("x",), (lib.P(None, "x"),), lib.P(None, "x")),
        (numbers(3, 16),),
    )


def fourier(lib: Any) -> Any:
    """A Fourier transform in two dimensions: of rows, exchanged, of columns."""

    def part(x: Any) -> Any:
        rows = lib.jnp.fft.fft(x, axis=1, norm="ortho")
        columns = lib.lax.all_to_all(rows, "x", 1, 0, tiled=True)
        return lib.jnp.abs(lib.jnp.fft.fft(columns, axis=0, norm="ortho")) ** 2

    function = lib.shard_map(part, (8,), ("x",), (lib.P("x"),), lib.P(None, "x"))
    return function, (numbers(8, 16),)


def block(lib: Any) -> Any:
    """A block of a transformer: the batch is divided, and the heads and hidden units are."""
    jnp, lax, P = lib.jnp, lib.lax, lib.P

    def normed(x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    def part(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, up: Any, down: Any) -> Any:
        h = normed(x)
        scores = jnp.einsum("btd,bsd->bts", h @ wq, h @ wk)
        weights = jnp.exp(scores - lax.stop_gradient(scores.max(-1, keepdims=True)))
        weights = weights / weights.sum(-1, keepdims=True)
        x = x + lax.psum(weights @ (h @ wv) @ wo, "model")
        return x + lax.psum(jnp.tanh(normed(x) @ up) @ down, "model")

    across, down = P(None, "model"), P("model", None)
    specs = (P("data"), across, across, across, down, across, down)
    function = lib.shard_map(part, (2, 4), ("data", "model"), specs, P("data"))
    shapes = [(4, 3, 8), *[(8, 8)] * 4, (8, 16), (16, 8)]
    return function, tuple(numbers(*shape, seed=i) for i, shape in enumerate(shapes))


PROGRAMS: dict[str, Program] = {
    f.__name__: f
    for f in (
        product,
        network,
        transposed,
        ring,
        moved_along_a_grid,
        gathered,
        places,
        groups,
        attention,
        pipeline,
        extremes,
        fourier,
        block,
    )
}


def random_program(seed: int) -> Program:
    """A program of a few operations and collectives on parts of shape (4, 8), drawn at random."""
    rng = np.random.default_rng(seed)
    both = bool(rng.integers(2))
    sizes, names = ((4, 2), ("a", "b")) if both else ((4,), ("a",))
    steps = [(str(rng.choice(STEPS)), str(rng.choice(names)), rng.permutation(4)) for _ in range(5)]

    def make(lib: Any) -> Any:
        def part(x: Any, y: Any) -> Any:
            for step, name, order in steps:
                x = _step(lib, step, name, dict(zip(names, sizes, strict=True))[name], order, x, y)
            return x

        spec = lib.P(("a", "b"), None) if both else lib.P("a", None)
        function = lib.shard_map(part, sizes, names, (spec, lib.P(None, None)), spec, False)
        count = int(np.prod(sizes))
        return function, (numbers(4 * count, 8, seed=seed), numbers(4, 8, seed=seed + 1))

    return make


STEPS = (
    *("sin", "psum", "pmean", "gather", "scatter", "exchange", "permute", "index", "pmax"),
    *("scan", "vmap", "product", "groups", "shift"),
)


def _step(lib: Any, step: str, name: str, size: int, order: Any, x: Any, y: Any) -> Any:
    lax, jnp = lib.lax, lib.jnp
    pairs = [(i, int(j)) for i, j in enumerate(p for p in order if p < size)]
    match step:
        case "sin":
            return jnp.sin(x) + y
        case "psum":
            return x - lax.psum(x * y, name)
        case "pmean":
            return lax.pmean(jnp.cos(x), name) * x
        case "gather":
            return lax.all_gather(x, name, axis=1).sum(1) + x
        case "scatter":
            return jnp.tile(lax.psum_scatter(x, name, tiled=True), (size, 1)) * y
        case "exchange":
            return lax.all_to_all(x, name, 1, 1, tiled=True) * 0.5
        case "permute":
            return lax.ppermute(x, name, pairs)
        case "shift":
            return x + lax.ppermute(x, name, pairs[:-1])
        case "index":
            return x * (1 + lax.axis_index(name))
        case "pmax":
            return x - lax.pmax(lax.stop_gradient(x), name)
        case "groups":
            halves = [list(range(size // 2)), list(range(size // 2, size))]
            return lax.psum(x, name, axis_index_groups=halves) * 0.3
        case "scan":
            carry, _ = lax.scan(lambda c, _: (jnp.sin(c) + lax.pmean(c, name), None), x, None, 3)
            return carry
        case "vmap":
            return lib.vmap(lambda row: row * lax.psum(row, name))(x)
    return jnp.tanh(x @ y.T) @ y


def loss(lib: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: lib.jnp.sum(function(*args) ** 2)


RANDOM = 200
"""The number of random programs with answers: the loss and the squares of its derivatives."""

COLLECTIVES = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
)


def collectives(text: str) -> list[int]:
    """The number of collectives of each kind in the text of a compiled program."""
    return [text.count(f" {name}(") + text.count(f" {name}-start(") for name in COLLECTIVES]


def jax_library() -> Any:
    import types

    import jax

    def shard_map(f: Any, sizes: Any, names: Any, ins: Any, outs: Any, check: bool = True) -> Any:
        devices = np.array(jax.devices()[: int(np.prod(sizes))]).reshape(sizes)
        mesh = jax.sharding.Mesh(devices, names)
        return jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=check)

    return types.SimpleNamespace(
        jnp=jax.numpy,
        lax=jax.lax,
        P=jax.P,
        shard_map=shard_map,
        vary=lambda x: x,
        vmap=jax.vmap,
    )


def main() -> None:
    import os

    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    import jax

    lib = jax_library()
    answers: dict[str, Any] = {}
    for name, program in PROGRAMS.items():
        function, args = program(lib)
        answers[f"{name}/value"] = np.asarray(jax.jit(function)(*args))
        gradient = jax.jit(jax.grad(loss(lib, function), argnums=tuple(range(len(args)))))
        for i, x in enumerate(gradient(*args)):
            answers[f"{name}/gradient/{i}"] = np.asarray(x)
        counts = collectives(jax.jit(function).lower(*args).compile().as_text())
        counts += collectives(gradient.lower(*args).compile().as_text())
        answers[f"{name}/collectives"] = np.array(counts)
    for seed in range(RANDOM):
        function, args = random_program(seed)(lib)
        gradient = jax.jit(jax.value_and_grad(loss(lib, function), argnums=(0, 1)))
        value, cts = gradient(*args)
        answers[f"random/{seed}"] = np.array([value, *(float((ct * ct).sum()) for ct in cts)])
    path = os.path.join(os.path.dirname(__file__), "shard_map_answers.npz")
    np.savez_compressed(path, jax=np.array(jax.__version__), **answers)


if __name__ == "__main__":
    main()
