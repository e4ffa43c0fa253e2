"""A differential equation by diffrax: adaptive steps, dense saving, the gradient."""

import diffrax as dfx
import jax
import jax.numpy as jnp


def main():
    @jax.jit
    def solve(rate):
        return dfx.diffeqsolve(
            dfx.ODETerm(lambda t, y, a: -a * y),
            dfx.Tsit5(),
            t0=0.0,
            t1=2.0,
            dt0=0.1,
            y0=jnp.array([1.0, 2.0]),
            args=rate,
            saveat=dfx.SaveAt(ts=jnp.linspace(0, 2, 4)),
            stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-5),
        ).ys

    return solve(0.5), jax.grad(lambda r: solve(r)[-1].sum())(0.5)
