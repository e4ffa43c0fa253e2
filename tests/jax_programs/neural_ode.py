"""A neural differential equation, by Runge and Kutta's method inside fori_loop and scan."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.flatten_util import ravel_pytree


def field(params, y):
    return params["b"] @ jnp.tanh(params["a"] @ y)


def rk4(params, y, dt):
    k1 = field(params, y)
    k2 = field(params, y + dt / 2 * k1)
    k3 = field(params, y + dt / 2 * k2)
    k4 = field(params, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(params, y0, steps, dt):
    def body(y, _):
        return lax.fori_loop(0, 2, lambda i, z: rk4(params, z, dt / 2), y), y

    return lax.scan(body, y0, None, length=steps)


def main():
    k1, k2 = jax.random.split(jax.random.key(3))
    params = {"a": jax.random.normal(k1, (8, 2)), "b": 0.5 * jax.random.normal(k2, (2, 8))}
    flat, unravel = ravel_pytree(params)
    t = 0.1 * jnp.arange(10)
    target = jnp.stack([jnp.cos(t), jnp.sin(t)], 1)

    @jax.jit
    def loss(flat):
        _, ys = solve(unravel(flat), target[0], 10, 0.1)
        return jnp.sum((ys - target) ** 2)

    gradient = jax.jit(jax.grad(loss))
    for _ in range(10):
        flat = flat - 0.01 * gradient(flat)
    end, _ = solve(unravel(flat), target[0], 10, 0.1)
    return {"loss": loss(flat), "end": end, "norm": jnp.linalg.norm(gradient(flat))}
