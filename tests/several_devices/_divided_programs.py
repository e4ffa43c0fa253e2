"""Training steps that are divided among devices, and what a compiled one exchanges.

The exchanges are counted in the text of the program by other means than ``inspect_mesh`` reads it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import bindax
import bindax.numpy as jnp
from bindax import P
from bindax.sharding import AbstractMesh, NamedSharding

WIDTH, HIDDEN, ROWS = 64, 256, 128
SHAPES = {"up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}
SPECS: dict[str, dict[str, P]] = {
    "data": {"up": P(), "down": P()},
    "model": {"up": P(None, "model"), "down": P("model")},
    "gathered": {"up": P("data"), "down": P("data")},
}
"""The divisions of the weights: none, along a second axis, along that of the batch."""


def loss(params: Any, x: Any) -> Any:
    hidden = jnp.tanh(x @ params["up"])
    return jnp.mean((hidden @ params["down"]) ** 2)


def step_on(mesh: AbstractMesh, specs: Any) -> Any:
    """A training step that leaves its parameters where they were."""
    left = {name: NamedSharding(mesh, spec) for name, spec in specs.items()}

    def step(params: Any, x: Any) -> Any:
        value, slopes = bindax.value_and_grad(loss)(params, x)
        return bindax.tree.map(lambda p, s: p - 0.1 * s, params, slopes), value

    return bindax.jit(step, donate_argnums=0, out_shardings=(left, None))


def arguments() -> tuple[Any, Any]:
    params = {name: bindax.ShapeDtypeStruct(shape, "float32") for name, shape in SHAPES.items()}
    return params, bindax.ShapeDtypeStruct((ROWS, WIDTH), "float32")


_RESULT = re.compile(r"= (\(?[^=]*?\)?) (all-reduce|all-gather|all-to-all|collective-permute)\(")


def counted(text: str) -> Counter[str]:
    """The bytes of the results of each kind of exchange in the text of a compiled program."""
    found: Counter[str] = Counter()
    for line in text.splitlines():
        match = _RESULT.search(line)
        if match is not None:
            shapes = re.findall(r"f32\[([\d,]*)\]", match[1])
            found[match[2]] += sum(
                4 * math.prod(int(n) for n in one.split(",") if n) for one in shapes
            )
    return found
