"""A multilayer perceptron on two moons, with Adam written by hand."""

import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m), "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def predict(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss(params, x, y):
    return jnp.mean(-jax.nn.log_softmax(predict(params, x))[jnp.arange(len(y)), y])


@jax.jit
def step(state, x, y):
    params, m, v, t = state
    value, grads = jax.value_and_grad(loss)(params, x, y)
    m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g**2, v, grads)
    t = t + 1

    def update(p, a, b):
        return p - 0.01 * (a / (1 - 0.9**t)) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-8)

    return (jax.tree.map(update, params, m, v), m, v, t), value


def moons(key, n):
    angle = jnp.linspace(0, jnp.pi, n)
    noise = 0.1 * jax.random.normal(key, (2 * n, 2))
    one = jnp.stack([jnp.cos(angle), jnp.sin(angle)], 1)
    two = jnp.stack([1 - jnp.cos(angle), 0.5 - jnp.sin(angle)], 1)
    return jnp.concatenate([one, two]) + noise, jnp.repeat(jnp.arange(2), n)


def main():
    data_key, init_key = jax.random.split(jax.random.key(0))
    x, y = moons(data_key, 50)
    params = init(init_key, [2, 16, 16, 2])
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, zeros, 0)
    losses = []
    for _ in range(30):
        state, value = step(state, x, y)
        losses.append(value)
    accuracy = (predict(state[0], x).argmax(-1) == y).mean()
    return {"losses": jnp.stack(losses)[::10], "accuracy": accuracy, "bias": state[0][0]["b"]}
