"""Spherical harmonics and tensor products of e3nn."""

import e3nn_jax as e3nn
import jax
import jax.numpy as jnp


def main():
    x = jnp.array([[0.3, -0.2, 0.9], [1.0, 0.5, -0.4]])
    harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", x, normalize=True)
    product = jax.jit(lambda a: e3nn.tensor_product(a, a, filter_ir_out=["0e", "1o"]).array)
    gradient = jax.grad(lambda x: e3nn.spherical_harmonics("2e", x, True).array.sum())(x)
    return harmonics.array, product(harmonics), gradient
