"""The parameters of layers: those of Flax are there, and mean the same."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import bindax.numpy as jnp
from bindax import lax, nnx

jax = pytest.importorskip("jax")
flax = pytest.importorskip("flax.nnx")

NAMES = (
    *("Linear", "LinearGeneral", "Einsum", "Embed", "Conv", "ConvTranspose", "Dropout", "PReLU"),
    *("MultiHeadAttention", "BatchNorm", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm"),
    *("WeightNorm", "SpectralNorm", "LoRA", "LoRALinear", "LSTMCell", "OptimizedLSTMCell"),
    *("SimpleCell", "GRUCell", "RNN", "Bidirectional"),
)
OTHERWISE = {("MultiHeadAttention", "input_positions")}  # positions of rotary embeddings


@pytest.mark.parametrize("method", ["__init__", "__call__"])
@pytest.mark.parametrize("name", NAMES)
def test_layers_have_the_parameters_of_flax(name, method):
    wanted = inspect.signature(getattr(getattr(flax, name), method)).parameters
    own = inspect.signature(getattr(getattr(nnx, name), method)).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in own.values())
    missing = {n for n in wanted if n not in own and (name, n) not in OTHERWISE}
    # The first argument has another name in wrappers; options are refused by name.
    assert takes_any or missing <= {"kwargs", "x"}


def same(layer, other, *args, **options):
    """Compare the results of two layers that have the same values."""
    theirs = jax.tree.leaves(flax.state(other, flax.Param))
    ours = [x.value for x in nnx.state(layer, nnx.Param).flat_state().values()]
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
    got, expected = layer(*args, **options), other(*args, **options)
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5, atol=1e-5)
    assert str(got.dtype) == str(expected.dtype)


X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)


def half(arrays, dtype=None, inexact=True):
    """Convert all arrays to half precision."""
    return tuple(None if x is None else x.astype("float16") for x in arrays)


LAYERS = {
    "Linear": ((4, 5), X),
    "LinearGeneral": ((4, (2, 3)), X),
    "Einsum": (("btc,cd->btd", (4, 5), (5,)), X),
    "Conv": ((4, 5, 2), X),
    "ConvTranspose": ((4, 5, 2), X),
    "LayerNorm": ((4,), X),
    "GroupNorm": ((4, 2), X),
    "LoRA": ((4, 2, 5), X),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", LAYERS)
def test_arrays_are_converted_as_the_function_says(name):
    args, x = LAYERS[name]
    layer = getattr(nnx, name)(*args, promote_dtype=half, rngs=nnx.Rngs(0))
    other = getattr(flax, name)(*args, promote_dtype=half, rngs=flax.Rngs(0))
    np.testing.assert_allclose(
        np.asarray(layer(x), np.float32), np.asarray(other(x), np.float32), rtol=1e-2, atol=1e-2
    )
    assert str(layer(x).dtype) == str(other(x).dtype)


@pytest.mark.parametrize("name", ["Linear", "LinearGeneral", "Einsum", "Conv", "ConvTranspose"])
def test_products_have_the_dtype_that_is_preferred(name):
    args, x = LAYERS[name]
    options = {"dtype": np.float16, "preferred_element_type": np.float32}
    layer = getattr(nnx, name)(*args, **options, rngs=nnx.Rngs(0))
    other = getattr(flax, name)(*args, **options, rngs=flax.Rngs(0))
    assert str(layer(x).dtype) == str(other(x).dtype)
    np.testing.assert_allclose(layer(x), other(x), rtol=1e-2, atol=1e-2)


def test_functions_multiply_in_the_place_of_the_usual_ones():
    calls = []

    def noted(function):
        def call(*args, **options):
            calls.append(function.__name__)
            return function(*args, **options)

        return call

    rngs = nnx.Rngs(0)
    x = jnp.asarray(X)
    dot = noted(lax.dot_general)
    nnx.Linear(4, 5, dot_general=dot, rngs=rngs)(x)
    nnx.LinearGeneral(4, 5, dot_general_cls=lambda: dot, rngs=rngs)(x)
    nnx.Conv(4, 5, 2, conv_general_dilated=noted(lax.conv_general_dilated), rngs=rngs)(x)
    nnx.Einsum("btc,cd->btd", (4, 5), einsum_op=noted(jnp.einsum), rngs=rngs)(x)
    heads = nnx.MultiHeadAttention(
        2, 4, qkv_dot_general=dot, out_dot_general_cls=lambda: dot, decode=False, rngs=rngs
    )
    heads(x)
    assert calls == ["dot_general"] * 2 + ["conv_general_dilated", "einsum"] + ["dot_general"] * 4


def test_a_sum_can_be_given_by_each_call():
    layer = nnx.Einsum(None, (4, 5), (5,), rngs=nnx.Rngs(0))
    other = flax.Einsum("a,b->ab", (4, 5), (5,), rngs=flax.Rngs(0))
    same(layer, other, X, einsum_str="btc,cd->btd")
    with pytest.raises(ValueError, match="Einsum needs einsum_str: pass it when the layer is made"):
        layer(X)


@pytest.mark.parametrize("name", ["LSTMCell", "OptimizedLSTMCell", "SimpleCell", "GRUCell"])
def test_first_carries_of_cells(name):
    def init(key, shape, dtype):
        return jnp.ones(shape, dtype) * 2

    cell = getattr(nnx, name)(4, 3, carry_init=init, keep_rngs=True, rngs=nnx.Rngs(0, carry=1))
    carry = cell.initialize_carry((2, 4))
    for x in carry if isinstance(carry, tuple) else (carry,):
        np.testing.assert_array_equal(x, np.full((2, 3), 2, np.float32))
    assert cell.rngs.tag == "carry"


def test_steps_share_the_keys_of_streams_that_are_broadcast():
    class Cell(nnx.GRUCell):
        def __call__(self, carry, x):
            carry, y = super().__call__(carry, x)
            return carry, y * 0 + self.noise.uniform(())

        def __init__(self):
            super().__init__(4, 3, rngs=nnx.Rngs(0))
            self.noise = nnx.RngStream(0, tag="noise")

    for shared in (None, "noise"):
        y = np.asarray(nnx.RNN(Cell(), broadcast_rngs=shared)(X))
        assert (len(np.unique(y)) == 1) is (shared == "noise")
    layer = nnx.RNN(Cell(), broadcast_rngs="noise")
    assert float(layer(X)[0, 0, 0]) != float(layer(X)[0, 0, 0])


def test_views_of_layers():
    model = nnx.Sequential(nnx.Dropout(0.5, rngs=nnx.Rngs(0)), nnx.BatchNorm(4, rngs=nnx.Rngs(0)))
    still = nnx.view(model, deterministic=True, use_running_average=True)
    np.testing.assert_allclose(still(X), X, rtol=1e-4)
    info = nnx.view_info(model)
    assert "Dropout:\n  deterministic: bool | None = None" in info
    assert "BatchNorm:\n  use_running_average: bool | None = None" in info
