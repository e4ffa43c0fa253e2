"""Random games of tic-tac-toe and connect four with pgx."""

import jax
import jax.numpy as jnp
import pgx


def play(name):
    env = pgx.make(name)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), 4))
    step = jax.jit(jax.vmap(env.step))
    for i in range(6):
        key = jax.random.PRNGKey(i)
        logits = jnp.where(states.legal_action_mask, 0.0, -1e9)
        action = jax.random.categorical(key, logits, axis=-1)
        states = step(states, action)
    return states.observation, states.rewards, states.terminated, states.current_player


def main():
    return play("tic_tac_toe"), play("connect_four")
