"""Targets and losses of reinforcement learning with rlax, and their gradient."""

import jax
import jax.numpy as jnp
import rlax


def main():
    rewards = jnp.array([0.0, 1.0, -0.5, 2.0])
    discounts = jnp.array([0.9, 0.9, 0.0, 0.9])
    values = jnp.linspace(-1, 1, 5)
    returns = rlax.lambda_returns(rewards, discounts, values[1:], 0.8)
    advantages = rlax.truncated_generalized_advantage_estimation(rewards, discounts, 0.95, values)
    q = jnp.linspace(-1, 1, 12).reshape(4, 3)
    actions = jnp.array([0, 2, 1, 1])

    def loss(q):
        errors = jax.vmap(rlax.double_q_learning)(q, actions, rewards, discounts, q[::-1], q)
        return jnp.mean(rlax.l2_loss(errors))

    gradient = jax.jit(jax.grad(loss))(q)
    policy = rlax.policy_gradient_loss(q, actions, advantages, jnp.ones(4))
    return returns, advantages, gradient, policy, rlax.softmax(0.5).entropy(q)
