"""A decaying turbulent flow with jax_cfd."""

import jax
import jax.numpy as jnp
import jax_cfd.base as cfd


def main():
    grid = cfd.grids.Grid((16, 16), domain=((0, 2 * jnp.pi), (0, 2 * jnp.pi)))
    velocity = cfd.initial_conditions.filtered_velocity_field(jax.random.PRNGKey(0), grid, 2.0)
    step = cfd.equations.semi_implicit_navier_stokes(
        density=1.0, viscosity=1e-2, dt=0.05, grid=grid
    )
    run = jax.jit(cfd.funcutils.repeated(step, 3))
    after = run(velocity)
    vorticity = cfd.finite_differences.curl_2d(after)
    return after[0].data, after[1].data, vorticity.data
