"""Programs of functions that are gone give their memory back, in whatever way they were made."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax, nnx
from bindax_core.extend import executable_cache, find_backend

MAPPINGS = Path("/proc/self/maps")
LIMIT = 1
FRESH = 6
X = jnp.ones(4)
P = bindax.P()

pytestmark = [
    pytest.mark.skipif(not MAPPINGS.exists(), reason="the system does not show them"),
    pytest.mark.skipif(bindax.default_backend() == "numpy", reason="nothing is compiled"),
]


def _sharded(f: Any) -> Any:
    return bindax.shard_map(f, mesh=bindax.make_mesh((1,), ("x",)), in_specs=P, out_specs=P)


WAYS: dict[str, Callable[[Any], Any]] = {
    "jit": lambda f: bindax.jit(f)(X),
    "jit of vmap": lambda f: bindax.jit(bindax.vmap(f))(X),
    "vmap of jit": lambda f: bindax.vmap(bindax.jit(f))(X),
    "map": lambda f: lax.map(f, X),
    "jit of map": lambda f: bindax.jit(lambda x: lax.map(f, x))(X),
    "grad of jit": lambda f: bindax.grad(lambda x: bindax.jit(f)(x).sum())(X),
    "linearize of jit": lambda f: bindax.linearize(bindax.jit(f), X)[1](X),
    "vjp of jit": lambda f: bindax.vjp(bindax.jit(f), X)[1](X),
    "scan": lambda f: lax.scan(lambda c, _: (f(c), None), X, None, length=2),
    "cond": lambda f: lax.cond(True, f, f, X),
    "while": lambda f: lax.while_loop(lambda c: c.sum() > 1e9, f, X),
    "checkpoint": lambda f: bindax.grad(lambda x: bindax.checkpoint(f)(x).sum())(X),
    "shard_map": lambda f: _sharded(f)(X),
    "jit of shard_map": lambda f: bindax.jit(_sharded(f))(X),
    "pmap": lambda f: bindax.pmap(f)(X[None]),
    "tree.map of jit": lambda f: bindax.tree.map(bindax.jit(f), {"a": X}),
    "nnx.jit": lambda f: nnx.jit(f)(X),
    "nnx.vmap": lambda f: nnx.jit(nnx.vmap(f))(X),
    "vectorize": lambda f: bindax.jit(jnp.vectorize(f))(X),
    "pure_callback": lambda f: bindax.jit(lambda x: bindax.pure_callback(lambda v: v, x, f(x)))(X),
}


@pytest.fixture(autouse=True)
def few() -> Iterator[None]:
    """Few programs are kept, among them few of those that nobody uses."""
    compiled = find_backend().compiled  # type: ignore[attr-defined]
    before, compiled._limit = compiled._limit, 1
    executable_cache.clear()
    with bindax.config.override(compiled_programs=LIMIT):
        yield
    compiled._limit = before


def mappings_of_code() -> int:
    lines = [line.split() for line in MAPPINGS.read_text(encoding="utf-8").splitlines()]
    return sum(line[1].startswith("r-x") and len(line) == 5 for line in lines)


def fresh(i: int) -> Callable[[Any], Any]:
    return lambda x: jnp.sin(x) * float(i)


OFTEN = ("jit", "jit of map", "vmap of jit", "while", "nnx.jit")


@pytest.mark.parametrize(
    "way", [w if w in OFTEN else pytest.param(w, marks=pytest.mark.nightly) for w in WAYS]
)
def test_programs_of_functions_that_are_gone_are_given_back(way: str) -> None:
    WAYS[way](fresh(-1))
    gc.collect()
    before = mappings_of_code()
    for i in range(FRESH):
        WAYS[way](fresh(i))
    gc.collect()
    assert mappings_of_code() - before <= 2 * LIMIT + 1
