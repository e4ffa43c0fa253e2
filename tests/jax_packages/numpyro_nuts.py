"""Posterior of a mean by numpyro: NUTS, and a variational fit."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(data):
    mean = numpyro.sample("mean", dist.Normal(0.0, 5.0))
    scale = numpyro.sample("scale", dist.HalfNormal(2.0))
    with numpyro.plate("n", len(data)):
        numpyro.sample("x", dist.Normal(mean, scale), obs=data)


def main():
    data = jnp.array([1.2, 0.8, 1.9, 1.4, 0.7])
    mcmc = MCMC(NUTS(model), num_warmup=30, num_samples=20, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0), data)
    draws = mcmc.get_samples()
    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
    fit = svi.run(jax.random.PRNGKey(1), 50, data, progress_bar=False)
    inside = bool(0.0 < draws["mean"].mean() < 2.5)
    return str(inside), fit.losses[::25]
