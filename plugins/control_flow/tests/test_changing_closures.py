"""Functions of control flow see what they close over at the time of the call, never earlier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import (
    associative_scan,
    cond,
    fori_loop,
    map,
    platform_dependent,
    scan,
    switch,
    while_loop,
)

SCALE = 2.0
XS = np.arange(1.0, 5.0)
LONG = np.full(3000, 1e-3)


class Holder:
    scale = 2.0


@pytest.fixture(autouse=True, params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param):
        yield


@pytest.fixture(params=["global", "cell", "attribute", "array"])
def change(request: pytest.FixtureRequest) -> Iterator[tuple[Callable[[], Any], Any]]:
    """A function that reads a value, and one that sets it."""
    global SCALE
    cell: Any = 2.0
    holder = Holder()
    array = {"scale": np.array([2.0])}

    def set_global(value: float) -> None:
        global SCALE
        SCALE = value

    def set_cell(value: float) -> None:
        nonlocal cell
        cell = value

    ways: dict[str, Any] = {
        "global": (lambda: SCALE, set_global),
        "cell": (lambda: cell, set_cell),
        "attribute": (lambda: holder.scale, lambda value: setattr(holder, "scale", value)),
        "array": (
            lambda: array["scale"][0:1].sum(),
            lambda value: array.__setitem__("scale", np.array([value])),
        ),
    }
    yield ways[request.param]
    SCALE = 2.0


def calls(scale: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """Eager calls, each of functions that stay the same objects."""
    times = lambda x: x * scale()  # noqa: E731
    step = lambda c, x: (c + x * scale(), c * scale())  # noqa: E731
    combine = lambda a, b: a + b * scale()  # noqa: E731
    body = lambda c: (c[0] + 1, c[1] * scale())  # noqa: E731
    few = lambda c: c[0] < 3  # noqa: E731
    small = lambda c: c[1] < 15.0 * scale()  # noqa: E731
    double = lambda c: (c[0], c[1] * 2.0)  # noqa: E731
    repeated = lambda i, c: c * scale()  # noqa: E731
    checkpointed = bt.checkpoint(times)
    with_jvp = bt.custom_jvp(times)
    with_jvp.defjvp(lambda x, x_dot: (times(x[0]), x_dot[0] * scale()))
    with_vjp = bt.custom_vjp(times)
    with_vjp.defvjp(lambda x: (times(x), None), lambda _, ct: (ct * scale(),))
    custom_step = lambda c, x: (with_jvp(c), with_vjp(x))  # noqa: E731
    return {
        "scan": lambda: scan(step, 1.0, XS),
        "long scan": lambda: scan(step, 1.0, LONG)[0],
        "gradient of scan": lambda: bt.grad(lambda c: scan(step, c, XS)[1].sum())(1.0),
        "batch of scan": lambda: bt.vmap(lambda c: scan(step, c, XS))(XS),
        "custom rules in scan": lambda: bt.grad(lambda c: scan(custom_step, c, XS)[0])(1.0),
        "map": lambda: map(times, XS),
        "map in batches": lambda: map(times, XS, batch_size=3),
        "associative_scan": lambda: associative_scan(combine, XS),
        "cond": lambda: cond(True, times, times, 1.0),
        "switch": lambda: switch(0, [times], 1.0),
        "platform_dependent": lambda: platform_dependent(1.0, default=times),
        "body of while_loop": lambda: while_loop(few, body, (0, 1.0)),
        "condition of while_loop": lambda: while_loop(small, double, (0, 1.0)),
        "fori_loop": lambda: fori_loop(0, 3, repeated, 1.0),
        "checkpoint": lambda: checkpointed(1.0),
        "gradient of checkpoint": lambda: bt.grad(checkpointed)(1.0),
        "custom_jvp": lambda: (with_jvp(1.0), bt.grad(with_jvp)(1.0)),
        "custom_vjp": lambda: (with_vjp(1.0), bt.grad(with_vjp)(1.0)),
    }


@pytest.mark.parametrize("name", calls(lambda: 1.0))
def test_a_changed_value_is_seen(name: str, change: Any) -> None:
    read, write = change

    def outcome(call: Callable[[], Any]) -> list[Any]:
        return [np.asarray(x).tolist() for x in bx.extend.tree_flatten(call())[0]]

    call = calls(read)[name]
    first = outcome(call)
    write(3.0)
    assert outcome(call) == outcome(calls(lambda: 3.0)[name])
    write(2.0)
    assert outcome(call) == first
    write(3.0)
    assert outcome(call) != first


def test_nothing_is_compiled_again_for_other_arrays() -> None:
    backend = bx.extend.find_backend()
    if backend.name == "numpy":
        return
    weight = np.ones(1)
    step = lambda c, x: (c + (weight * x).sum(), None)  # noqa: E731
    compiled: list[str] = []
    original = backend.compile
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            backend,
            "compile",
            lambda jaxpr, **options: (
                compiled.append(options["name"]) or original(jaxpr, **options)  # type: ignore[func-returns-value]
            ),
        )
        for value in (1.0, 2.0, 3.0):
            weight = np.full(1, value)
            total, _ = scan(step, 0.0, LONG)
            np.testing.assert_allclose(total, 3.0 * value)
            assert float(bt.grad(lambda c: scan(step, c, LONG)[0])(0.0)) == 1.0
    assert compiled.count("scan") <= 2
