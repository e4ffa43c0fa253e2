"""Rotary embeddings beside stored answers of Flax, and as products of complex numbers."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from _rope_cases import X, attention, rotated

import bindax
import bindax.numpy as jnp
from bindax import nnx

REFERENCES = np.load(Path(__file__).with_name("rope.npz"))


def turned(x, positions, theta=10000.0):
    """The rotation in complex numbers, of pairs of features in the two halves."""
    half = x.shape[-1] // 2
    angles = np.asarray(positions, np.float64)[..., None] * theta ** (-np.arange(half) / half)
    z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angles)
    return np.concatenate([z.real, z.imag], axis=-1)


@pytest.mark.parametrize("program", [rotated, attention])
def test_answers_are_those_of_flax(program):
    for name, x in program(nnx).items():
        np.testing.assert_allclose(x, REFERENCES[name], rtol=1e-5, atol=2e-6, err_msg=name)
        assert x.dtype == REFERENCES[name].dtype


def test_rotation_of_batches_with_positions_of_their_own():
    positions = np.array([[0, 1, 2, 3, 4], [7, 5, 100, 2, 0]])
    for rope in (nnx.RoPE(theta=50.0), nnx.RoPE(50.0, embedding_size=8, max_seq_len=5)):
        np.testing.assert_allclose(rope(X, positions), turned(X, positions, 50.0), atol=1e-5)
        np.testing.assert_allclose(rope(X), turned(X, np.arange(5), 50.0), atol=1e-5)
    each = bindax.jit(bindax.vmap(nnx.RoPE()))(X, positions)
    np.testing.assert_allclose(each, turned(X, positions), atol=1e-4)


def test_the_gradient_is_the_rotation_back():
    ct = np.cos(X)
    found = bindax.grad(lambda x: jnp.sum(nnx.RoPE()(x) * ct))(X)
    np.testing.assert_allclose(found, turned(ct, -np.arange(5)), atol=1e-5)


def heads(x, positions):
    """The rotation of each head."""
    turned_heads = turned(np.swapaxes(x, -2, -3), np.asarray(positions)[..., None, :])
    return np.swapaxes(turned_heads, -2, -3).astype(np.float32)


def test_attention_with_positions():
    numbers = np.arange(80, dtype=np.float32).reshape(2, 5, 2, 4)
    q, k, v = np.sin(numbers), np.cos(2 * numbers), np.sin(3 * numbers)
    positions = np.array([[0, 1, 2, 3, 4], [9, 8, 7, 0, 1]])
    attend = partial(nnx.dot_product_attention_with_rope, rope=nnx.RoPE())
    found = attend(q, k, v, input_positions=positions, is_causal=True)
    expected = nnx.dot_product_attention(
        heads(q, positions), heads(k, positions), v, is_causal=True
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)
    # Positions that are all later by as many give the same weights.
    np.testing.assert_allclose(
        attend(q, k, v, input_positions=positions + 3),
        attend(q, k, v, input_positions=positions),
        atol=1e-4,
    )


def test_decoding_from_a_cache():
    attend = partial(nnx.dot_product_attention_with_rope, rope=nnx.RoPE())
    layer = nnx.MultiHeadAttention(2, 8, attention_fn=attend, decode=False, rngs=nnx.Rngs(0))
    whole = layer(X, is_causal=True)
    layer.init_cache(X.shape)
    for i in range(X.shape[1]):
        out = layer(X[:, i : i + 1], decode=True, input_positions=np.array([i]))
        np.testing.assert_allclose(out[:, 0], whole[:, i], atol=1e-5)


def test_messages():
    with pytest.raises(ValueError, match=r"got 4 and None; give both or neither"):
        nnx.RoPE(embedding_size=4)
    for size in (3, 0):
        with pytest.raises(ValueError, match=rf"positive and even, but it is {size}\."):
            nnx.RoPE(embedding_size=size, max_seq_len=2)
    with pytest.raises(ValueError, match=r"positive and even, but it is 3\."):
        nnx.RoPE()(X[..., :3])
    with pytest.raises(ValueError, match=r"has 5 positions, but input_positions .* has 4\."):
        nnx.RoPE()(X, np.arange(4))
    rope = nnx.RoPE(embedding_size=8, max_seq_len=4)
    with pytest.raises(ValueError, match=r"keeps 4 positions of 8 features, but x has 5 .* of 8;"):
        rope(X)
    with pytest.raises(ValueError, match=r"keeps 4 positions of 8 features, but x has 4 .* of 6;"):
        rope(X[:, :4, :6])


@pytest.mark.parametrize("rate", [1.0, 1.5, -0.1, float("nan")])
def test_impossible_rates_of_dropout(rate):
    x = np.ones((1, 3, 2, 4), np.float32)
    key = bindax.random.key(0)
    with pytest.raises(ValueError, match=rf"at least 0 and below 1, but it is {rate}\."):
        nnx.dot_product_attention(x, x, x, dropout_rate=rate, dropout_rng=key)


def test_dropout_without_a_key():
    x = np.ones((1, 3, 2, 4), np.float32)
    with pytest.raises(ValueError, match=r"pass dropout_rng, or deterministic=True\."):
        nnx.dot_product_attention(x, x, x, dropout_rate=0.5)
    still = nnx.dot_product_attention(x, x, x, dropout_rate=0.5, deterministic=True)
    np.testing.assert_array_equal(still, x)
