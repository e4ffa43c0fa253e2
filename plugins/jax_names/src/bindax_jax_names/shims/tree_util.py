"""``jax.tree_util``: the registry of containers as an object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from bindax import tree_util

__all__ = ["PyTreeRegistry", "default_registry"]


class PyTreeRegistry:
    """The registered containers."""

    def flatten_one_level(self, tree: Any) -> tuple[Iterable[Any], Any] | None:
        """The children and the metadata of the root of a pytree; None for a leaf."""
        if not tree_util.is_tree_node(type(tree)):
            return None
        return tree_util.flatten_one_level(tree)

    def flatten(self, tree: Any, leaf_predicate: Any = None) -> tuple[list[Any], Any]:
        """The leaves and the structure of a pytree."""
        return tree_util.tree_flatten(tree, is_leaf=leaf_predicate)


default_registry: Final = PyTreeRegistry()
