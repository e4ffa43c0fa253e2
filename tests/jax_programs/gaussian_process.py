"""Gaussian process regression: marginal likelihood, its gradient, and the prediction."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np


def kernel(params, a, b):
    scale, length = jnp.exp(params["scale"]), jnp.exp(params["length"])
    distance = ((a[:, None] - b[None, :]) / length) ** 2
    return scale * jnp.exp(-0.5 * distance)


def negative_likelihood(params, x, y):
    k = kernel(params, x, x) + jnp.exp(params["noise"]) * jnp.eye(len(x))
    chol = jnp.linalg.cholesky(k)
    alpha = jsp.linalg.cho_solve((chol, True), y)
    log_det = 2 * jnp.sum(jnp.log(jnp.diag(chol)))
    return 0.5 * (y @ alpha + log_det + len(x) * np.log(2 * np.pi))


def predict(params, x, y, new):
    k = kernel(params, x, x) + jnp.exp(params["noise"]) * jnp.eye(len(x))
    cross = kernel(params, new, x)
    solved = jsp.linalg.solve(k, cross.T, assume_a="pos")
    return solved.T @ y, kernel(params, new, new) - cross @ solved


def main():
    x = np.linspace(-3, 3, 15)
    y = np.sin(x) + 0.1 * np.cos(17 * x)
    params = {"scale": 0.0, "length": 0.0, "noise": -2.0}
    step = jax.jit(jax.value_and_grad(negative_likelihood))
    for _ in range(20):
        value, grads = step(params, x, y)
        params = jax.tree.map(lambda p, g: p - 0.02 * g, params, grads)
    mean, cov = jax.jit(predict)(params, x, y, jnp.array([0.3, 1.7]))
    return {"likelihood": value, "length": params["length"], "mean": mean, "cov": cov}
