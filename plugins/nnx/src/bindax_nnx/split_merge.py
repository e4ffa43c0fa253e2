"""Graphs as pairs of structure and state: split, merge, update, and what follows from these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Any, TypeVar, overload

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_core.tree_util import register_static
from bindax_nnx._insertion import holder_at, put_at
from bindax_nnx._mutation_counter import mutation_counter
from bindax_nnx._tokens import NodeToken, VariableToken
from bindax_nnx.errors import GraphError
from bindax_nnx.filters import Filter, Path
from bindax_nnx.graph import (
    GraphTraversal,
    data_of,
    iter_data,
    iter_nodes,
    iter_variables,
    traverse,
)
from bindax_nnx.modes import is_graph
from bindax_nnx.object import Object
from bindax_nnx.reference_variables import loaded
from bindax_nnx.sharing import require_tree
from bindax_nnx.state import (
    State,
    split_flat,
    state_of_part,
    states_of,
    values_by_path,
)
from bindax_nnx.unflatten import Build
from bindax_nnx.variables import Variable, store_metadata, store_value

T = TypeVar("T")


@register_static
class GraphDef:
    """The structure of a graph without its values: hashable, and equal for equal structures.

    Attributes:
        tokens: the structure as words.
        paths: the paths of the variables, in their order.

    >>> from bindax_nnx import Linear, Rngs
    >>> graph, state = split(Linear(2, 3, rngs=Rngs(0)))
    >>> isinstance(graph, GraphDef), hash(graph) == hash(graphdef(merge(graph, state)))
    (True, True)
    """

    __slots__ = ("_hash", "paths", "tokens")

    def __init__(self, tokens: tuple[Any, ...], paths: tuple[Path, ...]) -> None:
        self.tokens: tuple[Any, ...] = tokens
        self.paths: tuple[Path, ...] = paths
        self._hash = hash(tokens)

    @property
    def type(self) -> Any:
        """The type of the root."""
        root = self.tokens[0]
        return root.type if isinstance(root, (NodeToken, VariableToken)) else type(root)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, GraphDef) and self.tokens == other.tokens)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"GraphDef({self.tokens[0]!r}, variables={len(self.paths)})"

    def apply(self, *states: State) -> Any:
        """A function that merges, calls a method or the object, and splits again.

        Returns:
            ``call(*args) -> (result, (graphdef, state))``; ``call.name`` is that of a method.
        """
        root = merge(self, *states)
        return Call(root, root)

    def __class_getitem__(cls, kind: Any) -> Any:
        return GenericAlias(cls, kind)


class Call:
    """A function of a node, or of a part of it, that gives the node taken apart again."""

    def __init__(self, root: Any, part: Any) -> None:
        self._root, self._part = root, part

    def __getattr__(self, name: str) -> Call:
        return Call(self._root, getattr(self._part, name))

    def __getitem__(self, key: Any) -> Call:
        return Call(self._root, self._part[key])

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, tuple[Any, Any]]:
        """Call the part; gives its result, and the node taken apart."""
        result = self._part(*args, **kwargs)
        return result, split(self._root)


@overload
def split(
    node: Any, filter: Filter = ..., /, *, graph: bool | None = None
) -> tuple[GraphDef, State]: ...
@overload
def split(
    node: Any, first: Filter, second: Filter, /, *, graph: bool | None = None
) -> tuple[GraphDef, State, State]: ...
@overload
def split(
    node: Any, first: Filter, second: Filter, third: Filter, /, *, graph: bool | None = None
) -> tuple[GraphDef, State, State, State]: ...
@overload
def split(node: Any, /, *filters: Filter, graph: bool | None = None) -> tuple[Any, ...]: ...
def split(node: Any, *filters: Filter, graph: bool | None = None) -> Any:
    """The structure of a graph, and its variables in one state for each filter.

    Args:
        node: an object, or a container of objects.
        filters: which variables each state has, of those that the former do not have.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    Returns:
        ``(graphdef, state, ...)``; one state with all variables where no filter is given. The
        variables in it are those of the graph. Arrays that are in no variable stand for themselves.

    Raises:
        ValueError: no filter takes a variable, or a tree has one twice; the message names its path.

    >>> from bindax_nnx import BatchStat, Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor, self.mean = Param(2.0), BatchStat(0.0)
    >>> graphdef, params, rest = split(Scale(), Param, ...)
    >>> list(params), list(rest)
    (['factor'], ['mean'])
    >>> merge(graphdef, params, rest).factor.value
    2.0
    """
    graphdef, found = taken_apart("split", node, graph)
    present = dict(zip(graphdef.paths, found, strict=True))
    parts = split_flat(present, filters or (...,), everything=True)
    return (graphdef, *map(state_of_part, parts))


def taken_apart(function: str, node: Any, graph: bool | None) -> tuple[GraphDef, list[Any]]:
    """The structure of a graph, and its variables and the arrays that are in none."""
    if not is_graph(graph):
        require_tree(function, node)
    traversal = traverse([node], whole=True, paths=True)
    graphdef = GraphDef(traversal.structure(), tuple(traversal.paths or ()))
    return graphdef, data_of(traversal)


def merge(
    graphdef: Any, /, *states: Any, copy: bool = False, recreate_variables: bool = True
) -> Any:
    """The graph of a structure and the states that have its variables; the inverse of ``split``.

    Args:
        graphdef: the structure; or the first of the states that ``unpack`` returned.
        states: variables or values by path.
        copy: whether the graph has copies of the variables in the states.
        recreate_variables: whether values that are in no variable get one.

    Raises:
        GraphError: the states lack a variable, or have one too many; the message names its path.

    >>> from bindax_nnx import Linear, Rngs
    >>> merge(*split(Linear(2, 3, rngs=Rngs(0)))).out_features
    3
    """
    if not isinstance(graphdef, GraphDef) and hasattr(graphdef, "graphdef"):
        states = (graphdef, *states)
        plain = next((state for state in states if not hasattr(state, "graphdef")), None)
        if plain is not None:
            raise GraphError(
                f"merge: the first state knows its graph, as those that unpack returns, but a "
                f"{type(plain).__name__} follows. Pass states of one kind, plain ones after the "
                f"graphdef."
            )
        graphdef = graphdef.graphdef
        if any(state.graphdef != graphdef for state in states):
            raise GraphError(
                "merge: GraphDef must be the same for all states that unpack returned, but these "
                "are of different graphs. Pass those of one call of unpack."
            )
    if not isinstance(graphdef, GraphDef):
        raise TypeError(
            f"merge: graphdef must be the GraphDef that split returned, but it is {graphdef!r:.60}."
        )
    given = content_by_path(graphdef, states)
    values = iter([_content(x) for x in given])
    shares = not copy and any(isinstance(x, Variable) for x in given)
    reused, bare = (given if shares or not recreate_variables else None), not recreate_variables
    build = Build(graphdef.tokens, values, reused=reused, bare=bare)
    node = build.next()
    for variable, x in zip(build.variables, given, strict=True):
        if isinstance(x, Variable) and x.token != variable.token:
            store_metadata(variable, x.token)
    return node


def content_by_path(graphdef: GraphDef, states: Sequence[Any]) -> list[Any]:
    """The content of states for each variable of a structure, in the order of these."""
    flat = values_by_path(states)
    missing = [path for path in graphdef.paths if path not in flat]
    if missing and not states:
        raise TypeError(
            f"merge: no state is given, but the graph needs {_named(missing)}. Pass all the "
            f"states that split returned."
        )
    if missing:
        raise GraphError(
            f"merge: the states have no {_named(missing)}, which the graph needs. Pass all the "
            f"states that split returned."
        )
    if len(flat) > len(graphdef.paths):
        extra = sorted(flat.keys() - set(graphdef.paths), key=str)
        raise GraphError(f"merge: the graph has no {_named(extra)}, which the states have.")
    return [flat[path] for path in graphdef.paths]


def _content(x: Any) -> Any:
    return loaded(x._value) if isinstance(x, Variable) else x


def _named(paths: list[Path]) -> str:
    shown = ", ".join("/".join(map(str, path)) for path in paths[:3])
    return f"{shown}{' and others' if len(paths) > 3 else ''}"


def update(node: Any, state: Any, /, *states: Any) -> None:
    """Put the values of states in the variables of a graph, in place.

    Args:
        node: an object, or a container of objects.
        state: variables or values by path; not all variables need be there. A variable that an
            object has not becomes an attribute of it.
        states: more of them.

    Raises:
        GraphError: the graph has no variable at a path, and none can be put there; nothing is
            changed then.

    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    >>> scale = Scale()
    >>> update(scale, {"factor": 3.0})
    >>> scale.factor.value
    3.0
    """
    flat = values_by_path((state, *states))
    present = dict(iter_data(node))
    new = {path: x for path, x in flat.items() if path not in present}
    holders = {path: holder_at(node, path, x) for path, x in new.items()}
    unknown = [path for path, holder in holders.items() if holder is None]
    if unknown:
        raise GraphError(
            f"update: the graph has no variable {_named(unknown)}; it has "
            f"{_named(list(present)) or 'none'}. A new one must be an nnx.Variable, at a name "
            f"that its object does not use."
        )
    for path, x in flat.items():
        here = present.get(path)
        if isinstance(here, Variable):
            here._require_context()
            here._require_live(_content(x))
        elif path in new:
            holders[path]._require_context(str(path[-1]))
    for path, x in flat.items():
        here = present.get(path)
        if isinstance(here, Variable):
            store_value(here, _content(x))
            if isinstance(x, Variable) and x.token != here.token:
                store_metadata(here, x.token)
        else:
            put_at(node, path, x.copy() if path in new else _content(x))
    mutation_counter.advance_variables()  # a value may be a tree


@overload
def state(node: Any, filter: Filter = ..., /, *, graph: bool | None = None) -> State: ...
@overload
def state(
    node: Any, first: Filter, second: Filter, /, *filters: Filter, graph: bool | None = None
) -> tuple[State, ...]: ...
def state(node: Any, *filters: Filter, graph: bool | None = None) -> Any:
    """The variables of a graph that filters take, by path in states.

    Args:
        node: an object, or a container of objects.
        filters: which variables each state has.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    Returns:
        One state, or as many as there are filters.

    >>> from bindax_nnx import Linear, Param, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> sorted(state(layer, Param))
    ['bias', 'kernel']
    """
    graphdef, found = taken_apart("state", node, graph)
    present = dict(zip(graphdef.paths, found, strict=True))
    return states_of(split_flat(present, filters or (...,), everything=False))


@overload
def variables(node: Any, filter: Filter = ..., /, *, graph: bool | None = None) -> State: ...
@overload
def variables(
    node: Any, first: Filter, second: Filter, /, *filters: Filter, graph: bool | None = None
) -> tuple[State, ...]: ...
def variables(node: Any, *filters: Filter, graph: bool | None = None) -> Any:
    """The variables of a graph themselves, by path in states.

    Args:
        node: an object, or a container of objects.
        filters: which variables each state has.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
    """
    if not is_graph(graph):
        require_tree("variables", node)
    found = dict(iter_data(node))
    return states_of(split_flat(found, filters or (...,), everything=False))


def graphdef(node: Any, *, graph: bool | None = None) -> GraphDef:
    """The structure of a graph; of a tree, if ``graph`` is False.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> graphdef(layer) == graphdef(Linear(2, 3, rngs=Rngs(1)))
    True
    """
    return taken_apart("graphdef", node, graph)[0]


def clone(node: T, variables: bool = True, *, graph: bool | None = None, arrays: bool = False) -> T:
    """A copy of a graph: its own objects and variables, with the sharing of the original.

    Args:
        node: an object, or a container of objects.
        variables: whether variables are copied, too; otherwise the copy holds those of the
            original.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
        arrays: whether arrays are copied, too.

    Raises:
        ValueError: ``graph`` is False, and a variable appears twice.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> copy = clone(layer)
    >>> copy.kernel is layer.kernel, bool((copy.kernel == layer.kernel).all())
    (False, True)
    """
    if not is_graph(graph):
        require_tree("clone", node)
    if not variables:
        return copy_around(node, lambda variable: variable)
    traversal = traverse([node], whole=True)
    values = tree_map(jnp.array, traversal.values) if arrays else traversal.values
    copy: T = Build(traversal.tokens, iter(values)).next()
    return copy


def copy_around(node: T, replaced: Callable[[Variable[Any]], Variable[Any]]) -> T:
    """A copy of the objects of a graph, around what takes the place of each variable."""
    variables = [variable for _, variable in iter_variables(node)]
    traversal = GraphTraversal({id(variable): i for i, variable in enumerate(variables)})
    traversal.value(node)
    values, originals = iter(traversal.values), [replaced(x) for x in variables]
    copy: T = Build(traversal.tokens, values, originals=originals).next()
    if isinstance(node, Object):
        object.__setattr__(copy, "_nnx_place", node._nnx_place)  # for messages
    return copy


@overload
def pop(node: Any, filter: Filter, /) -> State: ...
@overload
def pop(node: Any, first: Filter, second: Filter, /, *filters: Filter) -> tuple[State, ...]: ...
def pop(node: Any, *filters: Filter) -> Any:
    """Take variables out of a graph: their attributes are deleted.

    Returns:
        One state, or as many as there are filters.

    >>> from bindax_nnx import Intermediate, Module
    >>> class Probe(Module):
    ...     def __init__(self):
    ...         self.seen = Intermediate(1.0)
    >>> probe = Probe()
    >>> list(pop(probe, Intermediate)), hasattr(probe, "seen")
    (['seen'], False)
    """
    if not filters:
        raise ValueError("pop needs at least one filter that says which variables to take out.")
    parts = split_flat(dict(iter_variables(node)), filters, everything=False)
    taken = {id(x) for part in parts for x in part.values()}
    for _, owner in list(iter_nodes(node)):
        if isinstance(owner, Object):
            for name, value in list(owner.__dict__.items()):
                if id(value) in taken:
                    delattr(owner, name)
    return states_of(parts)
