"""Minima by jaxopt: gradient descent, L-BFGS and a projected method."""

import jax
import jax.numpy as jnp
import jaxopt


def main():
    def f(x, a):
        return jnp.sum((x - a) ** 2) + 0.1 * jnp.sum(x**4)

    a = jnp.array([1.0, -2.0])
    lbfgs = jaxopt.LBFGS(f, maxiter=20).run(jnp.zeros(2), a).params
    descent = jaxopt.GradientDescent(f, maxiter=50)
    by_descent = descent.run(jnp.zeros(2), a).params
    gradient = jax.jacobian(lambda a: descent.run(jnp.zeros(2), a).params)(a)
    projected = jaxopt.ProjectedGradient(f, jaxopt.projection.projection_simplex, maxiter=30)
    by_projection = projected.run(jnp.array([0.5, 0.5]), hyperparams_proj=1.0, a=a).params
    return lbfgs, by_descent, gradient, by_projection
