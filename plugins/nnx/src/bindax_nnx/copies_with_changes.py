"""Copies of graphs with other attributes, values or parts, and values without their variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import tree_map
from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import children_of, iter_variables
from bindax_nnx.lift._names import name_at
from bindax_nnx.module import Module, set_where_present, view
from bindax_nnx.object import Object
from bindax_nnx.split_merge import clone, merge, split, state
from bindax_nnx.state import map_state
from bindax_nnx.variables import Variable


def with_attributes(
    node: Any, /, *, only: Filter = ..., raise_if_not_found: bool = True, **attributes: Any
) -> Any:
    """A copy of the objects of a graph with other attributes, around the same variables.

    Args:
        node: the root.
        only: which modules are changed.
        raise_if_not_found: whether each attribute must be found somewhere.
        attributes: values by name.

    Raises:
        ValueError: no module has an attribute of a name.

    >>> from bindax_nnx import Dropout
    >>> layer = Dropout(0.5)
    >>> with_attributes(layer, deterministic=True).deterministic, layer.deterministic
    (True, False)
    """
    copy = view(node)
    missing = set_where_present(copy, only, attributes)
    if missing and raise_if_not_found:
        raise ValueError(
            f"with_attributes: no module of {type(node).__name__} that the filter takes has the "
            f"attributes {missing}."
        )
    return copy


def map(f: Callable[[Path, Any], Any], node: Any, /) -> Any:
    """A copy of a graph whose variables hold other values.

    Args:
        f: from a path and the variable there to the new value, or a variable.
        node: the root.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> map(lambda path, x: x * 0, layer).kernel.value.sum(), layer.kernel.shape
    (Array(0., dtype=float32), (2, 3))
    """
    graphdef, values = split(node)
    return merge(graphdef, map_state(f, values))


def recursive_map(f: Callable[[Path, Any], Any], node: Any, /) -> Any:
    """A copy of a graph, each part of which is what a function makes of it, parts first.

    Args:
        f: from a path and an object, variable, container or static value in a copy of the graph
            to what takes its place.
        node: the root.

    Raises:
        ValueError: an object contains itself.

    >>> from bindax_nnx import Linear, Rngs, Sequential
    >>> model = Sequential(Linear(1, 1, rngs=Rngs(0)))
    >>> names = []
    >>> _ = recursive_map(lambda path, x: (names.append(path), x)[1], model)
    >>> names[-1], ("layers", 0, "kernel") in names
    ((), True)
    """
    return _mapped(f, clone(node), (), {}, node)


_RUNNING = object()


def _mapped(f: Any, value: Any, path: Path, results: dict[int, Any], root: Any) -> Any:
    is_shared = isinstance(value, Object | Variable)
    if is_shared and id(value) in results:
        if results[id(value)] is _RUNNING:
            raise ValueError(
                f"recursive_map: {name_at(root, path)} is an object that contains itself, so that "
                f"there is no part to begin with."
            )
        return results[id(value)]
    if is_shared:
        results[id(value)] = _RUNNING
    if isinstance(value, Object):
        for key, child in list(children_of(value)):
            setattr(value, str(key), _mapped(f, child, (*path, key), results, root))
    elif isinstance(value, list | tuple | dict):
        keys = iter([key for key, _ in children_of(value)])

        def child(x: Any) -> Any:
            return _mapped(f, x, (*path, next(keys)), results, root)

        whole = value
        value = tree_map(child, whole, is_leaf=lambda x: x is not whole)
    new = f(path, value)
    if is_shared:
        results[id(value)] = new
    return new


def set_metadata(node: Any, /, *, only: Filter = Variable, **metadata: Any) -> None:
    """Give the variables of a graph metadata, in place.

    Args:
        node: the root.
        only: which variables.
        metadata: values by name.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> set_metadata(layer, only="kernel", sharding=("data", None))
    """
    takes = to_predicate(only)
    for path, variable in iter_variables(node):
        if takes(path, variable):
            variable.set_metadata(**metadata)


def pure(tree: Any) -> Any:
    """A tree with values in the place of variables, and nested dictionaries for states.

    >>> from bindax_nnx import Param
    >>> pure({"scale": Param(2.0)})
    {'scale': 2.0}
    """
    values = state(tree) if isinstance(tree, Module) else tree
    if hasattr(values, "to_pure_dict"):
        return values.to_pure_dict()
    return tree_map(
        lambda x: x.raw_value if isinstance(x, Variable) else x,
        values,
        is_leaf=lambda x: isinstance(x, Variable),
    )


as_pure = pure
"""The name that newer versions of Flax have for ``pure``."""
