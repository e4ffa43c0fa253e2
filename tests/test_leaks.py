"""Traced values that outlive their traces are found, and transformations keep none."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax
from bindax.errors import UnexpectedTracerError

HERE = Path(__file__).name
X = np.array([-1.0, 2.0], np.float32)


@pytest.fixture(autouse=True)
def small_heap() -> None:
    """Keep what other tests left out of the sight of the search for leaks, which takes long."""
    gc.freeze()


def test_leaked_tracers_are_found() -> None:
    kept: list[Any] = []

    def leaky(x: Any) -> Any:
        kept.append(lax.sin(x))
        return x

    message = (
        r"^1 traced value outlived its trace\. The first is float32\[2\] in jit of leaky "
        rf"\(.*{HERE}:\d+\); it was made by sin at .*{HERE}:\d+ \(leaky\)\. Return it from "
    )
    with pytest.raises(UnexpectedTracerError, match=message), bindax.checking_leaks():
        bindax.jit(leaky)(X)
    with bindax.checking_leaks():  # what leaked before is not this block's
        pass
    with pytest.raises(ZeroDivisionError), bindax.checking_leaks():
        bindax.vmap(lambda x: leaky(x) * (1 / 0))(X)


def mapped(x: Any) -> Any:
    return lax.scan(lambda carry, a: (carry, lax.log(a) + 1.0), 0.0, x)[1]


def test_transformations_leak_nothing() -> None:
    with bindax.checking_leaks():
        f = bindax.jit(lambda x: mapped(jnp.abs(x)).sum())
        _, pullback = bindax.vjp(bindax.checkpoint(f), X)
        pullback(np.float32(1))
        _, linear = bindax.linearize(f, X)
        bindax.vmap(bindax.grad(lambda x: jnp.exp(x) ** 2))(X)
        bindax.jit(bindax.hessian(lambda x: (jnp.sin(x) * x).sum()))(X)
        linear(X)


@pytest.mark.parametrize(
    "transform",
    [
        bindax.jit,
        bindax.grad,
        bindax.make_jaxpr,
        bindax.vmap,
        bindax.checkpoint,
        lambda f: bindax.grad(bindax.jit(f)),
        lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2),
    ],
)
def test_leaks_are_found_when_a_trace_ends(transform: Any) -> None:
    kept: list[Any] = []

    def leaking(x: Any) -> Any:
        kept.append(x)
        return x * 2.0

    x = np.ones(2, np.float32) if transform is bindax.vmap else np.float32(1.0)
    with bindax.check_tracer_leaks():
        transform(lambda x: x * 2.0)(x)
        with pytest.raises(UnexpectedTracerError, match=r"^Leaked trace: .*test_leaks"):
            transform(leaking)(x)
