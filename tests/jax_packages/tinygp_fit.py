"""A Gaussian process of tinygp: likelihood, its gradient, prediction."""

import jax
import jax.numpy as jnp
from tinygp import GaussianProcess, kernels, transforms


def main():
    x = jnp.linspace(0, 3, 12)
    y = jnp.sin(2 * x)

    def process(theta):
        kernel = jnp.exp(theta[0]) * transforms.Linear(
            jnp.exp(theta[1]), kernels.Matern32() + kernels.ExpSquared(scale=0.7)
        )
        return GaussianProcess(kernel, x, diag=0.05)

    def loss(theta):
        return -process(theta).log_probability(y)

    theta = jnp.array([0.1, -0.2])
    value, gradient = jax.jit(jax.value_and_grad(loss))(theta)
    _, conditioned = process(theta).condition(y, jnp.array([0.25, 1.6]))
    fast = GaussianProcess(kernels.quasisep.Matern52(scale=0.8), x, diag=0.1)
    return value, gradient, conditioned.mean, conditioned.variance, fast.log_probability(y)
