"""A mixture, a transformed distribution and a hidden Markov model of distrax."""

import distrax
import jax
import jax.numpy as jnp


def main():
    mixture = distrax.MixtureSameFamily(
        distrax.Categorical(logits=jnp.array([0.1, -0.4])),
        distrax.Normal(jnp.array([-1.0, 2.0]), jnp.array([0.5, 1.5])),
    )
    samples, log_prob = mixture.sample_and_log_prob(seed=jax.random.key(0), sample_shape=(3,))
    flow = distrax.Transformed(
        distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2)),
        distrax.Block(distrax.Chain([distrax.Tanh(), distrax.ScalarAffine(0.3, 1.2)]), 1),
    )
    density = jax.jit(jax.grad(lambda x: flow.log_prob(x)))(jnp.array([0.2, -0.1]))
    chain = distrax.HMM(
        init_dist=distrax.Categorical(probs=jnp.array([0.6, 0.4])),
        trans_dist=distrax.Categorical(probs=jnp.array([[0.7, 0.3], [0.2, 0.8]])),
        obs_dist=distrax.Normal(jnp.array([0.0, 3.0]), jnp.ones(2)),
    )
    observed = jnp.array([0.1, 2.9, 3.2, -0.3])
    kl = distrax.Normal(0.0, 1.0).kl_divergence(distrax.Normal(0.5, 2.0))
    return samples, log_prob, density, chain.forward(observed)[0], chain.viterbi(observed), kl
