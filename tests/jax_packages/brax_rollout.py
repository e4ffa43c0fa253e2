"""A rollout of an environment of brax, compiled."""

import jax
import jax.numpy as jnp
from brax import envs


def main():
    env = envs.get_environment("inverted_pendulum", backend="generalized")
    state = jax.jit(env.reset)(jax.random.PRNGKey(0))

    def step(state, force):
        state = env.step(state, force[None])
        return state, (state.obs, state.reward)

    forces = 0.3 * jnp.sin(jnp.arange(10.0))
    final, (seen, rewards) = jax.jit(lambda s: jax.lax.scan(step, s, forces))(state)
    return seen, rewards, final.done
