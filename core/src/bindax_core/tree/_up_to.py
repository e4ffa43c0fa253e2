"""Flattening a tree down to the leaves of a structure, with errors that say where they part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bindax_core.errors import BindaxError, TreeError
from bindax_core.tree._compare import same_metadata
from bindax_core.tree._definition import NodeDefinition, short, type_name
from bindax_core.tree._expand import expand
from bindax_core.tree._keys import position
from bindax_core.tree._paths import Link, children_with_links, unlink

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef


NO_NONE_PREFIX = (
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
        children, data = expand_at(definition, value, link)
        if not node._children and not children and data is node._data:
            continue
        _check_node(root, node, data, children, link)
        below = children_with_links(node, link)
        stack.extend(
            (child, part, path)
            for (child, path), part in zip(reversed(below), reversed(children), strict=True)
        )
    return result


def expand_at(definition: NodeDefinition, value: Any, link: Link) -> tuple[list[Any], Any]:
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
    hint = NO_NONE_PREFIX if definition._kind == "none" else ""
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
        return "Dict key mismatch", key_difference(node._data, data)
    if kind == "defaultdict" and node._data[1] != data[1]:
        return "Dict key mismatch", key_difference(node._data[1], data[1])
    if kind not in ("list", "tuple", "namedtuple", "dict") and not same_metadata(
        root, node._data, data, node
    ):
        text = f"expected {short(node._data)}, got {short(data)}."
        return f"The metadata of {name} differs", text
    if len(children) != len(node._children):
        text = f"expected {len(node._children)} children, got {len(children)}."
        return f"{name} arity mismatch", text
    return None


def key_difference(expected: tuple[Any, ...], present: tuple[Any, ...]) -> str:
    missing = [key for key in expected if key not in present]
    extra = [key for key in present if key not in expected]
    parts = [f"expected keys {list(expected)}, got {list(present)}"]
    if missing:
        parts.append(f"missing {missing}")
    if extra:
        parts.append(f"unexpected {extra}")
    return f"{'; '.join(parts)}."
