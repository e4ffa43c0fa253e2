"""Values and derivatives under named ``vmap``, beside those of JAX.

Programs are of one element, for bindax.lax and jax.lax alike: ``ops`` is either module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.lax

jax = pytest.importorskip("jax")

Program = Callable[[Any, Any], Any]

PERM = [(0, 1), (1, 3), (3, 0)]
ALL = [(0, 2), (1, 0), (2, 3), (3, 1)]

ALONG_I: dict[str, Program] = {
    "psum": lambda ops, x: ops.psum(x * x, "i"),
    "psum of a constant": lambda ops, x: x * ops.psum(2, "i"),
    "pmean": lambda ops, x: x - ops.pmean(x, "i"),
    "pmax": lambda ops, x: x * ops.pmax(x, "i"),
    "pmin": lambda ops, x: ops.pmin(x, "i"),
    "all_gather": lambda ops, x: ops.all_gather(x, "i") * x,
    "all_gather axis 1": lambda ops, x: ops.all_gather(x, "i", axis=1),
    "all_gather axis -1": lambda ops, x: ops.all_gather(x, "i", axis=-1),
    "all_gather tiled": lambda ops, x: ops.all_gather(x, "i", axis=1, tiled=True),
    "psum_scatter": lambda ops, x: ops.psum_scatter(x, "i", scatter_dimension=0),
    "psum_scatter tiled": lambda ops, x: ops.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
    "all_to_all": lambda ops, x: ops.all_to_all(x * x, "i", 0, 1),
    "all_to_all in place": lambda ops, x: ops.all_to_all(x, "i", 0, 0),
    "all_to_all tiled": lambda ops, x: ops.all_to_all(x, "i", 1, 0, tiled=True),
    "all_to_all tiled back": lambda ops, x: ops.all_to_all(x, "i", 0, 1, tiled=True),
    "ppermute": lambda ops, x: ops.ppermute(x, "i", ALL),
    "pshuffle": lambda ops, x: ops.pshuffle(x, "i", [3, 1, 0, 2]),
    "pswapaxes": lambda ops, x: ops.pswapaxes(x, "i", 0),
    "axis_index": lambda ops, x: ops.axis_index("i") * x,
    "axis_size": lambda ops, x: ops.axis_size("i") * x,
    "softmax": lambda ops, x: (
        ops.exp(x - ops.pmax(x, "i")) / ops.psum(ops.exp(x - ops.pmax(x, "i")), "i")
    ),
    "unmapped": lambda ops, x: x + ops.psum(ops.sin(ops.full((), 0.5)), "i"),
}
"""Programs along the axis ``i`` of size 4, of an element of shape (4, 8)."""

NO_DERIVATIVE_IN_JAX = {"pmax", "pmin", "softmax"}

ALONG_BOTH: dict[str, Program] = {
    "psum": lambda ops, x: ops.psum(x, ("i", "j")),
    "psum of the inner": lambda ops, x: ops.psum(x, "j") * x,
    "psum of the outer": lambda ops, x: ops.psum(x * x, "i"),
    "psum of one into the other": lambda ops, x: ops.psum(x * ops.psum(x, "j"), "i"),
    "pmean": lambda ops, x: ops.pmean(x, ("j", "i")),
    "pmax": lambda ops, x: ops.pmax(x, ("i", "j")) + ops.pmin(x, "i"),
    "all_gather": lambda ops, x: ops.all_gather(x, "i", axis=1),
    "all_gather of the inner": lambda ops, x: ops.all_gather(x, "j", axis=1, tiled=True),
    "psum_scatter": lambda ops, x: ops.psum_scatter(x, "i", tiled=True),
    "all_to_all": lambda ops, x: ops.all_to_all(x, "i", 0, 1, tiled=True),
    "ppermute": lambda ops, x: ops.ppermute(x, "j", [(0, 1), (1, 2), (2, 0)]) - x,
    "axis_index": lambda ops, x: x + ops.axis_index(("i", "j")),
    "indices": lambda ops, x: x * ops.axis_index("j") + ops.axis_index("i"),
    "axis_size": lambda ops, x: x * ops.axis_size(("i", "j")),
}
"""Programs along ``i`` of size 2, outside, and ``j`` of size 3, of an element of shape (4, 6)."""

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 4, 8)).astype(np.float32)
XY = RNG.normal(size=(2, 3, 4, 6)).astype(np.float32)


def close(ours: Any, theirs: Any) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-5)


def gradient(library: Any, mapped: Any, x: Any) -> Any:
    weights = np.cos(np.arange(np.asarray(mapped(x)).size, dtype=np.float32))
    return library.grad(lambda x: (mapped(x).reshape(-1) * weights).sum())(x)


@pytest.mark.parametrize("name", ALONG_I)
def test_one_axis(name: str) -> None:
    program = ALONG_I[name]
    ours = bindax.vmap(lambda x: program(bindax.lax, x), axis_name="i")
    theirs = jax.vmap(lambda x: program(jax.lax, x), axis_name="i")
    close(ours(X), theirs(X))
    if name not in NO_DERIVATIVE_IN_JAX:
        close(gradient(bindax, ours, X), gradient(jax, theirs, X))


@pytest.mark.parametrize("name", ALONG_BOTH)
def test_two_axes(name: str) -> None:
    program = ALONG_BOTH[name]

    def mapped(library: Any, ops: Any) -> Any:
        inner = library.vmap(lambda x: program(ops, x), axis_name="j")
        return library.vmap(inner, axis_name="i")

    ours, theirs = mapped(bindax, bindax.lax), mapped(jax, jax.lax)
    close(ours(XY), theirs(XY))
    if "pmax" not in name:
        close(gradient(bindax, ours, XY), gradient(jax, theirs, XY))


@pytest.mark.parametrize("name", ["psum", "all_gather axis 1", "all_to_all tiled", "ppermute"])
def test_gradient_inside(name: str) -> None:
    program = ALONG_I[name]
    close(
        bindax.vmap(bindax.grad(lambda x: program(bindax.lax, x).sum()), axis_name="i")(X),
        jax.vmap(jax.grad(lambda x: program(jax.lax, x).sum()), axis_name="i")(X),
    )


@pytest.mark.parametrize("in_axes", [1, 2, -1])
def test_another_axis_in_front(in_axes: int) -> None:
    x = np.moveaxis(X, 0, in_axes)
    for name in ("all_gather axis 1", "psum_scatter", "all_to_all", "ppermute"):
        program = ALONG_I[name]
        close(
            bindax.vmap(lambda x: program(bindax.lax, x), in_axes, in_axes, axis_name="i")(x),
            jax.vmap(lambda x: program(jax.lax, x), in_axes, in_axes, axis_name="i")(x),
        )
