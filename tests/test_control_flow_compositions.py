"""Random loops and branches, nested, under random transformations: evaluated, compiled, by JAX."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import bindax
from bindax import lax

jax: Any = pytest.importorskip("jax", reason="JAX is the reference of differential tests")

Function = Callable[..., Any]
Block = list[tuple[Any, ...]]


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


# A program changes a pair of vectors, step by step; all stay bounded, so that errors do not grow.
STEPS: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "sin": lambda ops, x, y: (ops.sin(x), y),
    "mix": lambda ops, x, y: (x * 0.5 + y * 0.4, y),
    "product": lambda ops, x, y: (x, ops.tanh(x * y)),
    "swap": lambda ops, x, y: (y, x),
    "forget": lambda ops, x, y: (x, y * 0.0 + 0.3),
    "sum": lambda ops, x, y: (x - x.sum() * 0.2, y),
    "rotate": lambda ops, x, y: (ops.concatenate([x[1:], x[:1]], 0), y),
    "stop": lambda ops, x, y: (x, ops.stop_gradient(y) * 0.9),
}
SEQUENCE = np.linspace(-1.0, 1.0, 6).reshape(3, 2)
SIMPLE = st.sampled_from(list(STEPS)).map(lambda name: (name,))


FLAT = st.lists(SIMPLE, min_size=1, max_size=2)


def _around(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[Block]:
    """Blocks with one step that has another block inside."""
    control = st.one_of(
        st.tuples(st.just("scan"), st.booleans(), st.sampled_from([1, 2]), inner),
        st.tuples(st.just("for"), st.integers(0, 3), inner),
        st.tuples(st.just("while"), st.integers(1, 3), inner),
        st.tuples(st.just("cond"), st.sampled_from([-0.5, 0.1]), inner, FLAT),
        st.tuples(st.just("switch"), FLAT, inner, FLAT),
        st.tuples(st.just("checkpoint"), inner),
    )
    return st.tuples(SIMPLE, control).map(list)


PROGRAMS = _around(_around(st.one_of(_around(FLAT), FLAT)))
CHAINS = st.lists(
    st.sampled_from(["jit", "grad", "jvp", "linearize", "vmap", "checkpoint"]), max_size=2
)


def run(api: Any, ops: Any, block: Block, x: Any, y: Any, reverse: bool) -> tuple[Any, Any]:
    """Run a block; if reverse mode will pass, loops of unknown length have a known one instead."""

    def inner(block: Block) -> Callable[[Any, Any], tuple[Any, Any]]:
        return lambda x, y: run(api, ops, block, x, y, reverse)

    for name, *rest in block:
        if name in STEPS:
            x, y = STEPS[name](ops, x, y)
        elif name == "scan":
            x, y = _scan(ops, x, y, rest[0], rest[1], inner(rest[2]))
        elif name == "for" or (name == "while" and reverse):
            body = inner(rest[1])
            x, y = ops.fori_loop(0, rest[0], lambda i, xy, body=body: body(*xy), (x, y))
        elif name == "while":
            x, y = _while(ops, x, y, rest[0], inner(rest[1]))
        elif name == "cond":
            x, y = ops.cond(x[0] > rest[0], inner(rest[1]), inner(rest[2]), x, y)
        elif name == "switch":
            index = (x[0] > 0.0).astype(np.int32) + (y[1] > 0.0).astype(np.int32)
            x, y = ops.switch(index, [inner(block) for block in rest], x, y)
        else:
            x, y = api.checkpoint(inner(rest[0]))(x, y)
    return x, y


def _scan(
    ops: Any, x: Any, y: Any, backwards: bool, unroll: int, body: Callable[..., Any]
) -> tuple[Any, Any]:
    def step(carry: Any, row: Any) -> Any:
        x, y = body(carry[0] + row * 0.1, carry[1])
        return (x, y), x * y

    (x, y), rows = ops.scan(step, (x, y), SEQUENCE, reverse=backwards, unroll=unroll)
    return x, ops.tanh(y + rows.sum(0))


def _while(ops: Any, x: Any, y: Any, limit: int, body: Callable[..., Any]) -> tuple[Any, Any]:
    _, x, y = ops.while_loop(
        lambda carry: (carry[0] < limit) & (carry[1][0] < 0.7),
        lambda carry: (carry[0] + 1, *body(carry[1], carry[2])),
        (0, x, y),
    )
    return x, y


def program(api: Any, ops: Any, block: Block, reverse: bool) -> Function:
    def total(x: Any) -> Any:
        a, b = run(api, ops, block, x, x * x - 0.5, reverse)
        return (a * b + a).sum()

    return total


SCALES = np.array([0.5, 1.5, -1.0])


def squared_gradient(api: Any, fun: Function) -> Function:
    gradient = api.grad(fun)
    return lambda x: (gradient(x) * gradient(x)).sum() * 0.1


TRANSFORMATIONS: dict[str, Callable[[Any, Function], Function]] = {
    "jit": lambda api, fun: api.jit(fun),
    "grad": squared_gradient,
    "jvp": lambda api, fun: lambda x: api.jvp(fun, (x,), (x * 0.5,))[1],
    "linearize": lambda api, fun: lambda x: api.linearize(fun, x)[1](x * 0.25),
    "vmap": lambda api, fun: lambda x: api.vmap(lambda s: fun(x * s))(SCALES).sum(),
    "checkpoint": lambda api, fun: api.checkpoint(fun),
}


def transformed(api: Any, ops: Any, block: Block, chain: list[str]) -> Function:
    """Apply transformations to a program as a function of one vector, again and again."""
    fun = program(api, ops, block, "grad" in chain)
    for name in chain:
        fun = TRANSFORMATIONS[name](api, fun)
    return fun


@seed(20261121)
@settings(
    max_examples=25 if os.environ.get("BINDAX_NIGHTLY") else 3,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(block=PROGRAMS, chain=CHAINS, data=st.integers(0, 2**32 - 1))
def test_random_control_flow(block: Block, chain: list[str], data: int) -> None:
    x = np.random.default_rng(data).standard_normal(2)
    fun = transformed(bindax, lax, block, chain)
    with bindax.config.override(backend="numpy", check_jaxprs=True):
        evaluated = fun(x)
    compiled = bindax.jit(fun)(x)
    assert evaluated.dtype == compiled.dtype == np.float64
    expected = jax.jit(transformed(jax, jax.lax, block, chain))(x)
    tolerance = {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(evaluated, expected, **tolerance)
    np.testing.assert_allclose(compiled, expected, **tolerance)
