"""Values in the states of optimizers, by the names of fields and classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bindax_core.extend import NodeDefinition, tree_flatten_with_path, tree_map, tree_unflatten
from bindax_core.tree_util import register_node

Filtering = Callable[[Any, Any], Any] | None


@dataclass(frozen=True)
class NamedTupleKey:
    """The key of a field of a named tuple, in paths: the names of class and field.

    >>> str(NamedTupleKey("EmaState", "count"))
    'EmaState.count'
    """

    tuple_name: str
    name: str

    def __str__(self) -> str:
        """Class and field with a dot."""
        return f"{self.tuple_name}.{self.name}"


def tree_get_all_with_path(
    tree: Any, key: Any, filtering: Filtering = None
) -> list[tuple[Any, Any]]:
    """The values in a state by name, each with its path.

    Args:
        tree: a state, or another tree.
        key: the name of a field of a named tuple, a key of a dictionary, or the name of the class
            of a named tuple.
        filtering: takes path and value; those are left out for which it returns False.

    >>> from bindax import optimizers
    >>> state = optimizers.adam(0.1).init(1.0)
    >>> [path[-1].name for path, value in tree_get_all_with_path(state, "count")]
    ['count']
    """
    found = _found((), tree, key)
    return [(path, x) for path, x in found if filtering is None or filtering(path, x)]


def tree_get(tree: Any, key: Any, default: Any = None, filtering: Filtering = None) -> Any:
    """The value in a state by name.

    Args:
        tree: a state, or another tree.
        key: as for ``tree_get_all_with_path``.
        default: what is returned if there is none.
        filtering: as for ``tree_get_all_with_path``.

    Raises:
        KeyError: there are several.

    >>> from bindax import optimizers
    >>> int(tree_get(optimizers.adam(0.1).init(1.0), "count"))
    0
    """
    found = tree_get_all_with_path(tree, key, filtering)
    if len(found) > 1:
        paths = ", ".join("/".join(map(str, path)) for path, _ in found)
        raise KeyError(
            f"tree_get: several values have the name {key!r}, at {paths}; choose one with "
            f"filtering."
        )
    return found[0][1] if found else default


def tree_set(tree: Any, filtering: Filtering = None, /, **kwargs: Any) -> Any:
    """A state with other values, by name.

    Args:
        tree: a state, or another tree.
        filtering: as for ``tree_get_all_with_path``.
        kwargs: the new values.

    Raises:
        KeyError: there is no value of a name.

    >>> from bindax import optimizers
    >>> tree_get(tree_set(optimizers.adam(0.1).init(1.0), count=3), "count")
    3
    """
    for key in kwargs:
        if not tree_get_all_with_path(tree, key, filtering):
            reason = "" if filtering is None else " for which filtering holds"
            raise KeyError(f"tree_set: no value has the name {key!r}{reason}.")
    return _replaced((), tree, kwargs, filtering)


def tree_map_params(
    initable: Any,
    f: Callable[..., Any],
    state: Any,
    /,
    *rest: Any,
    transform_non_params: Callable[[Any], Any] | None = None,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Map over the parts of a state that have the structure of the parameters.

    Args:
        initable: the optimizer, or its function ``init``.
        f: from the leaf of a state, and the leaves of ``rest``, to the new leaf.
        state: a state.
        rest: trees like the parameters.
        transform_non_params: from the other leaves to new ones; by default they stay.
        is_leaf: what counts as a leaf of the parameters.

    >>> from bindax import optimizers
    >>> optimizer = optimizers.sgd(0.1, momentum=0.9)
    >>> state = optimizer.init({"w": 1.0})
    >>> tree_map_params(optimizer, lambda x, name: name, state, {"w": "trace of w"})[0].trace
    {'w': 'trace of w'}
    """
    init = getattr(initable, "init", initable)

    def map_one(place: Any, value: Any) -> Any:
        if isinstance(place, ParamsPlaceholder):
            return tree_map(f, value, *rest, is_leaf=is_leaf)
        return value if transform_non_params is None else transform_non_params(value)

    return tree_map(
        map_one,
        init(ParamsPlaceholder()),
        state,
        is_leaf=lambda x: isinstance(x, ParamsPlaceholder),
    )


class ParamsPlaceholder:
    """Stands for parameters: a tree without leaves, which the parts of a state keep."""


register_node(
    NodeDefinition(ParamsPlaceholder, lambda x: ((), None), lambda _, xs: ParamsPlaceholder())
)


def _children(node: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """The children of a node, with keys that name the class of a named tuple, and its structure."""
    pairs, structure = tree_flatten_with_path(node, is_leaf=lambda x: x is not node)
    if not pairs or not pairs[0][0]:  # without children, or a leaf
        return [], structure
    entries = [path[0] for path, _ in pairs]
    if _is_named_tuple(node):
        entries = [NamedTupleKey(type(node).__name__, field) for field in node._fields]
    return list(zip(entries, [x for _, x in pairs], strict=True)), structure


def _is_named_tuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _name(entry: Any) -> Any:
    """The name by which a value is asked for; positions in sequences have none."""
    return getattr(entry, "name", getattr(entry, "key", None))


def _found(path: tuple[Any, ...], node: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    if _is_named_tuple(node) and type(node).__name__ == key:
        yield path, node
    children = [((*path, entry), child) for entry, child in _children(node)[0]]
    yield from ((at, child) for at, child in children if _name(at[-1]) == key)
    for at, child in children:
        yield from _found(at, child, key)


def _replaced(path: tuple[Any, ...], node: Any, new: Mapping[str, Any], filtering: Any) -> Any:
    """A node at a path, with the new values in it."""

    def is_chosen(name: Any, at: tuple[Any, ...], x: Any) -> bool:
        return name in new and (filtering is None or bool(filtering(at, x)))

    name = type(node).__name__
    if _is_named_tuple(node) and is_chosen(name, path, node):
        return new[name]
    pairs, structure = _children(node)
    if not pairs:
        return node
    children = []
    for entry, child in pairs:
        at = (*path, entry)
        chosen = is_chosen(_name(entry), at, child)
        children.append(new[_name(entry)] if chosen else _replaced(at, child, new, filtering))
    return tree_unflatten(structure, children)
