"""A flax.linen network with batch statistics and dropout."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3,))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.relu(x).reshape(x.shape[0], -1)
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(2)(x)


def main():
    x = jnp.linspace(-1, 1, 24).reshape(2, 4, 3)
    net = Net()
    variables = net.init(jax.random.PRNGKey(0), x, False)

    @jax.jit
    def loss(params):
        out, updates = net.apply(
            {"params": params, "batch_stats": variables["batch_stats"]},
            x,
            True,
            rngs={"dropout": jax.random.PRNGKey(1)},
            mutable=["batch_stats"],
        )
        return (out**2).sum(), updates

    (value, updates), grads = jax.value_and_grad(loss, has_aux=True)(variables["params"])
    return value, updates, jax.tree.map(jnp.sum, grads), net.apply(variables, x, False)
