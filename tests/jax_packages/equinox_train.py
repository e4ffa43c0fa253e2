"""A network of equinox trained with filtered transformations."""

import equinox as eqx
import jax
import jax.numpy as jnp


def main():
    model = eqx.nn.MLP(2, 1, 8, 2, key=jax.random.PRNGKey(0))
    x = jnp.linspace(-1, 1, 16).reshape(8, 2)

    @eqx.filter_jit
    def step(model):
        def loss(m):
            return jnp.mean((jax.vmap(m)(x)[:, 0] - x.sum(1)) ** 2)

        value, grads = eqx.filter_value_and_grad(loss)(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads)), value

    for _ in range(10):
        model, value = step(model)
    return value, jax.vmap(model)(x)
