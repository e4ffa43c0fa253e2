"""A primitive of somebody else's package beside a standard one that computes the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bindax
from benchmarks.measure import Case, repeated
from bindax.extend import lowering, primitive, transpose
from bindax_lax_basic.extend import INEXACT, derivative, elementwise, operation

EIGHT = np.linspace(0.1, 0.8, 8, dtype=np.float32)


def plugin_sin(x: Any) -> Any:
    """Compute the sine by a primitive that is declared here."""
    return plugin_sin_p.bind(x)


plugin_sin_p = primitive(
    "benchmarks.sin",
    *elementwise("benchmarks.sin", np.sin, INEXACT),
    derivative(lambda x, y: bindax.lax.cos(x)),
    transpose.absent("not linear"),
    lowering["stablehlo"](operation("stablehlo.sine")),
)


def tasks(sin: Callable[[Any], Any]) -> dict[str, Callable[[], Any]]:
    """Return what is done with a sine of either kind."""
    x = bindax.lax.neg(EIGHT)
    batch = bindax.lax.neg(np.stack([EIGHT] * 4))
    gradient = bindax.grad(lambda x: sin(x).sum())
    batched = bindax.vmap(sin)
    compiled = bindax.jit(sin)
    return {
        "eager": lambda: sin(x),
        "grad": lambda: gradient(x),
        "vmap": lambda: batched(batch),
        "jit": lambda: compiled(x),
        "make_jaxpr": lambda: bindax.make_jaxpr(sin)(x),
    }


def cases() -> Iterator[Case]:
    """Yield each use of a primitive, of a plugin and of the standard package."""
    own, standard = tasks(plugin_sin), tasks(bindax.lax.sin)
    for name, task in own.items():
        yield Case(
            f"a plugin's primitive, {name}",
            repeated(task),
            repeated(standard[name]),
            target=1.05,
            goal=1.0,
            against="a standard primitive",
        )
