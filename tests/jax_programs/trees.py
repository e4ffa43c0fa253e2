"""Containers of a program's own: dataclasses, paths, transposes of trees, masks of parameters."""

import dataclasses
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.tree_util import keystr, tree_flatten_with_path, tree_map_with_path


@partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["name"])
@dataclasses.dataclass
class Linear:
    w: jax.Array
    b: jax.Array
    name: str

    def __call__(self, x):
        return x @ self.w + self.b


@jax.tree_util.register_pytree_node_class
class Stack:
    def __init__(self, *layers):
        self.layers = layers

    def tree_flatten(self):
        return self.layers, None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)

    def __call__(self, x):
        for layer in self.layers:
            x = jnp.tanh(layer(x))
        return x


class State(NamedTuple):
    model: Stack
    count: int


def main():
    keys = jax.random.split(jax.random.key(7), 2)
    weights = jax.vmap(lambda k: jax.random.normal(k, (3, 3)))(keys)
    model = Stack(*(Linear(w, jnp.zeros(3), f"layer{i}") for i, w in enumerate(weights)))
    x = jnp.array([0.1, -0.4, 0.7])
    loss = jax.jit(lambda model: (model(x) ** 2).sum())
    grads = jax.grad(loss)(model)
    decay = tree_map_with_path(lambda p, g: "b" not in keystr(p), grads)
    state = State(model, 3)
    leaves, treedef = jax.tree.flatten(state)
    doubled = jax.tree.unflatten(treedef, [2 * leaf for leaf in leaves])
    paths = [keystr(p) for p, _ in tree_flatten_with_path(state)[0]]
    outer = jax.tree.structure([0, 0])
    inner = jax.tree.structure({"a": 0})
    swapped = jax.tree.transpose(outer, inner, [{"a": 1.0}, {"a": 2.0}])
    return {
        "loss": loss(model),
        "grads": grads,
        "decay": jax.tree.leaves(decay),
        "count": doubled.count,
        "paths": paths,
        "swapped": swapped["a"],
    }
