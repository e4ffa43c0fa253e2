"""Layers whose products sum over divided axes: ``out_sharding`` decides inside, as in Flax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import P, nnx, reshard
from bindax.errors import ShardingTypeError
from bindax.sharding import AxisType

X = np.linspace(-1.0, 1.0, 32, dtype=np.float32).reshape(8, 4)


def filled(key: Any, shape: Any, dtype: Any) -> Any:
    return np.linspace(0.0, 1.0, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def linear() -> Any:
    return nnx.Linear(4, 6, kernel_init=filled, rngs=nnx.Rngs(0))


def general() -> Any:
    return nnx.LinearGeneral((4,), (2, 3), kernel_init=filled, rngs=nnx.Rngs(0))


def einsum() -> Any:
    text = "nta,hab->nthb"
    return nnx.Einsum(text, (2, 4, 3), (2, 3), kernel_init=filled, rngs=nnx.Rngs(0))


def convolution() -> Any:
    return nnx.Conv(4, 6, 3, kernel_init=filled, rngs=nnx.Rngs(0))


def embedding() -> Any:
    return nnx.Embed(8, 4, embedding_init=filled, rngs=nnx.Rngs(0))


LAYERS: dict[str, tuple[Callable[[], Any], P, tuple[int, ...], P, P, str]] = {
    "Linear": (linear, P("y"), (8, 4), P("x", "y"), P("x"), "float32[8@x,6]"),
    "LinearGeneral": (general, P("y"), (8, 4), P("x", "y"), P("x", "y"), "float32[8@x,2@y,3]"),
    "Einsum": (
        *(einsum, P(None, "y"), (4, 2, 4), P("x", None, "y"), P("x", None, "y")),
        "float32[4@x,2,2@y,3]",
    ),
    "Conv": (convolution, P(None, "y"), (2, 4, 4), P(None, None, "y"), P("y"), "float32[2@y,4,6]"),
}


@pytest.fixture
def explicit(mesh: Any) -> Any:
    return mesh.update(axis_types=(AxisType.Explicit,) * 2)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_that_sum_over_divided_axes(explicit: Any, name: str) -> None:
    make, lies, shape, comes, wanted, text = LAYERS[name]
    layer, x = make(), X.reshape(shape)
    alone = layer(x)
    slope = bindax.grad(lambda x: (layer(x) ** 2).sum())(x)
    with bindax.set_mesh(explicit):
        layer.kernel[...] = reshard(layer.kernel[...], lies)
        laid = reshard(x, comes)
        with pytest.raises(ShardingTypeError):
            layer(laid)
        found = bindax.jit(lambda x: layer(x, out_sharding=wanted))(laid)
        back = bindax.jit(bindax.grad(lambda x: (layer(x, out_sharding=wanted) ** 2).sum()))(laid)
    assert bindax.typeof(found).str_short() == text
    assert bindax.typeof(back) is bindax.typeof(laid)
    np.testing.assert_allclose(found, alone, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(back, slope, rtol=1e-5, atol=1e-5)


def test_tables_that_are_divided(explicit: Any) -> None:
    layer, indices = embedding(), np.array([1, 2, 3, 4])
    taken, products = layer(indices), layer.attend(X)
    with bindax.set_mesh(explicit):
        layer.embedding[...] = reshard(layer.embedding[...], P("x", "y"))
        with pytest.raises(ShardingTypeError, match="indexes along a divided axis"):
            layer(indices)
        found = layer(indices, out_sharding=P("x"))
        with pytest.raises(ShardingTypeError, match="Contracting dimensions are sharded"):
            layer.attend(reshard(X, P("x", "y")))
        scores = layer.attend(reshard(X, P("x", "y")), out_sharding=P("x"))
    assert [bindax.typeof(one).str_short() for one in (found, scores)] == [
        "float32[4@x,4]",
        "float32[8@x,8]",
    ]
    np.testing.assert_allclose(found, taken, rtol=1e-6)
    np.testing.assert_allclose(scores, products, rtol=1e-5, atol=1e-6)


def test_layers_on_automatic_axes(mesh: Any) -> None:
    layer = linear()
    with bindax.set_mesh(mesh):
        found = bindax.jit(lambda x: layer(x, out_sharding=P("x")))(X)
    assert found.sharding.spec[0] == "x"
    np.testing.assert_allclose(found, layer(X), rtol=1e-5, atol=1e-6)
