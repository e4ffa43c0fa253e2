"""One block of a transformer with causal attention, and greedy decoding."""

import jax
import jax.numpy as jnp
from jax import lax, nn, random

WIDTH, HEADS, VOCABULARY = 16, 2, 11


def init(key):
    shapes = {
        "embed": (VOCABULARY, WIDTH),
        "place": (12, WIDTH),
        "qkv": (WIDTH, 3, HEADS, WIDTH // HEADS),
        "join": (HEADS, WIDTH // HEADS, WIDTH),
        "up": (WIDTH, 32),
        "down": (32, WIDTH),
    }
    keys = random.split(key, len(shapes))
    return {n: 0.2 * random.normal(k, s) for k, (n, s) in zip(keys, shapes.items(), strict=True)}


def normalize(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


def logits(params, tokens):
    x = params["embed"][tokens] + params["place"][: len(tokens)]
    q, k, v = jnp.einsum("td,dchk->cthk", normalize(x), params["qkv"])
    scores = jnp.einsum("thk,shk->hts", q, k) / jnp.sqrt(WIDTH // HEADS)
    mask = jnp.tril(jnp.ones((len(tokens), len(tokens)), bool))
    weights = nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    x = x + jnp.einsum("hts,shk,hkd->td", weights, v, params["join"])
    x = x + nn.gelu(normalize(x) @ params["up"]) @ params["down"]
    return normalize(x) @ params["embed"].T


def loss(params, batch):
    out = jax.vmap(logits, (None, 0))(params, batch[:, :-1])
    chosen = jnp.take_along_axis(nn.log_softmax(out), batch[:, 1:, None], axis=-1)
    return -chosen.mean()


def main():
    params = init(random.key(5))
    batch = (jnp.arange(8)[None] * jnp.array([[1], [2], [3]])) % VOCABULARY

    @jax.jit
    def step(params):
        value, grads = jax.value_and_grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - 0.3 * g, params, grads), value

    for _ in range(12):
        params, value = step(params)
    tokens = jnp.zeros(8, int).at[1].set(2)

    def grow(i, tokens):
        return tokens.at[i + 1].set(logits(params, tokens)[i].argmax())

    return {"loss": value, "decoded": lax.fori_loop(1, 7, grow, tokens)}
