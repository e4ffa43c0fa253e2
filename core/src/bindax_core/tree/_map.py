"""Functions over whole pytrees: map, reduce, transpose."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from bindax_core.errors import TreeError
from bindax_core.tree import _builtin
from bindax_core.tree._flatten import IsLeaf, tree_flatten, tree_flatten_with_path, tree_leaves
from bindax_core.tree._node_definition import (
    NodeDefinition,
    flatten_node,
    flatten_node_with_keys,
    short,
    type_name,
)
from bindax_core.tree._registry import find_definition
from bindax_core.tree._table import kind_of
from bindax_core.tree._treedef import PyTreeDef, node_of

_T = TypeVar("_T")


class _Unspecified:
    def __repr__(self) -> str:
        return "<not given>"


_unspecified = _Unspecified()


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function to the leaves of one or more pytrees.

    Args:
        f: called with one leaf of ``tree`` and the corresponding subtree of each of ``rest``.
        tree: a pytree; the result has its structure.
        *rest: pytrees of which the structure of ``tree`` is a prefix.
        is_leaf: which nodes of ``tree`` to take for leaves.

    Raises:
        TreeError: a tree in ``rest`` parts from ``tree``; the message names the path.

    >>> tree_map(lambda x, y: x + y, {"b": 1, "a": (2, 3)}, {"a": (20, 30), "b": 10})
    {'b': 11, 'a': (22, 33)}
    """
    leaves, structure = tree_flatten(tree, is_leaf)
    others = [_leaves_below(structure, other) for other in rest]
    return structure.unflatten(list(map(f, leaves, *others)))


def _leaves_below(structure: PyTreeDef, tree: Any) -> list[Any]:
    """``structure.flatten_up_to(tree)``, fast where the tree has the structure itself."""
    try:
        leaves, found = tree_flatten(tree)
    except Exception:  # perhaps below the leaves of the structure, where nobody looks
        found = None
    return leaves if found is structure else structure.flatten_up_to(tree)


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """``tree_map`` of a function that is called with the path first, and then as there.

    Args:
        f: called with the path, one leaf of ``tree`` and the subtrees of ``rest``.
        tree: a pytree; the result has its structure.
        *rest: as for ``tree_map``.
        is_leaf: as for ``tree_map``.
        is_leaf_takes_path: whether ``is_leaf`` is called as ``is_leaf(path, node)``.

    >>> from bindax_core.tree_util import keystr
    >>> tree_map_with_path(lambda path, x: f"{keystr(path)}={x}", {"a": [1]})
    {'a': ["['a'][0]=1"]}
    """
    pairs, structure = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [structure.flatten_up_to(other) for other in rest]
    return structure.unflatten([f(*x, *parts) for x, *parts in zip(pairs, *others, strict=True)])


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _unspecified,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves of a pytree from left to right.

    Args:
        function: from what was combined so far and a leaf to the next.
        tree: a pytree.
        initializer: what to start from; by default the first leaf.
        is_leaf: which nodes to take for leaves.

    Raises:
        TypeError: there are no leaves and there is no initializer.

    >>> tree_reduce(lambda x, y: x + y, {"a": 1, "b": [2, 3]})
    6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is not _unspecified:
        leaves = [initializer, *leaves]
    if not leaves:
        raise TypeError(
            "reduce() of empty iterable with no initial value: the pytree "
            f"{short(tree)} has no leaves; pass an initializer."
        )
    return functools.reduce(function, leaves)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _unspecified,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves of a pytree in the shape of a balanced binary tree.

    Args:
        operation: an associative function of two values.
        tree: a pytree.
        identity: the result for a tree without leaves.
        is_leaf: which nodes to take for leaves.

    Raises:
        TypeError: there are no leaves and there is no identity.

    >>> tree_reduce_associative(lambda x, y: f"({x}{y})", ["a", "b", "c", "d"])
    '((ab)(cd))'
    """
    values = tree_leaves(tree, is_leaf)
    if not values:
        if identity is _unspecified:
            raise TypeError(
                f"The pytree {short(tree)} has no leaves; tree_reduce_associative needs identity."
            )
        return identity
    return _halves(operation, values)


def _halves(operation: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return operation(_halves(operation, values[:half]), _halves(operation, values[half:]))


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Tell whether all leaves of a pytree are true.

    >>> tree_all([True, {"a": 0}])
    False
    """
    return all(tree_leaves(tree, is_leaf))


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Tell whether all elements of an iterable are leaves.

    Args:
        iterable: the elements.
        is_leaf: which nodes to take for leaves.

    >>> all_leaves([1, 2]), all_leaves([1, None])
    (True, False)
    """
    stops = is_leaf or (lambda node: False)
    return all(stops(element) or kind_of(type(element)) is None for element in iterable)


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turn a tree of trees inside out.

    Args:
        outer_treedef: the structure of the outer tree.
        inner_treedef: the structure of all the inner trees; None takes that of the first.
        pytree_to_transpose: a tree of the composed structure.

    Returns:
        A tree of ``inner_treedef`` of trees of ``outer_treedef``.

    Raises:
        TreeError: the tree does not have the composed structure.

    >>> from bindax_core.tree_util import tree_structure
    >>> tree_transpose(tree_structure([0, 0]), tree_structure((0, 0)), [(1, 2), (3, 4)])
    ([1, 3], [2, 4])
    """
    _require_treedef("tree_transpose", "outer_treedef", outer_treedef)
    if inner_treedef is not None:
        _require_treedef("tree_transpose", "inner_treedef", inner_treedef)
    subtrees = outer_treedef.flatten_up_to(pytree_to_transpose)
    if inner_treedef is None:
        if not subtrees:
            raise TreeError(
                f"tree_transpose: the outer structure {outer_treedef} has no leaves, so that the "
                f"inner structure cannot be taken from them; pass inner_treedef."
            )
        inner_treedef = tree_flatten(subtrees[0])[1]
    flat, structure = tree_flatten(pytree_to_transpose)
    expected = outer_treedef.compose(inner_treedef)
    if structure != expected:
        raise TreeTransposeError(f"Mismatch\n{structure}\n != \n{expected}")
    step = inner_treedef.num_leaves
    columns = [flat[i::step] for i in range(step)]
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in columns])


class TreeTransposeError(TreeError, TypeError):
    """The tree to transpose does not have the structures that it was said to have."""


def _require_treedef(function: str, name: str, given: Any) -> None:
    if not isinstance(given, PyTreeDef):
        raise TreeError(
            f"{function}: {name} must be a PyTreeDef, as tree_structure gives, but it is "
            f"{short(given)} of type {type(given).__name__}."
        )


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the root.

    >>> from bindax_core.tree_util import tree_structure
    >>> treedef_children(tree_structure((1, [2])))
    [PyTreeDef(*), PyTreeDef([*])]
    """
    _require_treedef("treedef_children", "treedef", treedef)
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Tell whether a structure has a single node: a leaf, or a container without children.

    >>> from bindax_core.tree_util import tree_structure
    >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure((1,)))
    (True, False)
    """
    _require_treedef("treedef_is_leaf", "treedef", treedef)
    return not treedef._children


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of which the structures of the elements are given.

    Raises:
        TreeError: an element is not a ``PyTreeDef``.

    >>> from bindax_core.tree_util import tree_structure
    >>> treedef_tuple([tree_structure(1), tree_structure([2])])
    PyTreeDef((*, [*]))
    """
    children = tuple(treedefs)
    for i, child in enumerate(children):
        _require_treedef("treedef_tuple", f"element {i}", child)
    return node_of(_builtin.TUPLE, None, None, children)


def is_tree_node(typ: type) -> bool:
    """Tell whether instances of a type are pytree nodes.

    >>> is_tree_node(list), is_tree_node(float)
    (True, False)
    """
    if not isinstance(typ, type):
        raise TypeError(f"is_tree_node takes a type, but got {short(typ)}.")
    return kind_of(typ) is not None


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any]:
    """The children and the metadata of the root of a pytree.

    Raises:
        TreeError: the tree is a leaf.

    >>> flatten_one_level({"b": [1], "a": 2})
    ((2, [1]), ('a', 'b'))
    """
    children, data, _ = flatten_node(_root_definition(tree), tree)
    return tuple(children), data


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Any]:
    """The pairs of key and child, and the metadata, of the root of a pytree.

    Raises:
        TreeError: the tree is a leaf.

    >>> flatten_one_level_with_keys({"b": [1]})
    (((DictKey(key='b'), [1]),), ('b',))
    """
    children, keys, data, _ = flatten_node_with_keys(_root_definition(tree), tree)
    return tuple(zip(keys, children, strict=True)), data


def _root_definition(tree: Any) -> NodeDefinition:
    definition = find_definition(type(tree))
    if definition is None:
        raise TreeError(
            f"can't tree-flatten type: {type_name(type(tree))}. It is a leaf, as its type is not "
            f"registered as a pytree node type."
        )
    return definition
