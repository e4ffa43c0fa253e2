"""A layer whose weight is of low rank, and units, with quax."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import quax
from quax.examples import lora


def main():
    keys = jr.split(jr.PRNGKey(0), 3)
    linear = eqx.nn.Linear(5, 4, key=keys[0])
    x = jr.normal(keys[1], (5,))
    changed = lora.loraify(linear, rank=2, scale=0.1, key=keys[2])
    run = quax.quaxify(lambda model, x: jax.nn.tanh(model(x)))
    gradient = eqx.filter_jit(eqx.filter_grad(lambda m: jnp.sum(run(m, x))))(changed)
    return linear(x), run(changed, x), jax.tree.map(jnp.sum, gradient)
