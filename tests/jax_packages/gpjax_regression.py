"""Regression with gpjax: a posterior, its likelihood, and a prediction."""

import gpjax as gpx
import jax
import jax.numpy as jnp
from jax import config

config.update("jax_enable_x64", True)


def main():
    x = jnp.linspace(-2, 2, 15).reshape(-1, 1)
    data = gpx.Dataset(X=x, y=jnp.sin(2 * x) + 0.1 * x)
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=gpx.kernels.RBF())
    posterior = prior * gpx.likelihoods.Gaussian(num_datapoints=15)
    objective = gpx.objectives.conjugate_mll(posterior, data)
    fitted, history = gpx.fit_scipy(
        model=posterior,
        objective=lambda p, d: -gpx.objectives.conjugate_mll(p, d),
        train_data=data,
        max_iters=10,
        verbose=False,
    )
    latent = fitted.predict(jnp.array([[0.3], [1.1]]), train_data=data)
    predicted = fitted.likelihood(latent)
    return objective, jax.tree.leaves(history)[0], predicted.mean, predicted.variance
