"""Flattening a tree down to the leaves of a structure, with errors that say where they part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.errors import TreeError
from bindax_core.tree._compare import same_metadata
from bindax_core.tree._keys import position
from bindax_core.tree._node_definition import NodeDefinition, flatten_node_at, short, type_name
from bindax_core.tree._paths import Link, unlink

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef


def flatten_up_to(root: PyTreeDef, tree: Any) -> list[Any]:
    """Flatten a tree down to the leaves of a structure; errors say where the two part."""
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
        children, keys, data, _ = flatten_node_at(definition, value, link)
        problem = _difference(root, node, definition, data, children)
        if problem is not None:
            # Paths are made only now: one for each node would cost the square of the depth.
            raise TreeError(f"{problem[0]} {position(unlink(link))}: {problem[1]}")
        below = zip(node._children, children, keys, strict=True)
        stack.extend(reversed([(child, part, (link, key)) for child, part, key in below]))
    return result


def _other_type(definition: NodeDefinition, value: Any, link: Link) -> TreeError:
    expected, hint = type_name(definition.type), ""
    if definition.kind == "none":
        expected = "None"
        hint = (
            " None is a node without leaves and matches only None; to treat it as a leaf, pass "
            "is_leaf=lambda x: x is None."
        )
    return TreeError(
        f"Expected {expected}, got {short(value)} of type {type_name(type(value))}, "
        f"{position(unlink(link))}.{hint}"
    )


def _difference(
    root: PyTreeDef, node: PyTreeDef, definition: NodeDefinition, data: Any, children: Sequence[Any]
) -> tuple[str, str] | None:
    """In what a node that was taken apart differs from the structure's; None if in nothing."""
    kind = definition.kind
    if kind in ("dict", "defaultdict"):
        ours, theirs = definition.mapping_keys(node._data), definition.mapping_keys(data)
        if ours != theirs:
            return "Dict key mismatch", _key_difference(ours, theirs)
    if kind not in ("list", "tuple", "namedtuple", "dict") and not same_metadata(
        root, node._data, data, node
    ):
        text = f"expected {short(node._data)}, got {short(data)}."
        return f"The metadata of {type_name(definition.type)} differs", text
    if len(children) != len(node._children):
        text = f"expected {len(node._children)} children, got {len(children)}."
        return f"{type_name(definition.type)} arity mismatch", text
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
