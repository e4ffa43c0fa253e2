"""Flattening: the functions that every transformation calls on its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from bindax_core._fast_paths import fast_paths
from bindax_core.tree._compile import OFTEN, generate_flatten
from bindax_core.tree._flatten_with_path import flatten_with_path
from bindax_core.tree._keys import KeyPath
from bindax_core.tree._paths import unlink
from bindax_core.tree._table import LEAF_TYPES, Remembered
from bindax_core.tree._treedef import LEAF, PyTreeDef
from bindax_core.tree._walkers import walk_of

_WIDE = 16
"""Of roots with more children, only the number of children is looked at."""

_are_leaves = LEAF_TYPES.issuperset
"""Tell of types whether all of them are known to be leaves."""

_recent = Remembered(512)
"""Of structures that come up often, the last one by what the root of its trees looks like."""

IsLeaf: TypeAlias = Callable[[Any], bool] | None


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Split a pytree into its leaves and its structure.

    Args:
        tree: a pytree; anything that is not of a registered container type is a leaf.
        is_leaf: called with every node; where it returns True, the node is taken for a leaf.

    Returns:
        The list of leaves, and the structure that ``tree_unflatten`` puts them back into.

    Raises:
        TreeError: a container that contains itself, or a flatten function that raises or returns
            something else than children and metadata. The message names path and type.

    >>> tree_flatten([1.0, (2.0, 3.0)])
    ([1.0, 2.0, 3.0], PyTreeDef([*, (*, *)]))
    """
    if is_leaf is not None:
        found, _, root = flatten_with_path(tree, is_leaf)
        return found, root
    fast = fast_paths.flatten
    if fast is not None:
        done: tuple[list[Any], PyTreeDef] | None = fast(tree)
        if done is not None:
            return done
    kind: Any = type(tree)
    walk = walk_of(kind)
    if walk is None:
        return [tree], LEAF
    look: Any = kind
    if kind is dict:
        look = (*tree,) if len(tree) <= _WIDE else len(tree)
    elif kind is tuple or kind is list:
        look = (kind, *map(type, tree)) if len(tree) <= _WIDE else (kind, len(tree))
    known = _recent.get(look)
    if known is not None:
        taken: list[Any] | None = known.take(tree)
        if taken is not None and _are_leaves(map(type, taken)):
            return taken, known
    leaves: list[Any] = []
    try:
        structure: PyTreeDef = walk(tree, leaves)
    except Exception:
        pass
    else:
        structure._takes += 1
        if structure._takes == OFTEN:
            generate_flatten(structure)
        if structure.take is not None:
            _recent.keep(look, structure)
        return leaves, structure
    # The careful walk succeeds if the tree is deep, and else finds the path of what is wrong. It is
    # outside of the handler, so that the thousand frames of a RecursionError are not shown.
    found, _, root = flatten_with_path(tree)
    return found, root


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a pytree; see ``tree_flatten``.

    >>> tree_leaves({"b": 1, "a": [2, None]})
    [2, 1]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a pytree; see ``tree_flatten``.

    >>> tree_structure({"b": 1, "a": [2, None]})
    PyTreeDef({'a': [*, None], 'b': *})
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Build the pytree that has a structure and leaves; the inverse of ``tree_flatten``.

    Args:
        treedef: the structure.
        leaves: as many values as the structure has leaves.

    Raises:
        TreeError: too few or too many leaves.
        TypeError: the first argument is no structure.

    >>> leaves, structure = tree_flatten([1.0, (2.0, 3.0)])
    >>> tree_unflatten(structure, [leaf * 2.0 for leaf in leaves])
    [2.0, (4.0, 6.0)]
    """
    structure: Any = treedef
    if not isinstance(structure, PyTreeDef):
        swapped = " Structure and leaves are swapped." if isinstance(leaves, PyTreeDef) else ""
        raise TypeError(
            f"tree_unflatten takes the structure first, a PyTreeDef, but got {structure!r:.60} of "
            f"type {type(structure).__name__}.{swapped}"
        )
    return treedef.unflatten(leaves)


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """The list of pairs of path and leaf of a pytree, and its structure.

    Args:
        tree: a pytree.
        is_leaf: called with every node; where it returns True, the node is taken for a leaf.
        is_leaf_takes_path: whether ``is_leaf`` is called as ``is_leaf(path, node)``.

    Raises:
        TreeError: as ``tree_flatten``.

    >>> tree_flatten_with_path({"a": [1]})
    ([((DictKey(key='a'), SequenceKey(idx=0)), 1)], PyTreeDef({'a': [*]}))
    """
    leaves, links, structure = flatten_with_path(
        tree, is_leaf, is_leaf_takes_path=is_leaf_takes_path, with_keys=True
    )
    return [(unlink(link), leaf) for link, leaf in zip(links, leaves, strict=True)], structure


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The pairs of path and leaf of a pytree; see ``tree_flatten_with_path``.

    >>> from bindax_core.tree_util import keystr
    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1], "b": 2})]
    [("['a'][0]", 1), ("['b']", 2)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]
