"""Labelled arrays of coordax: arithmetic, sums over names, mapped functions."""

import coordax as cx
import jax
import jax.numpy as jnp


def main():
    x, y = cx.LabeledAxis("x", jnp.linspace(0, 1, 4)), cx.SizedAxis("y", 3)
    field = cx.field(jnp.arange(12.0).reshape(4, 3), x, y)
    total = cx.cmap(jnp.sum)(field.untag("x"))
    product = jax.jit(lambda f: f * f + 1.0)(field)
    slope = jax.grad(lambda f: cx.cmap(jnp.sum)((f * f).untag(x, y)).data)(field)
    moved = field.order_as("y", "x")
    return total.data, product.data, slope.data, moved.data, str(moved.dims)
