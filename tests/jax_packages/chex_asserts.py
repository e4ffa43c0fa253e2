"""Variants, dataclasses and assertions of chex."""

import chex
import jax
import jax.numpy as jnp


@chex.dataclass
class State:
    position: chex.Array
    count: int


def main():
    @jax.jit
    def step(state):
        chex.assert_rank(state.position, 1)
        return state.replace(position=state.position * 2, count=state.count + 1)

    state = step(State(position=jnp.arange(3.0), count=0))
    chex.assert_trees_all_close(state.position, jnp.array([0.0, 2.0, 4.0]))
    try:
        chex.assert_shape(state.position, (4,))
    except AssertionError:
        return state, "refused"
