"""States of optimizers that hold several arrays for a parameter, or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax.numpy as jnp
from bindax import optimizers, tree
from bindax_nnx import Linear, Optimizer, Rngs, jit, pure, state, value_and_grad


def matrices(params: Any) -> Any:
    return tree.map(lambda x: x.ndim > 1, params)


def labels(params: Any) -> Any:
    return tree.map(lambda x: "learned" if x.ndim > 1 else "kept", params)


WAYS = {
    "masked": lambda: optimizers.masked(optimizers.sgd(0.1, momentum=0.9), matrices),
    "partition": lambda: optimizers.partition(
        {"learned": optimizers.adam(0.1), "kept": optimizers.set_to_zero()}, labels
    ),
    "muon": lambda: optimizers.muon(0.1),
    "sm3": lambda: optimizers.sm3(0.1),
}


def step(model: Linear, optimizer: Optimizer, x: Any) -> None:
    _, grads = value_and_grad(lambda model: (model(x) ** 2).mean())(model)
    optimizer.update(model, grads)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_steps_are_those_of_pure_functions(name: str, compiled: bool) -> None:
    if compiled:
        pytest.importorskip("jaxlib", reason="the step is compiled")
    x, tx = jnp.ones((4, 2)), WAYS[name]()
    model = Linear(2, 3, rngs=Rngs(0))
    params = pure(state(model))
    kept = tx.init(params)
    optimizer = Optimizer(model, tx)
    for _ in range(3):
        (jit(step) if compiled else step)(model, optimizer, x)
        grads = value_and_grad(lambda p: ((x @ p["kernel"] + p["bias"]) ** 2).mean())(params)[1]
        updates, kept = tx.update(grads, kept, params)
        params = tree.map(lambda p, u: p + u, params, updates)
    for key, value in params.items():
        np.testing.assert_allclose(pure(state(model))[key], value, rtol=1e-5)
