"""Flattening and unflattening of pytrees, beside the C++ of jaxlib and of optree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import optree as _optree

from benchmarks.measure import Case, repeated
from bindax import tree_util

Task = Callable[[], Any]
optree: Any = _optree  # its types know only collections


class Pair:
    """A container registered with functions."""

    __slots__ = ("first", "second")

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second


@dataclasses.dataclass
class Layer:
    """A dataclass with metadata."""

    kernel: Any
    bias: Any
    name: str


for _library in (tree_util, jax.tree_util):
    _library.register_pytree_node(
        Pair, lambda p: ((p.first, p.second), None), lambda _, children: Pair(*children)
    )
    _library.register_dataclass(Layer, ["kernel", "bias"], ["name"])
optree.register_pytree_node(
    Pair,
    lambda p: ((p.first, p.second), None, None),
    lambda _, children: Pair(*children),
    namespace="benchmarks",
)
optree.register_pytree_node(
    Layer,
    lambda layer: ((layer.kernel, layer.bias), layer.name, None),
    lambda name, children: Layer(children[0], children[1], name),
    namespace="benchmarks",
)


def layers(count: int) -> Any:
    """A tree of dicts with four leaves in each."""
    return {f"layer{i}": {"kernel": 1, "bias": 2, "scale": 3, "mean": 4} for i in range(count // 4)}


TREES: dict[str, Any] = {
    "plain, 6 leaves": {"weights": [1, 2], "biases": (3, 4), "scale": 5, "offset": 6},
    "plain, 100 leaves": [{"weights": (i, i), "biases": [i, i, i]} for i in range(20)],
    "plain, 10,000 leaves": layers(10_000),
    "registered, 6 leaves": [Pair(1, Pair(2, 3)), Pair(4, Pair(5, 6))],
    "registered, 100 leaves": {f"k{i}": Layer(1, 2, "n") for i in range(50)},
    "registered, 10,000 leaves": [Pair(i, i) for i in range(5_000)],
}


def bindax_task(tree: Any) -> Task:
    """Take a tree apart and put it together."""

    def task() -> Any:
        leaves, structure = tree_util.tree_flatten(tree)
        return tree_util.tree_unflatten(structure, leaves)

    return task


def jax_task(tree: Any) -> Task:
    """The same with JAX."""
    flatten, unflatten = jax.tree_util.tree_flatten, jax.tree_util.tree_unflatten

    def task() -> Any:
        leaves, structure = flatten(tree)
        return unflatten(structure, leaves)

    return task


def optree_task(tree: Any) -> Task:
    """The same with optree."""
    flatten, unflatten = optree.tree_flatten, optree.tree_unflatten

    def task() -> Any:
        leaves, structure = flatten(tree, namespace="benchmarks")
        return unflatten(structure, leaves)

    return task


def cases() -> Iterator[Case]:
    """Yield trees of plain and of registered nodes, small to large."""
    for name, tree in TREES.items():
        own = bindax_task(tree)
        for _ in range(3 if "10,000" in name else 100):
            own()  # structures that come up often get functions of their own
        title = f"tree round trip, {name}"
        yield Case(title, repeated(own), repeated(jax_task(tree)), target=5.0, goal=1.0)
        yield Case(
            f"{title}, beside optree",
            repeated(own),
            repeated(optree_task(tree)),
            target=5.0,
            goal=1.0,
            against="optree",
        )
