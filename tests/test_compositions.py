"""Compositions of transformations, three deep, against JAX."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import lax

Api = Any
Function = Callable[..., Any]


def polynomial(api: Api, ops: Api) -> Function:
    return lambda x: x * x * x - 2.0 * x


def trigonometric(api: Api, ops: Api) -> Function:
    return lambda x: ops.sin(x) * ops.cos(2.0 * x) + ops.exp(-x * x)


def branching(api: Api, ops: Api) -> Function:
    return lambda x: ops.cond(x > 0.7, lambda y: ops.sin(y) * y, lambda y: y * y * y, x)


def with_inner_jit(api: Api, ops: Api) -> Function:
    inner = api.jit(lambda x, y: ops.tanh(x) * y + ops.log(x * x + 1.0))
    return lambda x: inner(x, x * 0.5) + inner(2.0 * x, 1.0)


def with_inner_derivative(api: Api, ops: Api) -> Function:
    return lambda x: api.grad(lambda y: ops.sin(x * y) * y)(x * 2.0) + x


FUNCTIONS = [polynomial, trigonometric, branching, with_inner_jit, with_inner_derivative]


def forward(api: Api, fun: Function) -> Function:
    return lambda x: api.jvp(fun, (x,), (x * 0.0 + 1.0,))[1]


def linear(api: Api, fun: Function) -> Function:
    return lambda x: api.linearize(fun, x)[1](x * 0.0 + 2.0)


def pull_back(api: Api, fun: Function) -> Function:
    return lambda x: api.vjp(fun, x)[1](x * 0.0 + 3.0)[0]


def mapped(api: Api, fun: Function) -> Function:
    """``vmap`` over a batch that is made and reduced inside, so that compositions stay scalar."""
    return lambda x: (api.vmap(fun)(x * np.array([0.5, 1.0, 1.5]))).sum()


TRANSFORMATIONS: dict[str, Callable[[Api, Function], Function]] = {
    "jit": lambda api, fun: api.jit(fun),
    "grad": lambda api, fun: api.grad(fun),
    "jvp": forward,
    "linearize": linear,
    "vjp": pull_back,
    "vmap": mapped,
}


@pytest.mark.every(3)
@pytest.mark.parametrize("make", FUNCTIONS)
@pytest.mark.parametrize("first", TRANSFORMATIONS)
def test_three_transformations(
    make: Callable[[Api, Api], Function], first: str, jax_answers: Any
) -> None:
    x = np.float64(0.6)
    wrong = []
    for chain in itertools.product([first], TRANSFORMATIONS, TRANSFORMATIONS):
        ours = make(bindax, lax)
        for name in reversed(chain):
            ours = TRANSFORMATIONS[name](bindax, ours)
        with bindax.config.override(backend="numpy"):
            found = ours(x)
        expected = _reference(jax_answers, make, chain, x)
        if found.dtype != np.float64 or not np.allclose(found, expected, rtol=1e-11, atol=1e-12):
            wrong.append((chain, float(found), float(expected)))
    assert not wrong


_known: dict[Any, Any] = {}
_FACTORS = {"linearize": 2.0, "vjp": 3.0}


def _reference(jax_answers: Any, make: Any, chain: tuple[str, ...], x: Any) -> Any:
    """JAX's value. ``jit`` changes nothing, and all derivatives of a scalar function are ``grad``
    up to a factor, so that JAX, whose eager derivatives are slow, has less to do."""
    names = tuple("vmap" if name == "vmap" else "grad" for name in chain if name != "jit")

    def by_jax(jax: Any) -> Any:
        if (make, names) not in _known:
            fun = make(jax, jax.lax)
            for name in reversed(names):
                fun = TRANSFORMATIONS[name](jax, fun)
            _known[make, names] = np.asarray(jax.jit(fun)(x))
        return _known[make, names]

    factor = np.prod([_FACTORS.get(name, 1.0) for name in chain])
    return jax_answers(" ".join(names), by_jax).array * factor


@pytest.mark.every(2)
@pytest.mark.parametrize("make", FUNCTIONS)
@pytest.mark.parametrize(
    "chain",
    [
        ("jit", "grad", "jit"),
        ("grad", "jit", "vmap"),
        ("vmap", "jit", "grad"),
        ("jit", "vmap", "grad"),
        ("jvp", "jit", "grad"),
        ("grad", "jit", "grad"),
        ("jit", "linearize", "jit"),
        ("vjp", "jit", "jvp"),
        ("jit", "jit", "jit"),
    ],
)
def test_compiled(
    make: Callable[[Api, Api], Function], chain: tuple[str, ...], jax_answers: Any
) -> None:
    x = np.float64(0.6)
    ours = make(bindax, lax)
    for name in reversed(chain):
        ours = TRANSFORMATIONS[name](bindax, ours)
    expected = _reference(jax_answers, make, chain, x)
    np.testing.assert_allclose(ours(x), expected, rtol=1e-11, atol=1e-12)


def test_python_control_flow_against_jax(jax_answers: Any) -> None:
    def make(ops: Any) -> Function:
        def fun(x: Any) -> Any:
            total = x * 0.0
            while x > 1.0:
                x = x * 0.5
                total = total + ops.sin(x)
            return total * x

        return fun

    for value in (0.3, 1.7, 9.0):
        x = np.float64(value)
        slopes = lambda api, ops, x=x: [  # noqa: E731
            api.grad(make(ops))(x),
            api.grad(api.grad(make(ops)))(x),
        ]
        wanted = jax_answers(str(value), lambda jax, slopes=slopes: slopes(jax, jax.lax))
        for a, b in zip(slopes(bindax, lax), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
