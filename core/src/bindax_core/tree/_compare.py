"""Equality and hash of tree definitions and of metadata, and what is wrong without them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bindax_core._config import config
from bindax_core.errors import BindaxError, TreeError, UnhashableMetadataNotice
from bindax_core.tree._keys import position
from bindax_core.tree._node_definition import NodeDefinition, short, type_name
from bindax_core.tree._paths import path_of_node, postorder

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

_LEAF_HASH = hash("bindax.leaf")


def treedef_hash(root: PyTreeDef) -> int:
    """Hash a structure and remember the hash."""
    for node in postorder(root):
        if node._hash is None:
            node._hash = _node_hash(root, node)
    return root._hash  # type: ignore[return-value]


def _node_hash(root: PyTreeDef, node: PyTreeDef) -> int:
    definition = node._definition
    if definition is None:
        return _LEAF_HASH
    try:
        data = hash(node._data)
    except BindaxError:
        raise
    except Exception as error:
        try:
            is_usable = _equal_without_identity(root, node, node._data, node._data)
        except TreeError:
            is_usable = False
        if not is_usable:
            reason = f"cannot be hashed ({type(error).__name__}: {error})"
            raise _unusable(root, node, reason) from error
        _notice(definition.type)
        data = 0  # comparing decides
    return hash((definition.type, data, tuple([child._hash for child in node._children])))


@functools.cache
def _notice(node_type: type) -> None:
    """Say once for each type what metadata without a hash costs."""
    warnings.warn(
        f"the metadata of pytree nodes of type {type_name(node_type)} cannot be hashed, so jit "
        f"finds a program by comparing it with the metadata of each program of that type: the more "
        f"there are, the longer a call takes. Metadata that is changed in place afterwards is not "
        f"noticed. Use tuples and other values that can be hashed.",
        UnhashableMetadataNotice,
        stacklevel=2,
    )


def treedefs_equal(left: PyTreeDef, right: PyTreeDef) -> bool:
    """Tell whether two structures are equal; metadata that cannot be compared is an error."""
    if left.num_leaves != right.num_leaves:
        return False
    if left._hash is not None and right._hash is not None and left._hash != right._hash:
        return False
    stack = [(left, right)]
    while stack:
        ours, theirs = stack.pop()
        if ours is theirs and ours._hash is not None:
            # With a hash the metadata below has been checked; without one, comparing decides
            # whether it is usable, and must not do so only when the objects happen to differ.
            continue
        if not same_node(left, ours, theirs):
            return False
        stack.extend(zip(ours._children, theirs._children, strict=True))
    return True


def same_node(root: PyTreeDef, ours: PyTreeDef, theirs: PyTreeDef) -> bool:
    """Tell whether two nodes agree in type, metadata and number of children."""
    return (
        _same_definition(ours._definition, theirs._definition)
        and len(ours._children) == len(theirs._children)
        and same_metadata(root, ours._data, theirs._data, ours)
    )


def _same_definition(ours: NodeDefinition | None, theirs: NodeDefinition | None) -> bool:
    if ours is theirs or ours is None or theirs is None:
        return ours is theirs
    # Definitions of named tuples are made on demand, and may have been made twice.
    return ours.kind == theirs.kind == "namedtuple" and ours.type is theirs.type


def same_metadata(root: PyTreeDef, ours: Any, theirs: Any, node: PyTreeDef) -> bool:
    """Tell whether the metadata of a node is equal to other metadata; errors have its path."""
    try:
        hash(ours)
    except Exception:  # not hashable: compare without the short cut for identical objects
        return _equal_without_identity(root, node, ours, theirs)
    return ours is theirs or _equal(root, node, ours, theirs)


def _equal(root: PyTreeDef, node: PyTreeDef, ours: Any, theirs: Any) -> bool:
    try:
        result = ours == theirs
    except BindaxError:
        raise
    except Exception as error:
        reason = f"cannot be compared ({type(error).__name__}: {error})"
        raise _unusable(root, node, reason) from error
    if isinstance(result, bool) or getattr(result, "shape", None) == ():
        return bool(result)
    reason = f"has an == that returns {type_name(type(result))} instead of a bool"
    raise _unusable(root, node, reason)


def _equal_without_identity(root: PyTreeDef, node: PyTreeDef, ours: Any, theirs: Any) -> bool:
    """Compare as ``==`` does, but never take two objects for equal because they are the same one.

    Containers do that with their elements, so that a tuple which holds an array compares equal to
    itself, and raises only when it meets another one. JAX leaves it at that.
    """
    identity_counts = config.conventions == "jax"
    stack = [(ours, theirs)]
    while stack:
        x, y = stack.pop()
        if identity_counts and x is y:
            continue
        if type(x) is type(y) and type(x) in (tuple, list):
            if len(x) != len(y):
                return False
            stack.extend(reversed([*zip(x, y, strict=True)]))  # the first decides
        elif type(x) is type(y) is dict:
            if x.keys() != y.keys():
                return False
            stack.extend((x[key], y[key]) for key in reversed(x))
        elif not _equal(root, node, x, y):
            return False
    return True


def _unusable(root: PyTreeDef, node: PyTreeDef, reason: str) -> TreeError:
    kind = "?" if node._definition is None else type_name(node._definition.type)
    return TreeError(
        f"The metadata of the pytree node of type {kind} {position(path_of_node(root, node))} "
        f"{reason}: {short(node._data)}. Metadata is part of the structure, which transformations "
        f"compare and use as a cache key, so that it must support ==, and should support hash. "
        f"Flatten arrays as children, and keep only hashable values in the metadata."
    )


# --------------------------- metadata and keys that are interchangeable, which 1 and True are not

EXACT_KEYS = frozenset({str, int})
"""Types of which equal values are interchangeable, among all the values of these types."""

_EXACT = frozenset({str, int, bool, bytes, type(None)})


def is_exact(data: Any) -> bool:
    """Tell whether metadata is made of values that are equal only if they are interchangeable."""
    return type(data) in _EXACT or (type(data) is tuple and all(map(is_exact, data)))


def same_exactly(ours: Any, theirs: Any) -> bool:
    """Tell whether metadata is known to be interchangeable."""
    if ours is theirs:
        return True
    if type(ours) is not type(theirs):
        return False
    if type(ours) is tuple:
        return len(ours) == len(theirs) and all(map(same_exactly, ours, theirs))
    return type(ours) in _EXACT and bool(ours == theirs)


def same_as(data: Any) -> Callable[[Any], bool]:
    """Make a function that tells whether metadata is known to be interchangeable with this.

    Raises:
        Exception: when the metadata has no hash. Where it has, a change in place shows by that.
    """
    known, exact = hash(data), is_exact(data)
    return lambda given: same_exactly(given, data) and (exact or hash(given) == known)
