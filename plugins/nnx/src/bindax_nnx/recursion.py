"""All parts of a graph, one after the other, and copies of a graph part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bindax_core.extend import tree_map
from bindax_nnx.filters import Path
from bindax_nnx.graph import children_of, iter_nodes
from bindax_nnx.modes import is_graph
from bindax_nnx.object import Object
from bindax_nnx.sharing import key_text, require_tree
from bindax_nnx.split_merge import copy_around
from bindax_nnx.variables import Variable


def iter_graph(node: Any, *, graph: bool | None = None) -> Iterator[tuple[Path, Any]]:
    """All that can be reached from a node, with paths; each node and variable once, parts first.

    Args:
        node: an object, or a container of objects.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    Raises:
        ValueError: a tree has a variable twice.

    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor, self.power = Param(2.0), 3
    >>> [(path, type(value).__name__) for path, value in iter_graph(Scale())]
    [(('factor',), 'Param'), (('power',), 'int'), ((), 'Scale')]
    """
    if not is_graph(graph):
        require_tree("iter_graph", node)
    return iter_nodes(node)


def recursive_map(f: Callable[[Path, Any], Any], node: Any, /, *, graph: bool | None = None) -> Any:
    """A copy of a graph, each part of which is what a function makes of it, parts first.

    The copy has its own objects and containers, around the same variables.

    Args:
        f: from a path and an object, variable, container or static value in a copy of the graph
            to what takes its place.
        node: the root.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    Raises:
        ValueError: an object contains itself, or a tree has a variable twice.

    >>> from bindax_nnx import Linear, Rngs, Sequential
    >>> model = Sequential(Linear(1, 1, rngs=Rngs(0)))
    >>> names = []
    >>> _ = recursive_map(lambda path, x: (names.append(path), x)[1], model)
    >>> names[-1], ("layers", 0, "kernel") in names
    ((), True)
    """
    if not is_graph(graph):
        require_tree("recursive_map", node)
    return _mapped(f, copy_around(node, lambda variable: variable), (), {})


_RUNNING = object()


def _mapped(f: Any, value: Any, path: Path, results: dict[int, Any]) -> Any:
    is_shared = isinstance(value, Object | Variable)
    if is_shared and id(value) in results:
        if results[id(value)] is _RUNNING:
            raise ValueError(
                f"recursive_map: Found cycle in the graph: {type(value).__name__}{key_text(path)} "
                f"is an object that contains itself, so that there is no part to begin with."
            )
        return results[id(value)]
    if is_shared:
        results[id(value)] = _RUNNING
    if isinstance(value, Object):
        for key, child in list(children_of(value)):
            setattr(value, str(key), _mapped(f, child, (*path, key), results))
    elif isinstance(value, list | tuple | dict):
        keys = iter([key for key, _ in children_of(value)])

        def child(x: Any) -> Any:
            return _mapped(f, x, (*path, next(keys)), results)

        whole = value
        value = tree_map(child, whole, is_leaf=lambda x: x is not whole)
    new = f(path, value)
    if is_shared:
        results[id(value)] = new
    return new


def without(node: Any, variables: Iterable[Variable[Any]]) -> Any:
    """A copy of a graph with None in the place of some variables."""
    gone = set(map(id, variables))
    return recursive_map(lambda _, x: None if id(x) in gone else x, node, graph=True)
