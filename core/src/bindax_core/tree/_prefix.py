"""Prefixes: trees that say something about the subtrees of another tree, such as ``in_axes``."""

from __future__ import annotations

from typing import Any

from bindax_core.errors import BindaxError, TreeError
from bindax_core.tree._compare import same_metadata
from bindax_core.tree._definition import NodeDefinition, short, type_name
from bindax_core.tree._flatten import IsLeaf, tree_structure
from bindax_core.tree._keys import position
from bindax_core.tree._paths import Link, children_with_links, unlink
from bindax_core.tree._registry import find_definition
from bindax_core.tree._treedef import PyTreeDef
from bindax_core.tree._walkers import expand

_NO_NONE_PREFIX = (
    " None is a node without leaves and matches only None; to treat it as a leaf, pass "
    "is_leaf=lambda x: x is None."
)


def flatten_up_to(root: PyTreeDef, tree: Any) -> list[Any]:
    """Flatten a tree down to the leaves of a structure that is its prefix.

    Raises:
        TreeError: the trees part; the message names the path and both sides there.
    """
    result: list[Any] = []
    stack: list[tuple[PyTreeDef, Any, Link]] = [(root, tree, None)]
    while stack:
        node, value, link = stack.pop()
        definition = node._definition
        if definition is None:
            result.append(value)
            continue
        if type(value) is not definition.type:
            raise _other_type(definition, value, link)
        children, data = _expand(definition, value, link)
        if not node._children and not children and data is node._data:
            continue
        _check_node(root, node, data, children, link)
        below = children_with_links(node, link)
        stack.extend(
            (child, part, path)
            for (child, path), part in zip(reversed(below), reversed(children), strict=True)
        )
    return result


def _expand(definition: NodeDefinition, value: Any, link: Link) -> tuple[list[Any], Any]:
    try:
        children, data, _ = expand(definition, value)
    except TreeError as error:
        raise TreeError(f"{error} This happened {position(unlink(link))}.") from error
    except BindaxError:
        raise
    except Exception as error:
        raise TreeError(
            f"The flatten function of the pytree node type {type_name(definition.type)} raised "
            f"{position(unlink(link))}: {type(error).__name__}: {error}"
        ) from error
    return list(children), data


def _other_type(definition: NodeDefinition, value: Any, link: Link) -> TreeError:
    hint = _NO_NONE_PREFIX if definition._kind == "none" else ""
    expected = "None" if definition._kind == "none" else type_name(definition.type)
    return TreeError(
        f"Expected {expected}, got {short(value)} of type {type_name(type(value))}, "
        f"{position(unlink(link))}.{hint}"
    )


def _check_node(
    root: PyTreeDef, node: PyTreeDef, data: Any, children: list[Any], link: Link
) -> None:
    definition = node._definition
    problem = None if definition is None else _difference(root, node, definition, data, children)
    if problem is not None:
        # The path is made only now: making one for each node would cost the square of the depth.
        raise TreeError(f"{problem[0]} {position(unlink(link))}: {problem[1]}")


def _difference(
    root: PyTreeDef, node: PyTreeDef, definition: NodeDefinition, data: Any, children: list[Any]
) -> tuple[str, str] | None:
    """In what a node that was taken apart differs from the structure's; None if in nothing."""
    kind, name = definition._kind, type_name(definition.type)
    if kind == "dict" and node._data != data:
        return "Dict key mismatch", _key_difference(node._data, data)
    if kind == "defaultdict" and node._data[1] != data[1]:
        return "Dict key mismatch", _key_difference(node._data[1], data[1])
    if kind not in ("list", "tuple", "namedtuple", "dict") and not same_metadata(
        root, node._data, data, node
    ):
        text = f"expected {short(node._data)}, got {short(data)}."
        return f"The metadata of {name} differs", text
    if len(children) != len(node._children):
        text = f"expected {len(node._children)} children, got {len(children)}."
        return f"{name} arity mismatch", text
    return None


def _key_difference(expected: tuple[Any, ...], present: tuple[Any, ...]) -> str:
    missing = [key for key in expected if key not in present]
    extra = [key for key in present if key not in expected]
    parts = [f"expected keys {list(expected)}, got {list(present)}"]
    if missing:
        parts.append(f"missing {missing}")
    if extra:
        parts.append(f"unexpected {extra}")
    return f"{'; '.join(parts)}."


def flatten_prefix(
    prefix_tree: Any, full_tree: Any, what: str = "in_axes", *, full_name: str = "the full tree"
) -> list[Any]:
    """For each leaf of a tree, the leaf of a prefix tree that stands above it.

    ``None`` in the prefix is a leaf (as in ``in_axes``), and so is whatever is not a node type.

    Args:
        prefix_tree: a pytree that has a leaf where the full tree may have a subtree.
        full_tree: the full pytree, or its ``PyTreeDef``.
        what: the name of the prefix argument, for the error message.
        full_name: what the full tree is called in the error message.

    Returns:
        One leaf of the prefix per leaf of the full tree.

    Raises:
        TreeError: the trees part; the message names the path and both sides there.

    >>> flatten_prefix((None, 0), (1.0, {"k1": 2.0, "k2": 3.0}))
    [None, 0, 0]
    """
    structure = full_tree if isinstance(full_tree, PyTreeDef) else tree_structure(full_tree)
    result: list[Any] = []
    stack: list[tuple[Any, PyTreeDef, Link]] = [(prefix_tree, structure, None)]
    while stack:
        prefix, node, link = stack.pop()
        definition = None if prefix is None else find_definition(type(prefix))
        if definition is None:
            result.extend([prefix] * node.num_leaves)
            continue
        stack.extend(reversed(_match(prefix, definition, node, link, (what, full_name))))
    return result


def _match(
    prefix: Any,
    definition: NodeDefinition,
    node: PyTreeDef,
    link: Link,
    names: tuple[str, str],
) -> list[tuple[Any, PyTreeDef, Link]]:
    """Match one node of a prefix with a structure; the pairs of children with their paths."""
    what, full_name = names
    full = node._definition
    name = type_name(definition.type)
    if full is None or full.type is not definition.type:
        theirs = "a leaf" if full is None else f"a node of type {type_name(full.type)}"
        raise _no_prefix(
            names,
            link,
            f"{what} has a node of type {name} ({short(prefix)}), but {full_name} has {theirs} "
            f"there. Use a single leaf for the whole subtree, or the same container.",
        )
    children, data = _expand(definition, prefix, link)
    kind = definition._kind
    if kind in ("dict", "OrderedDict", "defaultdict"):
        return _match_keys(definition, (children, data), node, link, names)
    if len(children) != len(node._children):
        raise _no_prefix(
            names,
            link,
            f"{what} has a {name} of length {len(children)} ({short(prefix)}), but {full_name} has "
            f"one of length {len(node._children)} ({short(node)}).",
        )
    if kind == "custom" and not same_metadata(node, node._data, data):
        raise _no_prefix(
            names,
            link,
            f"{what} has a {name} with metadata {short(data)}, but {full_name} has one with "
            f"metadata {short(node._data)}.",
        )
    below = children_with_links(node, link)
    return [(part, child, path) for part, (child, path) in zip(children, below, strict=True)]


def _no_prefix(names: tuple[str, str], link: Link, text: str) -> TreeError:
    what, full_name = names
    where = position(unlink(link), what)
    return TreeError(f"{what} is not a tree prefix of {full_name}: {where}, {text}")


def _match_keys(
    definition: NodeDefinition,
    parts: tuple[list[Any], Any],
    node: PyTreeDef,
    link: Link,
    names: tuple[str, str],
) -> list[tuple[Any, PyTreeDef, Link]]:
    children, data = parts
    keys = data[1] if definition._kind == "defaultdict" else data
    full_keys = node._data[1] if definition._kind == "defaultdict" else node._data
    values = dict(zip(keys, children, strict=True))
    if values.keys() != set(full_keys):
        what, full_name = names
        raise _no_prefix(
            names,
            link,
            f"{what} has a {type_name(definition.type)} with the keys {list(keys)}, but "
            f"{full_name} has one with the keys {list(full_keys)}.",
        )
    below = children_with_links(node, link)
    return [(values[key], child, path) for key, (child, path) in zip(full_keys, below, strict=True)]


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Copy each leaf of a prefix tree to all leaves of the full tree below it.

    Args:
        prefix_tree: a pytree that is a prefix of the full tree.
        full_tree: the tree whose structure the result has.
        is_leaf: which nodes of either tree to take for leaves.

    Raises:
        TreeError: the first is not a prefix of the second; the message names the path.

    >>> tree_broadcast((1, 2), ([3, 4], {"a": 5}))
    ([1, 1], {'a': 2})
    """
    full = tree_structure(full_tree, is_leaf)
    prefix = tree_structure(prefix_tree, is_leaf)
    leaves = prefix_leaves(prefix_tree, prefix, full, is_leaf)
    return full.unflatten(leaves)


def prefix_leaves(
    prefix_tree: Any, prefix: PyTreeDef, full: PyTreeDef, is_leaf: IsLeaf
) -> list[Any]:
    """One leaf of the prefix per leaf of the full structure."""
    from bindax_core.tree._flatten import tree_leaves

    leaves = iter(tree_leaves(prefix_tree, is_leaf))
    result: list[Any] = []
    stack: list[tuple[PyTreeDef, PyTreeDef, Link]] = [(prefix, full, None)]
    while stack:
        ours, theirs, link = stack.pop()
        if ours._definition is None:
            result.extend([next(leaves)] * theirs.num_leaves)
            continue
        _check_prefix(prefix, ours, theirs, link)
        paths = children_with_links(ours, link)
        stack.extend(
            (child, other, path)
            for (child, path), other in zip(
                reversed(paths), reversed(theirs._children), strict=True
            )
        )
    return result


def _check_prefix(root: PyTreeDef, ours: PyTreeDef, theirs: PyTreeDef, link: Link) -> None:
    from bindax_core.tree._treedef import same_definition

    if (
        same_definition(ours._definition, theirs._definition)
        and len(ours._children) == len(theirs._children)
        and same_metadata(root, ours._data, theirs._data, ours)
    ):
        return
    raise TreeError(
        f"The prefix tree is not a prefix of the full tree: {position(unlink(link))}, the prefix "
        f"has {short(ours)} and the full tree has {short(theirs)}."
    )
