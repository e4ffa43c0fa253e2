"""Random programs under random transformations: evaluated, compiled, and by JAX, all the same."""

from __future__ import annotations

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


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


# Each step maps the values so far to one more; all stay bounded, so that errors do not grow.
UNARY: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda ops, x: ops.sin(x),
    "tanh": lambda ops, x: ops.tanh(x),
    "logistic": lambda ops, x: ops.logistic(x),
    "exp(-x²)": lambda ops, x: ops.exp(-x * x),
    "sqrt(1+x²)": lambda ops, x: ops.tanh(ops.sqrt(x * x + 1.0)),
    "log(2+x²)": lambda ops, x: ops.log(x * x + 2.0),
    "integer_pow": lambda ops, x: ops.integer_pow(ops.tanh(x), 3),
    "abs": lambda ops, x: abs(x - 0.3),
    "reverse": lambda ops, x: ops.rev(x, (0,)),
    "transpose": lambda ops, x: ops.transpose(x, (1, 0)),
    "slice": lambda ops, x: ops.concatenate([x[1:], x[:1]], 0),
    "sum": lambda ops, x: x - x.sum(0) * 0.1,
    "max": lambda ops, x: x - x.max(),
    "scale": lambda ops, x: x * 0.5 - 1.0,
}
BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda ops, x, y: (x + y) * 0.5,
    "sub": lambda ops, x, y: x - y * 0.5,
    "mul": lambda ops, x, y: ops.tanh(x * y),
    "div": lambda ops, x, y: x / (y * y + 1.0),
    "max": lambda ops, x, y: ops.max(x, y),
    "select": lambda ops, x, y: ops.select(x > y, x, y * 0.9),
    "matmul": lambda ops, x, y: ops.tanh(x @ y),
    "cond": lambda ops, x, y: ops.cond(x[0, 0] > y[0, 0], lambda a, b: a, lambda a, b: b, x, y),
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from([*UNARY, *(f"2:{name}" for name in BINARY)]),
        st.integers(0, 99),
        st.integers(0, 99),
    ),
    min_size=5,
    max_size=15,
)
CHAINS = st.lists(st.sampled_from(["jit", "grad", "jvp", "linearize", "vmap"]), max_size=3)


def program(ops: Any, steps: list[tuple[str, int, int]]) -> Function:
    def run(x: Any) -> Any:
        values = [x, x * x - 0.5]
        for name, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            binary = name.startswith("2:")
            values.append(BINARY[name[2:]](ops, a, b) if binary else UNARY[name](ops, a))
        return (values[-1] * values[len(values) // 2]).sum()

    return run


SCALES = np.array([0.5, 1.5])


def squared_gradient(api: Any, fun: Function) -> Function:
    gradient = api.grad(fun)
    return lambda x: (gradient(x) * gradient(x)).sum() * 0.1


TRANSFORMATIONS: dict[str, Callable[[Any, Function], Function]] = {
    "jit": lambda api, fun: api.jit(fun),
    "grad": squared_gradient,
    "jvp": lambda api, fun: lambda x: api.jvp(fun, (x,), (x * 0.5,))[1],
    "linearize": lambda api, fun: lambda x: api.linearize(fun, x)[1](x * 0.25),
    "vmap": lambda api, fun: lambda x: api.vmap(lambda s: fun(x * s))(SCALES).sum(),
}


def transformed(api: Any, fun: Function, chain: list[str]) -> Function:
    """Apply transformations to a function from a matrix to a scalar, again and again."""
    for name in chain:
        fun = TRANSFORMATIONS[name](api, fun)
    return fun


@seed(20261121)
@settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS, chain=CHAINS, data=st.integers(0, 2**32 - 1))
def test_random_program(steps: list[tuple[str, int, int]], chain: list[str], data: int) -> None:
    x = np.random.default_rng(data).standard_normal((3, 3))
    fun = transformed(bindax, program(lax, steps), chain)
    with bindax.config.override(backend="numpy", check_jaxprs=True):
        evaluated = fun(x)
    compiled = bindax.jit(fun)(x)
    assert evaluated.dtype == compiled.dtype == np.float64
    expected = jax.jit(transformed(jax, program(jax.lax, steps), chain))(x)
    tolerance = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(evaluated, expected, **tolerance)
    np.testing.assert_allclose(compiled, expected, **tolerance)
