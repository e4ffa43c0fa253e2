"""A haiku network with dropout and a recurrent core."""

import haiku as hk
import jax
import jax.numpy as jnp


def main():
    @hk.transform
    def net(x):
        x = hk.Linear(8, w_init=hk.initializers.VarianceScaling())(x)
        x = hk.dropout(hk.next_rng_key(), 0.1, jax.nn.relu(x))
        core = hk.GRU(4)
        out, _ = hk.dynamic_unroll(core, x, core.initial_state(None))
        return out.sum()

    x = jnp.linspace(0, 1, 15).reshape(5, 3)
    params = net.init(jax.random.PRNGKey(0), x)
    grads = jax.jit(jax.grad(net.apply))(params, jax.random.PRNGKey(1), x)
    return net.apply(params, jax.random.PRNGKey(1), x), jax.tree.map(jnp.sum, grads)
