"""Hamiltonian Monte Carlo on a correlated Gaussian, several chains by vmap."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax, random

PRECISION = jnp.array([[2.0, -0.8], [-0.8, 1.0]])


def log_density(q):
    return -0.5 * q @ PRECISION @ q


@partial(jax.jit, static_argnums=2)
def sample(key, q0, steps, size=0.2):
    force = jax.grad(log_density)

    def leapfrog(carry, _):
        q, p = carry
        p = p + size / 2 * force(q)
        q = q + size * p
        return (q, p + size / 2 * force(q)), None

    def transition(carry, key):
        q, accepted = carry
        k1, k2 = random.split(key)
        p = random.normal(k1, q.shape)
        (new_q, new_p), _ = lax.scan(leapfrog, (q, p), None, length=8)
        change = log_density(new_q) - log_density(q) - 0.5 * (new_p @ new_p - p @ p)
        take = jnp.log(random.uniform(k2)) < change
        q = lax.cond(take, lambda: new_q, lambda: q)
        return (q, accepted + take), q

    (_, accepted), path = lax.scan(transition, (q0, 0), random.split(key, steps))
    return path, accepted / steps


def main():
    keys = random.split(random.key(4), 4)
    starts = jnp.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0], [0.5, -2.0]])
    paths, rates = jax.vmap(sample, in_axes=(0, 0, None))(keys, starts, 40)
    draws = paths[:, 10:].reshape(-1, 2)
    return {"rates": rates, "first": paths[:, 1], "mean": draws.mean(0), "cov": jnp.cov(draws.T)}
