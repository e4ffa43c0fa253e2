"""Programs with rotary embeddings, for Flax and for this package."""

from functools import partial
from typing import Any

import numpy as np

X = np.sin(np.arange(2 * 5 * 8, dtype=np.float32)).reshape(2, 5, 8)


def rotated(library: Any) -> Any:
    """The rotation by tables, and by positions."""
    rope = library.RoPE(embedding_size=8, max_seq_len=6)
    return {
        "tables": rope(X),
        "counted": library.RoPE(theta=100.0)(X),
        "positions": library.RoPE()(X, np.array([3, 1, 4, 1, 5], np.int32)),
        "sin": rope.cached_sin[...],
        "cos": rope.cached_cos[...],
    }


def attention(library: Any) -> Any:
    """A layer with rotary embeddings, its result and the gradients of its kernels."""
    rope = library.RoPE(embedding_size=4, max_seq_len=6)
    attend = partial(library.dot_product_attention_with_rope, rope=rope)
    options = {"attention_fn": attend, "decode": False, "rngs": library.Rngs(0)}
    layer = library.MultiHeadAttention(2, 8, **options)

    def loss(layer: Any) -> Any:
        return (layer(X, is_causal=True) ** 2).sum()

    grads = library.grad(loss, graph=True, graph_updates=True)(layer)
    return {
        "out": layer(X, is_causal=True),
        "query": grads["query"]["kernel"][...],
        "value": grads["value"]["kernel"][...],
    }
