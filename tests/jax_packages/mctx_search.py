"""A tree search with mctx on a model with fixed rewards."""

import jax
import jax.numpy as jnp
import mctx


def main():
    logits = jnp.array([[0.1, 0.5, -0.2]])
    root = mctx.RootFnOutput(prior_logits=logits, value=jnp.zeros(1), embedding=jnp.zeros((1, 1)))

    def recurrent(params, key, action, embedding):
        reward = jnp.array([0.0, 1.0, 0.3])[action]
        out = mctx.RecurrentFnOutput(
            reward=reward, discount=jnp.full((1,), 0.9), prior_logits=logits, value=reward
        )
        return out, embedding + 1

    policy = jax.jit(
        lambda key: mctx.muzero_policy(
            params=(),
            rng_key=key,
            root=root,
            recurrent_fn=recurrent,
            num_simulations=8,
            dirichlet_fraction=0.0,
        )
    )(jax.random.PRNGKey(0))
    return policy.action, policy.action_weights
