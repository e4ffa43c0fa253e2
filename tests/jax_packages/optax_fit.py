"""Fit a line with optax: Adam with a schedule, clipping and weight decay."""

import jax
import jax.numpy as jnp
import optax


def main():
    x = jnp.linspace(-1, 1, 20)
    y = 3 * x - 0.5
    schedule = optax.cosine_decay_schedule(0.1, 50)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-3))
    params = {"a": jnp.array(0.0), "b": jnp.array(0.0)}
    state = tx.init(params)

    @jax.jit
    def step(params, state):
        def loss(p):
            return optax.l2_loss(p["a"] * x + p["b"], y).mean()

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    for _ in range(50):
        params, state, value = step(params, state)
    return params, value
