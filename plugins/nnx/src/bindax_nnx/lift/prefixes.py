"""Prefixes: what is said of the arguments and results of a transformation, part by part.

A prefix has an axis, a sharding or the like for each argument, or for the parts of one. Inside of
an object, filters say it (``StateAxes``), a function (``GraphPrefix``), or an object of the same
structure with axes in the place of variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bindax_core.extend import PyTreeDef, flatten_prefix, tree_flatten, tree_map, tree_structure
from bindax_core.tree_util import tree_flatten_with_path, tree_map_with_path
from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import is_reference, iter_data, iter_variables, plain_key
from bindax_nnx.lift.by_filter import ByFilter
from bindax_nnx.modes import Mode, is_graph
from bindax_nnx.object import Object
from bindax_nnx.sharing import key_text
from bindax_nnx.state import State
from bindax_nnx.variables import Variable


class GraphPrefix:
    """A prefix of an object by a function of its variables; ``prefix`` makes it of objects.

    Args:
        function: from the path of a variable and the variable to what is said of it.
        path: the path of the object.
    """

    def __init__(self, function: Callable[[Path, Any], Any], path: Path) -> None:
        self._function = function
        self._path = path

    def of(self, path: Path, variable: Any) -> Any:
        """The entry for one variable."""
        return self._function((*self._path, *path), variable)

    def then(self, function: Callable[[Any], Any]) -> GraphPrefix:
        """The prefix with what a function makes of each entry."""
        return GraphPrefix(lambda path, x: function(self._function(path, x)), self._path)

    def __eq__(self, other: object) -> bool:
        return type(other) is GraphPrefix and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self._function, self._path))

    def __repr__(self) -> str:
        return f"GraphPrefix at {key_text(self._path) or 'the root'}"


class _Whole:
    """A prefix that is an object or a state, of the structure of the argument or a prefix of it."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def axes(self, root: Any, what: str) -> list[Any]:
        """Entries for each variable of an object, and each array that is in none."""
        tree = tree_structure(root)
        flat = iter(flatten_prefix(self.tree, tree, what))
        variables = tree_flatten(root, is_leaf=lambda x: isinstance(x, Variable))[0]
        sizes = [tree_structure(x).num_leaves for x in variables]
        return [([next(flat) for _ in range(n)] or [None])[0] for n in sizes]


def prefix(
    node: Any,
    filter_map: Mapping[Filter, Any] | Callable[[Path, Any], Any],
    /,
    *,
    graph: bool | None = None,
) -> Any:
    """The axes of the parts of an object, or what else is said of them, for a transformation.

    Args:
        node: an argument, or a tuple of arguments.
        filter_map: for each filter what is said of the variables that it takes, of which the first
            counts; or a function of the path of a variable and the variable.
        graph: whether it is for graph mode without updates, or for tree mode; by default as
            ``set_graph_mode`` says.

    Returns:
        The argument with axes in the place of variables and arrays; in graph mode something else
        stands for each object.

    Raises:
        TypeError: when ``filter_map`` is neither a mapping nor a function.
        ValueError: no filter takes a variable; the message names its path.

    >>> from bindax_nnx import BatchStat, Param
    >>> prefix({"w": Param(1.0), "mean": BatchStat(0.0)}, {Param: 0, ...: None}, graph=False)
    {'w': 0, 'mean': None}
    """
    if isinstance(filter_map, Mapping):
        function: Callable[[Path, Any], Any] = _FirstFilter(filter_map)
    elif callable(filter_map):
        function = filter_map
    else:
        raise TypeError(
            f"prefix: filter_map must be a mapping of filters, or a function of a path and a "
            f"variable, but it is {filter_map!r:.60}."
        )
    if not is_graph(graph):
        return tree_map_with_path(
            lambda keys, x: function(_path(keys), x),
            node,
            is_leaf=lambda x: isinstance(x, Variable),
        )

    def describe(keys: Any, x: Any) -> Any:
        path = _path(keys)
        if not is_reference(x):
            return function(path, x)
        made = GraphPrefix(function, path)
        for inner, variable in iter_data(x):
            made.of(inner, variable)  # raises where no filter takes it
        return made

    return tree_map_with_path(describe, node, is_leaf=is_reference)


def _path(keys: Any) -> Path:
    return tuple(map(plain_key, keys))


class _FirstFilter:
    def __init__(self, parts: Mapping[Filter, Any]) -> None:
        self._parts = [(to_predicate(filter), value) for filter, value in parts.items()]
        self._filters = list(parts)

    def __call__(self, path: Path, x: Any) -> Any:
        for takes, value in self._parts:
            if takes(path, x):
                return value
        raise ValueError(
            f"prefix: No filter matched {key_text(path) or 'the root'}, a {type(x).__name__}; the "
            f"filters are {self._filters!r}. Add one, or `...` as the last, for all others."
        )


def check_prefixes(name: str, mode: Mode, **given: Any) -> None:
    """Check the prefixes of a transformation, by the names of its parameters."""
    for what, prefix in given.items():
        check_prefix(name, what, prefix, mode)


def check_prefix(name: str, what: str, given: Any, mode: Mode) -> None:
    """Check that a prefix is one of a mode.

    Args:
        name: the transformation, for messages.
        what: the parameter, for messages.
        given: the prefix.
        mode: the mode of the transformation.

    Raises:
        ValueError: it has a variable, or is of another mode; the message says what to do.
    """
    stop = (Object, Variable, ByFilter, GraphPrefix)
    found, _ = tree_flatten_with_path(given, is_leaf=lambda x: isinstance(x, stop))
    for keys, x in found:
        place = f"{what}{key_text(_path(keys))} of nnx.{name}"
        if isinstance(x, ByFilter) and mode is not Mode.UPDATES:
            raise ValueError(
                f"{place} cannot contain `{type(x).__name__}` objects when `graph=False` or "
                f"`graph_updates=False`. Use nnx.prefix(argument, {{filter: ...}}) in its place, "
                f"or nnx.{name}(..., graph=True, graph_updates=True) or nnx.compat.{name}."
            )
        if isinstance(x, Object) and mode is not Mode.TREE:
            raise ValueError(
                f"{place} is a {type(x).__name__}. Graph nodes are not allowed as prefixes "
                f"when graph=True. Use nnx.prefix(..., graph=True), or tree mode, "
                f"nnx.{name}(..., graph=False)."
            )
        for path, variable in iter_variables(x) if isinstance(x, Object | Variable) else ():
            raise ValueError(
                f"{what}{key_text((*_path(keys), *path))} of nnx.{name} is a "
                f"{type(variable).__name__}. Variables prefixes are not supported; write what "
                f"holds for the whole variable in its place."
            )
        if isinstance(x, GraphPrefix) and mode is not Mode.GRAPH:
            raise ValueError(
                f"{place} was made by nnx.prefix for graph mode without updates: it is only "
                f"allowed when `graph=True` and `graph_updates=False`. Pass these to nnx.{name}, "
                f"or graph=False to nnx.prefix and nnx.{name}."
            )


def flatten_for_roots(given: Any, tree: PyTreeDef, what: str) -> list[Any]:
    """Entries of a prefix for each leaf of a tree whose leaves are objects and arrays."""
    covered = tree_map(
        lambda x: _Whole(x) if isinstance(x, Object | State) else x,
        given,
        is_leaf=lambda x: x is None or isinstance(x, Object | State),
    )
    return flatten_prefix(covered, tree, what)


def has_parts(given: Any) -> bool:
    """Tell whether what is said of an object is said of its parts."""
    return isinstance(given, ByFilter | GraphPrefix | _Whole)


def axes_of(given: Any, root: Any, found: Sequence[tuple[Path, Any]], what: str) -> list[Any]:
    """Entries of a prefix for each variable of an object, and each array that is in none.

    Args:
        given: what the prefix says of the object.
        root: the object.
        found: the variables and arrays, with their paths.
        what: the parameter, for messages.
    """
    if isinstance(given, _Whole):
        return given.axes(root, what)
    if isinstance(given, ByFilter | GraphPrefix):
        return [given.of(path, x) for path, x in found]
    return [given] * len(found)
