"""A flax.nnx module trained with its optimizer."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(2, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.last = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.relu(self.norm(self.first(x))))


def main():
    net = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)
    x = jnp.linspace(-1, 1, 16).reshape(8, 2)

    @nnx.jit
    def step(net, optimizer):
        value, grads = nnx.value_and_grad(lambda m: ((m(x)[:, 0] - x.sum(1)) ** 2).mean())(net)
        optimizer.update(net, grads)
        return value

    losses = [step(net, optimizer) for _ in range(5)]
    return jnp.stack(losses), net.norm.mean[...], jax.vmap(lambda a: a + 1)(x).sum()
