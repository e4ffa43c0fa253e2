"""Roots and least squares by optimistix, and the derivative of a root."""

import jax
import jax.numpy as jnp
import optimistix as optx


def main():
    def root(c):
        solver = optx.Newton(rtol=1e-6, atol=1e-6)
        return optx.root_find(lambda y, c: y**2 - c, solver, jnp.array(1.0), args=c).value

    x = jnp.linspace(0, 1, 8)
    fit = optx.least_squares(
        lambda p, _: p[0] * jnp.exp(p[1] * x) - 2 * jnp.exp(-x),
        optx.LevenbergMarquardt(1e-5, 1e-5),
        jnp.array([1.0, 0.0]),
    )
    return root(jnp.array(2.0)), jax.grad(root)(jnp.array(4.0)), jnp.round(fit.value, 2)
