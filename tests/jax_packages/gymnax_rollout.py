"""Episodes of two environments of gymnax, compiled and in a batch."""

import gymnax
import jax
import jax.numpy as jnp


def rollout(name):
    env, params = gymnax.make(name)

    def episode(key):
        first, again = jax.random.split(key)
        _, state = env.reset(first, params)

        def step(state, key):
            act, step = jax.random.split(key)
            action = env.action_space(params).sample(act)
            seen, state, reward, done, *_ = env.step(step, state, action, params)
            return state, (seen, reward, done)

        return jax.lax.scan(step, state, jax.random.split(again, 8))[1]

    return jax.jit(jax.vmap(episode))(jax.random.split(jax.random.key(1), 2))


def main():
    return jax.tree.map(jnp.asarray, (rollout("CartPole-v1"), rollout("Pendulum-v1")))
