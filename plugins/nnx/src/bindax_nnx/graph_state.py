"""States that know the structure of the graph that they are of."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import register_node
from bindax_nnx.filters import Filter
from bindax_nnx.split_merge import GraphDef, split
from bindax_nnx.state import State, flatten_state, flatten_state_with_keys, restore_state
from bindax_text import Displayed, Parts

_set = object.__setattr__


class GraphState(Displayed, MutableMapping[Any, Any]):
    """A state with the structure of its graph; a pytree like the state.

    Args:
        graphdef: the structure of the whole graph.
        state: the variables, or those that a filter took.

    >>> from bindax_nnx import Linear, Rngs, merge, split
    >>> graph, state = split(Linear(2, 3, rngs=Rngs(0)))
    >>> both = GraphState(graph, state)
    >>> sorted(both)
    ['bias', 'kernel']
    >>> merge(both).out_features
    3
    """

    __slots__ = ("_graphdef", "_state")

    _graphdef: GraphDef
    _state: State

    def __init__(self, graphdef: GraphDef, state: State) -> None:
        _set(self, "_graphdef", graphdef)
        _set(self, "_state", state)

    @property
    def graphdef(self) -> GraphDef:
        """The structure of the whole graph."""
        return self._graphdef

    @property
    def state(self) -> State:
        """The variables, or those that a filter took."""
        return self._state

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.state, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self.state[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.state[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.state[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.state)

    def __len__(self) -> int:
        return len(self.state)

    def __reduce__(self) -> Any:
        return GraphState, (self.graphdef, self.state)

    def __bindax_parts__(self) -> Parts:
        shown = [(f"{key!r}: ", x) for key, x in self.state.items()]
        return Parts("GraphState({", shown, "})")


register_node(
    NodeDefinition(
        GraphState,
        lambda x: (flatten_state(x.state)[0], (x.graphdef, flatten_state(x.state)[1])),
        lambda metadata, children: GraphState(metadata[0], restore_state(metadata[1], children)),
        lambda x: (flatten_state_with_keys(x.state)[0], (x.graphdef, flatten_state(x.state)[1])),
    )
)


def unpack(node: Any, *filters: Filter, graph: bool | None = None) -> Any:
    """The variables of a graph as states that know its structure.

    Args:
        node: an object, or a container of objects.
        filters: which variables each state has, of those that the former do not have.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    Returns:
        One state, or as many as there are filters; ``merge`` takes all of them.

    Raises:
        ValueError: no filter takes a variable, or a tree has one twice; the message names its path.

    >>> from bindax_nnx import BatchStat, Module, Param, merge
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor, self.mean = Param(2.0), BatchStat(0.0)
    >>> params, rest = unpack(Scale(), Param, ...)
    >>> list(params), merge(params, rest).factor.value
    (['factor'], 2.0)
    """
    graphdef, *states = split(node, *filters, graph=graph)
    packed = tuple([GraphState(graphdef, state) for state in states])
    return packed if len(packed) > 1 else packed[0]
