"""A training step as the program of each device, in loops and derivatives, beside one device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
from bindax import P, lax
from bindax import numpy as jnp

RNG = np.random.default_rng(0)
FIRST, SECOND = (RNG.normal(size=shape).astype(np.float32) / 2 for shape in ((6, 8), (8, 3)))
XS, YS = (RNG.normal(size=(3, 16, n)).astype(np.float32) for n in (6, 3))
RATE = np.float32(0.2)

ACROSS, DOWN, ROWS = P(None, "y"), P("y", None), P("x", None)


def whole_loss(params: Any, x: Any, y: Any) -> Any:
    first, second = params
    return jnp.mean((jnp.tanh(x @ first) @ second - y) ** 2)


def part_loss(params: Any, x: Any, y: Any) -> Any:
    """The loss of all rows, from a device's rows and hidden units."""
    first, second = params
    out = lax.psum(jnp.tanh(x @ first) @ second, "y")
    return lax.pmean(jnp.mean((out - y) ** 2), "x")


def trained(loss: Any) -> Any:
    """The parameters and losses after a step for each batch, of a loss of whole arrays."""

    def run(params: Any, rate: Any, xs: Any, ys: Any) -> Any:
        def step(params: Any, batch: Any) -> Any:
            value, slopes = bindax.value_and_grad(loss)(params, *batch)
            return bindax.tree.map(lambda w, g: w - rate * g, params, slopes), value

        return lax.scan(step, params, (xs, ys))

    return run


def divided_loss(mesh: Any) -> Any:
    specs = {"in_specs": ((ACROSS, DOWN), ROWS, ROWS), "out_specs": P()}
    return bindax.shard_map(part_loss, mesh=mesh, **specs)


def divided_steps(mesh: Any) -> Any:
    """All steps as one program of each device: the derivatives of its own rows, then their mean."""

    def step_of(rate: Any) -> Any:
        def step(params: Any, batch: Any) -> Any:
            x, y = batch
            (first, second), hidden = params, jnp.tanh(x @ params[0])
            error = lax.psum(hidden @ second, "y") - y
            value = lax.pmean(jnp.mean(error**2), "x")
            ct = 2 * error / error.size
            back = (ct @ second.T) * (1 - hidden**2)
            slopes = lax.pmean((x.T @ back, hidden.T @ ct), "x")
            return (first - rate * slopes[0], second - rate * slopes[1]), value

        return step

    def run(params: Any, rate: Any, xs: Any, ys: Any) -> Any:
        return lax.scan(step_of(rate), params, (xs, ys))

    rows = P(None, "x")
    specs = {
        "in_specs": ((ACROSS, DOWN), P(), rows, rows),
        "out_specs": ((ACROSS, DOWN), P()),
    }
    return bindax.shard_map(run, mesh=mesh, **specs)


def around(run: Any) -> dict[str, Any]:
    """The training alone, at several rates, and differentiated by the rate and the parameters."""

    def last(params: Any, rate: Any) -> Any:
        return run(params, rate, XS, YS)[1][-1]

    return {
        "scan": lambda: run((FIRST, SECOND), RATE, XS, YS),
        "vmap": lambda: bindax.vmap(run, ((None, None), 0, None, None))(
            (FIRST, SECOND), np.array([0.1, 0.2], np.float32), XS, YS
        ),
        "grad": lambda: bindax.grad(last, (0, 1))((FIRST, SECOND), RATE),
        "vmap of grad": lambda: bindax.vmap(bindax.grad(last, 1), (None, 0))(
            (FIRST, SECOND), np.array([0.1, 0.2], np.float32)
        ),
    }


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["scan", "vmap", "grad", "vmap of grad"])
@pytest.mark.parametrize("form", ["step in a loop", "loop on each device"])
def test_training_is_that_of_one_device(form: str, name: str, mesh: Any) -> None:
    run = trained(divided_loss(mesh)) if form == "step in a loop" else divided_steps(mesh)
    found = bindax.tree.leaves(bindax.jit(around(run)[name])())
    wanted = bindax.tree.leaves(around(trained(whole_loss))[name]())
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)
