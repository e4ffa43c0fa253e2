"""A variational autoencoder, and one with a codebook in the place of the normal variables."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Loss(nnx.Variable):
    """A part of the loss that a layer records."""


class Encoder(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(16, 12, rngs=rngs)
        self.mean = nnx.Linear(12, 3, rngs=rngs)
        self.deviation = nnx.Linear(12, 3, rngs=rngs)
        self.rngs = rngs.fork()

    def __call__(self, x):
        x = nnx.relu(self.hidden(x))
        mean, deviation = self.mean(x), jnp.exp(self.deviation(x))
        divergence = (mean**2 + deviation**2 - 2 * jnp.log(deviation) - 1).sum(-1).mean() / 2
        self.sow(Loss, "divergence", divergence)
        return mean + deviation * self.rngs.noise.normal(mean.shape)


class Codebook(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(16, 3, rngs=rngs)
        self.codes = nnx.Param(jax.random.uniform(rngs.params(), (4, 3), minval=-1.0))

    def __call__(self, x):
        x = self.hidden(x)
        distances = ((x[:, None] - self.codes[...]) ** 2).sum(-1)
        near = self.codes[...][distances.argmin(-1)]
        self.sow(Loss, "apart", ((jax.lax.stop_gradient(x) - near) ** 2).mean())
        self.sow(Loss, "bound", 0.25 * ((x - jax.lax.stop_gradient(near)) ** 2).mean())
        return x + jax.lax.stop_gradient(near - x)


class Autoencoder(nnx.Module):
    def __init__(self, encoder, rngs):
        self.encoder = encoder(rngs)
        self.decoder = nnx.Sequential(
            nnx.Linear(3, 12, rngs=rngs), nnx.relu, nnx.Linear(12, 16, rngs=rngs)
        )

    def __call__(self, x):
        return self.decoder(self.encoder(x))


def loss_of(model, x):
    scores = model(x)
    recorded = sum(jax.tree.leaves(nnx.pop(model, Loss)))
    return optax.sigmoid_binary_cross_entropy(scores, x).mean() + 0.1 * recorded


@nnx.jit
def train_step(model, optimizer, x):
    loss, gradients = nnx.value_and_grad(loss_of)(model, x)
    optimizer.update(model, gradients)
    return loss


def main():
    found = {}
    x = (jax.random.uniform(jax.random.key(1), (8, 16)) > 0.6).astype(jnp.float32)
    for name, encoder in (("normal", Encoder), ("codes", Codebook)):
        model = Autoencoder(encoder, nnx.Rngs(0, noise=1))
        optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
        found[name] = jnp.stack([train_step(model, optimizer, x) for _ in range(8)])
        found[f"{name}, decoded"] = nnx.sigmoid(model.decoder(jnp.eye(3)))
    return found
