"""The largest eigenvalue by power iteration, and its derivative by an implicit rule."""

import jax
import jax.numpy as jnp
from jax import lax


@jax.custom_vjp
def largest(a):
    return iterate(a)[0]


def iterate(a):
    def body(_, v):
        v = a @ v
        return v / jnp.linalg.norm(v)

    v = lax.fori_loop(0, 100, body, jnp.ones(len(a)) / jnp.sqrt(len(a)))
    return v @ a @ v, v


def forward(a):
    return iterate(a)


def backward(v, ct):
    return (ct * jnp.outer(v, v),)


largest.defvjp(forward, backward)


def main():
    a = jnp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 1.0]])
    exact = jnp.linalg.eigh(a)[0][-1]
    by_shift = jax.vmap(lambda s: largest(a + s * jnp.eye(3)))(jnp.arange(3.0))
    return {
        "value": jax.jit(largest)(a),
        "error": jnp.abs(largest(a) - exact) < 1e-5,
        "gradient": jax.grad(largest)(a),
        "by_shift": by_shift,
    }
