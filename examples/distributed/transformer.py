r"""A training step of a transformer of 0.4 billion weights, to be inspected before it is run.

    bindax inspect examples/distributed/transformer.py:step --args 'state, tokens' \
        --mesh data=64,model=8 --specs 'state_specs, tokens_spec'

Sequences are divided along ``data``. Heads, columns and words are divided along ``model``.
"""

from typing import Any

import bindax
import bindax.numpy as jnp
from bindax import P, lax

LAYERS, WIDTH, HEADS, HIDDEN, WORDS = 24, 1024, 16, 4096, 32768
SEQUENCES, LENGTH = 512, 1024
RATE, INERTIA = 1e-3, 0.9

SHAPES = {
    "embedding": (WORDS, WIDTH),
    "query": (LAYERS, WIDTH, HEADS, WIDTH // HEADS),
    "key": (LAYERS, WIDTH, HEADS, WIDTH // HEADS),
    "value": (LAYERS, WIDTH, HEADS, WIDTH // HEADS),
    "mix": (LAYERS, HEADS, WIDTH // HEADS, WIDTH),
    "up": (LAYERS, WIDTH, HIDDEN),
    "down": (LAYERS, HIDDEN, WIDTH),
    "output": (WIDTH, WORDS),
}
SPECS = {
    "embedding": P(None, "model"),
    **dict.fromkeys(("query", "key", "value"), P(None, None, "model")),
    "mix": P(None, "model"),
    "up": P(None, None, "model"),
    "down": P(None, "model"),
    "output": P(None, "model"),
}
IN_LAYERS = ("query", "key", "value", "mix", "up", "down")


def types(dtype: str) -> dict[str, bindax.ShapeDtypeStruct]:
    """The types of all weights, or of as many other numbers."""
    return {name: bindax.ShapeDtypeStruct(shape, dtype) for name, shape in SHAPES.items()}


state = types("bfloat16"), types("float32")  # the weights and their momenta
state_specs = SPECS, SPECS
tokens = bindax.ShapeDtypeStruct((SEQUENCES, LENGTH + 1), "int32")
tokens_spec = P("data")


def normalized(x: Any) -> Any:
    """Numbers of the mean square 1, along the last axis."""
    wide = x.astype("float32")
    return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype)


def whole(x: Any) -> Any:
    """The same numbers, all those of a word on one device."""
    return lax.with_sharding_constraint(x, P("data"))


def attention(x: Any, layer: Any) -> Any:
    """The part that each word takes from those before it."""
    query, key, value = (
        jnp.einsum("btw,whd->bthd", x, layer[name]) for name in ("query", "key", "value")
    )
    scores = jnp.einsum("bthd,bshd->bhts", query, key) * (WIDTH // HEADS) ** -0.5
    seen = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = bindax.nn.softmax(jnp.where(seen, scores, -1e9).astype("float32"))
    taken = jnp.einsum("bhts,bshd->bthd", weights.astype(x.dtype), value)
    return jnp.einsum("bthd,hdw->btw", taken, layer["mix"])


def block(x: Any, layer: Any) -> tuple[Any, None]:
    """One layer."""
    x = whole(x + attention(normalized(x), layer))
    return whole(x + bindax.nn.gelu(normalized(x) @ layer["up"]) @ layer["down"]), None


def loss(weights: Any, tokens: Any) -> Any:
    """The mean surprise of each word, after those before it."""
    x = whole(weights["embedding"][tokens[:, :-1]])
    layers = {name: weights[name] for name in IN_LAYERS}
    x, _ = lax.scan(bindax.checkpoint(block), x, layers)
    scores = (normalized(x) @ weights["output"]).astype("float32")
    right = bindax.nn.one_hot(tokens[:, 1:], WORDS)
    return (bindax.nn.logsumexp(scores, -1) - (scores * right).sum(-1)).mean()


@bindax.jit(donate_argnums=0)
def step(state: Any, tokens: Any) -> Any:
    """One step of gradient descent with momentum."""
    weights, momenta = state
    value, slopes = bindax.value_and_grad(loss)(weights, tokens)
    momenta = bindax.tree.map(lambda m, s: INERTIA * m + s.astype("float32"), momenta, slopes)
    weights = bindax.tree.map(lambda w, m: (w - RATE * m).astype(w.dtype), weights, momenta)
    return (weights, momenta), value
