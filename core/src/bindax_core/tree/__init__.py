"""Pytrees: nested containers as lists of leaves and a structure; the names of ``bindax.tree``."""

from bindax_core.tree._dataclasses import static as static
from bindax_core.tree._flatten import tree_flatten as flatten
from bindax_core.tree._flatten import tree_flatten_with_path as flatten_with_path
from bindax_core.tree._flatten import tree_leaves as leaves
from bindax_core.tree._flatten import tree_leaves_with_path as leaves_with_path
from bindax_core.tree._flatten import tree_structure as structure
from bindax_core.tree._flatten import tree_unflatten as unflatten
from bindax_core.tree._map import tree_all as all
from bindax_core.tree._map import tree_map as map
from bindax_core.tree._map import tree_map_with_path as map_with_path
from bindax_core.tree._map import tree_reduce as reduce
from bindax_core.tree._map import tree_reduce_associative as reduce_associative
from bindax_core.tree._map import tree_transpose as transpose
from bindax_core.tree._prefix import tree_broadcast as broadcast

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]
