"""Two networks against each other: one makes points, the other tells them from real ones."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Generator(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(3, 16, use_bias=False, rngs=rngs)  # the norm would undo it
        self.norm = nnx.BatchNorm(16, momentum=0.8, rngs=rngs)
        self.out = nnx.Linear(16, 2, rngs=rngs)

    def __call__(self, z):
        return self.out(nnx.leaky_relu(self.norm(self.hidden(z))))


class Discriminator(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(2, 16, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.out = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(self.dropout(nnx.leaky_relu(self.hidden(x))))[..., 0]


def told_apart(discriminator, real, made):
    cross_entropy = optax.sigmoid_binary_cross_entropy
    right, wrong = discriminator(real), discriminator(made)
    ones, zeros = jnp.ones(real.shape[0]), jnp.zeros(made.shape[0])
    return cross_entropy(right, ones).mean() + cross_entropy(wrong, zeros).mean()


def taken_as_real(generator, discriminator, z):
    scores = discriminator(generator(z))
    return optax.sigmoid_binary_cross_entropy(scores, jnp.ones(z.shape[0])).mean()


@nnx.jit
def train_step(generator, discriminator, optimizers, real, rngs):
    z = rngs.noise.normal((real.shape[0], 3))
    made = jax.lax.stop_gradient(generator(z))
    first, gradients = nnx.value_and_grad(told_apart)(discriminator, real, made)
    optimizers["discriminator"].update(discriminator, gradients)
    second, gradients = nnx.value_and_grad(taken_as_real)(generator, discriminator, z)
    optimizers["generator"].update(generator, gradients)
    return jnp.stack([first, second])


def main():
    rngs = nnx.Rngs(0, noise=1)
    generator, discriminator = Generator(rngs), Discriminator(rngs)
    optimizers = {
        "generator": nnx.Optimizer(generator, optax.adam(1e-2, b1=0.5), wrt=nnx.Param),
        "discriminator": nnx.Optimizer(discriminator, optax.rmsprop(1e-2), wrt=nnx.Param),
    }
    angles = jnp.linspace(0.0, 6.0, 8)
    real = jnp.stack([jnp.cos(angles), jnp.sin(angles)], -1)
    losses = [train_step(generator, discriminator, optimizers, real, rngs) for _ in range(8)]
    generator.eval()
    return {
        "losses": jnp.stack(losses),
        "made": generator(jnp.eye(3)),
        "mean": generator.norm.mean[...],
    }
