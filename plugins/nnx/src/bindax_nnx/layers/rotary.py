"""Rotary position embeddings (Su et al., 2021, https://arxiv.org/abs/2104.09864)."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_nnx._paths import layer_name
from bindax_nnx.layers.attention import dot_product_attention
from bindax_nnx.module import Module
from bindax_nnx.variables import Variable


class RoPE(Module):
    """Rotates pairs of features by angles that are proportional to the position.

    Feature ``i`` of the first half makes a pair with feature ``i`` of the second half. The inner
    product of two rotated vectors depends on the difference of their positions alone.

    Args:
        theta: the base of the frequencies, ``theta ** (-2 * i / embedding_size)`` for pair ``i``.
        embedding_size: the number of features, an even number. With ``max_seq_len`` the sines and
            cosines of all positions are kept, as variables.
        max_seq_len: the number of positions that are kept.

    Raises:
        ValueError: one of ``embedding_size`` and ``max_seq_len`` is given alone, or the number of
            features is not positive and even.

    >>> x = np.ones((2, 3, 4), np.float32)
    >>> RoPE()(x).shape
    (2, 3, 4)
    >>> [float(y) for y in RoPE(embedding_size=4, max_seq_len=8)(x)[0, 0]]
    [1.0, 1.0, 1.0, 1.0]
    """

    cached_sin: Variable[Any] | None
    cached_cos: Variable[Any] | None

    def __init__(
        self,
        theta: float = 10000.0,
        embedding_size: int | None = None,
        max_seq_len: int | None = None,
    ) -> None:
        self.theta = theta
        self.cached_sin = self.cached_cos = None
        if (embedding_size is None) != (max_seq_len is None):
            raise ValueError(
                f"RoPE keeps sines and cosines where embedding_size and max_seq_len are both "
                f"given, but got {embedding_size} and {max_seq_len}; give both or neither."
            )
        if embedding_size is not None and max_seq_len is not None:
            angles = self._angles(embedding_size, jnp.arange(max_seq_len))
            self.cached_sin = Variable(jnp.sin(angles))
            self.cached_cos = Variable(jnp.cos(angles))

    def _angles(self, size: int, positions: Any) -> Any:
        """The angles ``(..., positions, size / 2)``."""
        if size <= 0 or size % 2:
            raise ValueError(
                f"{layer_name(self)} rotates pairs of features: their number must be positive and "
                f"even, but it is {size}."
            )
        exponents = jnp.arange(0, size, 2, dtype=np.float32) / size
        return jnp.asarray(positions, dtype=np.float32)[..., None] * self.theta**-exponents

    def __call__(self, x: Any, input_positions: Any = None) -> Any:
        """Rotate ``x`` of the shape ``(..., length, features)``.

        Args:
            x: the array.
            input_positions: ``(..., length)``, with axes before the last that broadcast to those of
                ``x``; by default they are counted from 0.

        Raises:
            ValueError: there are fewer or more positions than ``x`` has, or than are kept.
        """
        length, size = x.shape[-2:]
        if input_positions is not None and input_positions.shape[-1] != length:
            raise ValueError(
                f"{layer_name(self)}: x of the shape {x.shape} has {length} positions, but "
                f"input_positions of the shape {input_positions.shape} has "
                f"{input_positions.shape[-1]}."
            )
        if input_positions is None and self.cached_sin is not None and self.cached_cos is not None:
            self._check_tables(self.cached_sin.shape, length, size)
            sin, cos = self.cached_sin.value[:length], self.cached_cos.value[:length]
        else:
            counted = jnp.arange(length) if input_positions is None else input_positions
            angles = self._angles(size, counted)
            sin, cos = jnp.sin(angles), jnp.cos(angles)
        first, second = x[..., : size // 2], x[..., size // 2 :]
        return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)

    def _check_tables(self, kept: tuple[int, ...], length: int, size: int) -> None:
        if length > kept[0] or size != 2 * kept[1]:
            raise ValueError(
                f"{layer_name(self)} keeps {kept[0]} positions of {2 * kept[1]} features, but x "
                f"has {length} positions of {size}; make it with a larger max_seq_len, or with "
                f"neither size."
            )


def dot_product_attention_with_rope(
    query: Any, key: Any, value: Any, *, rope: RoPE, input_positions: Any = None, **kwargs: Any
) -> Any:
    """The same as ``dot_product_attention``, of queries and keys that are rotated by position.

    With ``functools.partial(dot_product_attention_with_rope, rope=rope)`` for ``attention_fn``,
    ``MultiHeadAttention`` has rotary embeddings.

    Args:
        query: of the shape ``(..., queries, heads, features)``.
        key: of the shape ``(..., keys, heads, features)``.
        value: of the shape ``(..., keys, heads, features)``.
        rope: the rotation.
        input_positions: ``(..., queries)``, by default counted from 0. They are those of the keys,
            too, where there are as many; keys from a cache are counted from 0.
        kwargs: the other parameters of ``dot_product_attention``.

    >>> x = np.ones((1, 3, 2, 4), np.float32)
    >>> dot_product_attention_with_rope(x, x, x, rope=RoPE()).shape
    (1, 3, 2, 4)
    """
    query, key, value = jnp.asarray(query), jnp.asarray(key), jnp.asarray(value)
    of_keys = input_positions if query.shape[-3] == key.shape[-3] else None
    query, key = _rotated(rope, query, input_positions), _rotated(rope, key, of_keys)
    return dot_product_attention(query, key, value, **kwargs)


def _rotated(rope: RoPE, x: Any, positions: Any) -> Any:
    """Rotate each head of ``(..., length, heads, features)``."""
    heads_first = jnp.swapaxes(x, -2, -3)
    for_heads = None if positions is None else jnp.asarray(positions)[..., None, :]
    return jnp.swapaxes(rope(heads_first, for_heads), -2, -3)
