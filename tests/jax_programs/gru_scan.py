"""A gated recurrent unit over time by lax.scan, differentiated through time."""

import jax
import jax.numpy as jnp
from jax import lax


def gru(params, h, x):
    both = jnp.concatenate([h, x])
    z = jax.nn.sigmoid(params["z"] @ both)
    r = jax.nn.sigmoid(params["r"] @ both)
    new = jnp.tanh(params["h"] @ jnp.concatenate([r * h, x]))
    return (1 - z) * h + z * new


def run(params, xs):
    h0 = jnp.zeros(params["out"].shape[1])
    last, hs = lax.scan(lambda h, x: (h := gru(params, h, x), h), h0, xs)
    return hs @ params["out"].T, last


@jax.jit
def loss(params, batch):
    outs, _ = jax.vmap(run, in_axes=(None, 0))(params, batch)
    return jnp.mean((outs[:, :-1] - batch[:, 1:]) ** 2)


def main():
    keys = dict(zip("zrho", jax.random.split(jax.random.key(2), 4), strict=True))
    params = {k: 0.3 * jax.random.normal(keys[k], (6, 7)) for k in "zrh"}
    params["out"] = 0.3 * jax.random.normal(keys["o"], (1, 6))
    phases = jnp.linspace(0, 3, 4)
    batch = jnp.sin(phases[:, None] + 0.4 * jnp.arange(12))[..., None]
    grads = jax.jit(jax.grad(loss))(params, batch)
    for _ in range(10):
        params = jax.tree_util.tree_map(lambda p, g: p - 0.5 * g, params, grads)
        grads = jax.jit(jax.grad(loss))(params, batch)
    return {"loss": loss(params, batch), "out": params["out"], "slope": grads["z"][0]}
