"""Draws of a Gaussian by blackjax: random-walk and Hamiltonian kernels."""

import blackjax
import jax
import jax.numpy as jnp


def main():
    def log_density(x):
        return -0.5 * jnp.sum(x**2)

    found = {}
    for name, kernel in {
        "hmc": blackjax.hmc(log_density, 0.3, jnp.ones(2), 5),
        "nuts": blackjax.nuts(log_density, 0.3, jnp.ones(2)),
    }.items():
        step = jax.jit(kernel.step)
        state = kernel.init(jnp.array([1.0, -1.0]))
        for key in jax.random.split(jax.random.PRNGKey(0), 3):
            state, info = step(key, state)
        found[name] = state.position, info.acceptance_rate
    return found
