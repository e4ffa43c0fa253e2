"""Training with recomputation: checkpoint with a policy inside scan over layers."""

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name


def layer(h, w):
    h = checkpoint_name(h @ w, "product")
    return jnp.sin(h), None


policies = {
    "nothing": jax.checkpoint_policies.nothing_saveable,
    "dots": jax.checkpoint_policies.dots_saveable,
    "names": jax.checkpoint_policies.save_only_these_names("product"),
}


def loss(ws, x, policy):
    body = jax.checkpoint(layer, policy=policy)
    h, _ = jax.lax.scan(body, x, ws)
    return (h**2).mean()


def main():
    ws = 0.5 * jax.random.normal(jax.random.key(8), (4, 6, 6))
    x = jnp.linspace(-1, 1, 12).reshape(2, 6)
    found = {}
    for name, policy in policies.items():
        step = jax.jit(jax.grad(lambda w, policy=policy: loss(w, x, policy)))
        w = ws
        for _ in range(3):
            w = w - 0.1 * step(w)
        found[name] = w[0, 0]
    return found
