"""An ensemble of regressors, each with its own start, trained in parallel by vmap."""

import jax
import jax.numpy as jnp


def predict(params, x):
    w1, b1, w2 = params
    return jnp.tanh(x[:, None] * w1 + b1) @ w2


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    normal = jax.random.normal
    return normal(k1, (8,)), normal(k2, (8,)), 0.3 * normal(k3, (8,))


@jax.jit
def train(params, x, y):
    def loss(params):
        return ((predict(params, x) - y) ** 2).mean()

    def step(params, _):
        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), value

    return jax.lax.scan(step, params, None, length=50)


def main():
    x = jnp.linspace(-2, 2, 20)
    y = jnp.sin(2 * x)
    members = jax.vmap(init)(jax.random.split(jax.random.key(6), 5))
    members, losses = jax.vmap(train, in_axes=(0, None, None))(members, x, y)
    spread = jax.vmap(predict, (0, None))(members, jnp.array([0.0, 1.0, 4.0])).std(0)
    return {"final": losses[:, -1], "spread": spread}
