"""A small convolutional network on striped images, trained by gradient descent."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax, random


def images(key, n):
    labels = random.bernoulli(key, 0.5, (n,)).astype(jnp.int32)
    rows = jnp.arange(8)
    across = jnp.broadcast_to((rows % 2)[:, None], (8, 8)).astype(jnp.float32)
    pictures = jnp.where(labels[:, None, None] == 1, across, across.T)
    return (pictures + 0.3 * random.normal(key, (n, 8, 8)))[..., None], labels


def apply(params, x):
    dims = ("NHWC", "HWIO", "NHWC")
    x = lax.conv_general_dilated(x, params["conv"], (1, 1), "SAME", dimension_numbers=dims)
    x = jax.nn.gelu(x + params["bias"])
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ params["dense"]


def loss(params, x, y):
    targets = jax.nn.one_hot(y, 2)
    return -jnp.sum(targets * jax.nn.log_softmax(apply(params, x))) / len(y)


@partial(jax.jit, static_argnames="rate")
def step(params, x, y, *, rate):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


def main():
    k1, k2, k3 = random.split(random.PRNGKey(1), 3)
    x, y = images(k1, 16)
    init = jax.nn.initializers.he_normal()
    params = {
        "conv": init(k2, (3, 3, 1, 4)),
        "bias": jnp.zeros(4),
        "dense": init(k3, (64, 2)),
    }
    before = loss(params, x, y)
    for _ in range(5):
        params = step(params, x, y, rate=0.1)
    return {"before": before, "after": loss(params, x, y), "filters": params["conv"][..., 0, 0]}
