"""Random programs under random transformations: evaluated, compiled, and by JAX, all the same.

100 programs run with the other tests; BINDAX_RANDOM_PROGRAMS=2000 is the nightly run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import bindax
from bindax import lax

sys.path.insert(0, str(Path(__file__).parent))

from _random_program_steps import BINARY, UNARY

jax: Any = pytest.importorskip("jax", reason="JAX is the reference of differential tests")

Function = Callable[..., Any]
Step = tuple[str, int, int]
COUNT = int(os.environ.get("BINDAX_RANDOM_PROGRAMS", "100"))
PARTS = 4  # tests, so that several processes share the work
# Compiling well takes longer than running slowly, for programs that run once.
COMPILER_OPTIONS = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


STEPS = st.lists(
    st.tuples(
        st.sampled_from([*UNARY, *(f"2:{name}" for name in BINARY)]),
        st.integers(0, 99),
        st.integers(0, 99),
    ),
    min_size=5,
    max_size=50,
)
CHAINS = st.lists(st.sampled_from(["jit", "grad", "jvp", "linearize", "vmap"]), max_size=3)


# XLA refuses Fourier transforms of matrices in the order of LAPACK, in programs of JAX too.
LAPACK = ("cholesky", "2:triangular_solve")


def program(ops: Any, steps: list[Step]) -> Function:
    if any(name == "2:fft" for name, _, _ in steps):
        steps = [step for step in steps if step[0] not in LAPACK]

    def run(x: Any) -> Any:
        values = [x, x * x - 0.5]
        for name, i, j in steps:
            # One operand is among the last three values, so that most of the steps matter.
            a, b = values[-1 - i % min(len(values), 3)], values[j % len(values)]
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


def affordable(chain: list[str], count: int) -> list[str]:
    """Leave out transformations where a program is long: each one makes it longer."""
    while count * 3 ** len(chain) > 300:
        chain = chain[1:]
    return chain


def check_program(steps: list[Step], chain: list[str], data: int) -> None:
    x = np.random.default_rng(data).standard_normal((3, 3))
    chain = affordable(chain, len(steps))
    fun = transformed(bindax, program(lax, steps), chain)
    with bindax.config.override(backend="numpy", check_jaxprs=True):
        evaluated = fun(x)
        nearby = fun(x * (1 + 1e-12))
    compiled = bindax.jit(fun)(x)
    assert evaluated.dtype == compiled.dtype == np.float64
    theirs = transformed(jax, program(jax.lax, steps), chain)
    expected = jax.jit(theirs, compiler_options=COMPILER_OPTIONS)(x)
    # Derivatives of long programs can magnify rounding: by as much as they magnify this change.
    magnified = 10 * abs(float(nearby) - float(evaluated))
    tolerance = {"rtol": 1e-9, "atol": 1e-11 + magnified}
    np.testing.assert_allclose(evaluated, expected, **tolerance)
    np.testing.assert_allclose(compiled, expected, **tolerance)


@pytest.mark.timeout(0 if COUNT > 100 else 900)
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part: int) -> None:
    @seed(20261121 + part)
    @settings(
        max_examples=-(-COUNT // PARTS),
        deadline=None,
        database=None,
        phases=[Phase.generate],  # making a failing program smaller would compile for minutes
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(steps=STEPS, chain=CHAINS, data=st.integers(0, 2**32 - 1))
    def check(steps: list[Step], chain: list[str], data: int) -> None:
        check_program(steps, chain, data)

    check()
