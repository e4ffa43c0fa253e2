"""A flow of surjectors that lowers the dimension."""

import distrax
import haiku as hk
import jax
import jax.numpy as jnp
from surjectors import Chain, LULinear, Slice, TransformedDistribution
from surjectors.nn import make_mlp


def decoder(size):
    def made(z):
        mean, log_scale = jnp.split(make_mlp([8, 2 * size])(z), 2, -1)
        return distrax.Independent(distrax.Normal(mean, jnp.exp(log_scale)))

    return made


def main():
    @hk.without_apply_rng
    @hk.transform
    def density(x):
        base = distrax.Independent(distrax.Normal(jnp.zeros(3), jnp.ones(3)), 1)
        return TransformedDistribution(base, Chain([Slice(3, decoder(2)), LULinear(3)])).log_prob(x)

    x = jnp.linspace(-1, 1, 10).reshape(2, 5)
    params = density.init(jax.random.PRNGKey(0), x)
    gradient = jax.jit(jax.grad(lambda p: density.apply(p, x).sum()))(params)
    return density.apply(params, x), jax.tree.map(jnp.sum, gradient)
