"""Soft spheres in a box, with jax_md: energy, minimization, and dynamics."""

import jax
from jax_md import energy, minimize, simulate, space


def main():
    displacement, shift = space.periodic(4.0)
    potential = energy.soft_sphere_pair(displacement)
    places = jax.random.uniform(jax.random.PRNGKey(0), (10, 2), maxval=4.0)
    init, apply = minimize.fire_descent(potential, shift)
    state = init(places)
    apply = jax.jit(apply)
    for _ in range(5):
        state = apply(state)
    begin, step = simulate.nvt_nose_hoover(potential, shift, 1e-3, 0.1)
    moving = begin(jax.random.PRNGKey(1), places)
    moving = jax.lax.fori_loop(0, 5, lambda i, s: step(s), moving)
    neighbors, lennard_jones = energy.lennard_jones_neighbor_list(displacement, 4.0, sigma=0.5)
    found = neighbors.allocate(state.position)
    return (
        potential(places),
        state.position,
        moving.position,
        lennard_jones(state.position, found),
    )
