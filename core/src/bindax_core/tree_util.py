"""Pytrees under their long names, and the registration of container types: ``bindax.tree_util``."""

from bindax_core._exports import public_names as _public_names
from bindax_core.tree._dataclasses import register_dataclass as register_dataclass
from bindax_core.tree._flatten import tree_flatten as tree_flatten
from bindax_core.tree._flatten import tree_flatten_with_path as tree_flatten_with_path
from bindax_core.tree._flatten import tree_leaves as tree_leaves
from bindax_core.tree._flatten import tree_leaves_with_path as tree_leaves_with_path
from bindax_core.tree._flatten import tree_structure as tree_structure
from bindax_core.tree._flatten import tree_unflatten as tree_unflatten
from bindax_core.tree._keys import DictKey as DictKey
from bindax_core.tree._keys import FlattenedIndexKey as FlattenedIndexKey
from bindax_core.tree._keys import GetAttrKey as GetAttrKey
from bindax_core.tree._keys import KeyEntry as KeyEntry
from bindax_core.tree._keys import KeyPath as KeyPath
from bindax_core.tree._keys import SequenceKey as SequenceKey
from bindax_core.tree._keys import keystr as keystr
from bindax_core.tree._map import all_leaves as all_leaves
from bindax_core.tree._map import flatten_one_level as flatten_one_level
from bindax_core.tree._map import flatten_one_level_with_keys as flatten_one_level_with_keys
from bindax_core.tree._map import is_tree_node as is_tree_node
from bindax_core.tree._map import tree_all as tree_all
from bindax_core.tree._map import tree_map as tree_map
from bindax_core.tree._map import tree_map_with_path as tree_map_with_path
from bindax_core.tree._map import tree_reduce as tree_reduce
from bindax_core.tree._map import tree_reduce_associative as tree_reduce_associative
from bindax_core.tree._map import tree_transpose as tree_transpose
from bindax_core.tree._map import treedef_children as treedef_children
from bindax_core.tree._map import treedef_is_leaf as treedef_is_leaf
from bindax_core.tree._map import treedef_tuple as treedef_tuple
from bindax_core.tree._node_definition import NodeDefinition as NodeDefinition
from bindax_core.tree._prefix import tree_broadcast as tree_broadcast
from bindax_core.tree._register import Partial as Partial
from bindax_core.tree._register import register_pytree_node_class as register_pytree_node_class
from bindax_core.tree._register import register_pytree_with_keys as register_pytree_with_keys
from bindax_core.tree._register import (
    register_pytree_with_keys_class as register_pytree_with_keys_class,
)
from bindax_core.tree._register import register_static as register_static
from bindax_core.tree._registry import RedefinitionNotice as RedefinitionNotice
from bindax_core.tree._registry import is_registered as is_registered
from bindax_core.tree._registry import register_node as register_node
from bindax_core.tree._registry import register_pytree_node as register_pytree_node
from bindax_core.tree._registry import registered_by as registered_by
from bindax_core.tree._registry import registered_nodes as registered_nodes
from bindax_core.tree._registry import scoped_registration as scoped_registration
from bindax_core.tree._registry import unregister_pytree_node as unregister_pytree_node
from bindax_core.tree._treedef import PyTreeDef as PyTreeDef

vars()["__all__"] = _public_names(vars())
