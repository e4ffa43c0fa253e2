"""Callbacks do in bindax what they do in JAX: the same calls, with the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import lax

jax = pytest.importorskip("jax")

Program = Callable[[Any, Any, Any, Callable[..., None]], Callable[..., Any]]


def nested(xp: Any, lax: Any, debug: Any, record: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        def step(carry: Any, i: Any) -> Any:
            debug.callback(record, i, carry)
            carry = lax.cond(i % 2 == 0, lambda c: c * x, lambda c: noisy(c) + x, carry)
            return carry, carry

        def noisy(c: Any) -> Any:
            debug.callback(record, c)
            return c * c

        return lax.scan(step, x, np.arange(5, dtype=np.int32))[0]

    return f


def searched(xp: Any, lax: Any, debug: Any, record: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        def step(carry: Any) -> Any:
            i, y = carry
            debug.callback(record, i, y)
            return i + 1, xp.jit(lambda y: (debug.callback(record, y), y * x)[1])(y)

        return lax.while_loop(lambda carry: carry[0] < 4, step, (np.int32(0), x))[1]

    return f


def run(xp: Any, lax: Any, program: Any, transform: str) -> tuple[Any, list[Any]]:
    seen: list[Any] = []

    def record(*values: Any) -> None:
        seen.append(tuple(float(x) for x in values))

    f = program(xp, lax, xp.debug, record)
    transforms = {
        "eager": lambda f: f,
        "jit": xp.jit,
        "jvp": lambda f: xp.jit(lambda x: xp.jvp(f, (x,), (x,))[1]),
        "grad": xp.grad,
        "jit of grad": lambda f: xp.jit(xp.grad(f)),
        "vmap": lambda f: lambda x: xp.jit(xp.vmap(f))(x * np.arange(1, 3, dtype=np.float32)),
    }
    out = transforms[transform](f)(np.float32(0.75))
    xp.effects_barrier()
    return np.asarray(out), sorted(seen)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("program", "transform"),
    [
        (nested, "eager"),
        (nested, "jit"),
        (nested, "jvp"),
        (nested, "grad"),
        (nested, "jit of grad"),
        (nested, "vmap"),
        (searched, "jit"),
        (searched, "jvp"),
        (searched, "vmap"),
    ],
)
def test_same_calls_with_same_values(program: Any, transform: str) -> None:
    out, seen = run(bindax, lax, program, transform)
    wanted, wanted_seen = run(jax, jax.lax, program, transform)
    assert np.allclose(out, wanted, rtol=1e-6)
    assert len(seen) == len(wanted_seen)
    for row, wanted_row in zip(seen, wanted_seen, strict=True):
        assert np.allclose(row, wanted_row, rtol=1e-6)


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_same_shapes_for_callbacks_of_batches(method: str) -> None:
    def run(xp: Any) -> tuple[Any, list[Any]]:
        seen: list[Any] = []

        def host(x: Any, y: Any) -> Any:
            x, y = np.asarray(x), np.asarray(y)
            seen.append((x.shape, y.shape))
            return x + y.reshape(y.shape + (1,) * (x.ndim - y.ndim))

        def f(x: Any, y: Any) -> Any:
            kind = xp.ShapeDtypeStruct(x.shape, x.dtype)
            return xp.pure_callback(host, kind, x, y, vmap_method=method)

        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        out = xp.vmap(xp.vmap(f, (0, None)), (None, 0))(
            x.reshape(2, 3, 1), np.arange(4, dtype=np.float32)
        )
        return np.asarray(out), seen

    out, seen = run(bindax)
    wanted, wanted_seen = run(jax)
    assert np.array_equal(out, wanted)
    assert seen == wanted_seen
