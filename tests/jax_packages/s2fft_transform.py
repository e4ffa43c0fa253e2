"""A transform on the sphere and back, with s2fft."""

import jax
import jax.numpy as jnp
import numpy as np
import s2fft
from jax import config

config.update("jax_enable_x64", True)


def main():
    limit = 6
    flm = s2fft.utils.signal_generator.generate_flm(np.random.default_rng(0), limit)
    f = s2fft.inverse(flm, limit, method="jax")
    back = s2fft.forward(f, limit, method="jax")
    energy = jax.grad(lambda f: jnp.sum(jnp.abs(s2fft.forward_jax(f, limit)) ** 2))(f.real)
    return f.real, f.imag, jnp.max(jnp.abs(back - flm)) < 1e-10, energy
