"""Graphs as a structure and a flat list of variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import register_node
from bindax_nnx.errors import GraphError
from bindax_nnx.filters import Filter, Path
from bindax_nnx.split_merge import GraphDef, merge, taken_apart
from bindax_nnx.state import State, required_state, split_flat


class FlatState(Sequence[tuple[Path, Any]]):
    """Pairs of paths and variables; a pytree.

    Args:
        items: the pairs.
        sort: whether to sort them by path.

    >>> FlatState({("b",): 1, ("a",): 2}.items(), sort=True).paths
    (('a',), ('b',))
    """

    def __init__(self, items: Iterable[tuple[Path, Any]], /, *, sort: bool = False) -> None:
        pairs = sorted(items, key=lambda pair: tuple(map(str, pair[0]))) if sort else list(items)
        self.paths: tuple[Any, ...] = tuple([tuple(path) for path, _ in pairs])
        self.leaves: list[Any] = [x for _, x in pairs]

    def __getitem__(self, index: Any) -> Any:
        pairs = list(zip(self.paths, self.leaves, strict=True))[index]
        return FlatState(pairs) if isinstance(index, slice) else pairs

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[tuple[Path, Any]]:
        return zip(self.paths, self.leaves, strict=True)

    def __repr__(self) -> str:
        return f"FlatState({list(self)!r})"

    def to_nested_state(self) -> State:
        """The state with these variables."""
        return State.from_flat_path(dict(self))

    def split(self, first: Filter, /, *filters: Filter) -> Any:
        """The pairs in parts, one for each filter.

        Raises:
            ValueError: no filter takes a variable; the message names its path.
        """
        return self._parts((first, *filters), everything=True)

    def filter(self, first: Filter, /, *filters: Filter) -> Any:
        """The pairs that filters take, in one part for each."""
        return self._parts((first, *filters), everything=False)

    def _parts(self, filters: tuple[Filter, ...], *, everything: bool) -> Any:
        parts = split_flat(dict(self), filters, everything=everything)
        states = tuple([FlatState(part.items()) for part in parts])
        return states if len(states) > 1 else states[0]

    @staticmethod
    def merge(state: FlatState, /, *states: FlatState) -> FlatState:
        """The pairs of several; of a path that several have, the last counts."""
        flat = {path: x for part in (state, *states) for path, x in part}
        return FlatState(flat.items(), sort=True)


register_node(
    NodeDefinition(
        FlatState,
        lambda x: (tuple(x.leaves), x.paths),
        lambda paths, leaves: FlatState(zip(paths, leaves, strict=True)),
    )
)


def to_flat_state(state: State) -> FlatState:
    """The paths of a state with what is there, in order.

    >>> to_flat_state(State({"b": 1, "a": State({"c": 2})}))
    FlatState([(('a', 'c'), 2), (('b',), 1)])
    """
    return FlatState(required_state("to_flat_state", state).flat_state().items())


def flatten(node: Any, /, *, with_paths: bool = True, graph: bool | None = None) -> Any:
    """The structure of a graph, and its variables and the arrays that are in none.

    Args:
        node: an object, a container of objects, or an array.
        with_paths: whether to give a ``FlatState``, or a list.
        graph: whether variables may be shared; see ``set_graph_mode``.

    >>> from bindax_nnx import Dict, Param
    >>> graphdef, flat = flatten(Dict(a=Param(1.0)))
    >>> flat.paths, unflatten(graphdef, flat).a.value
    ((('a',),), 1.0)
    """
    graphdef, found = taken_apart("flatten", node, graph)
    return graphdef, FlatState(zip(graphdef.paths, found, strict=True)) if with_paths else found


def unflatten(
    graphdef: GraphDef,
    state: Any,
    /,
    *,
    copy_variables: bool = False,
    recreate_variables: bool = True,
) -> Any:
    """The graph of a structure and its variables; the inverse of ``flatten``.

    Args:
        graphdef: the structure.
        state: a ``FlatState``, a ``State``, or the variables in their order.
        copy_variables: whether the graph has copies of the variables in the state.
        recreate_variables: whether values that are in no variable get one.

    Raises:
        TypeError: when ``graphdef`` is none, or ``state`` has no variables in an order.
        GraphError: there are more or fewer variables than the structure has.
    """
    if not isinstance(graphdef, GraphDef):
        raise TypeError(
            f"unflatten: graphdef must be a GraphDef, such as flatten returns, but it is "
            f"{graphdef!r:.60}."
        )
    if not isinstance(state, Mapping | Sequence) or isinstance(state, str):
        raise TypeError(
            f"unflatten: state must be a FlatState, a State or a sequence of variables, but it is "
            f"{state!r:.60}."
        )
    if isinstance(state, Mapping):
        flat = dict((state if isinstance(state, State) else State(state)).flat_state())
    elif isinstance(state, FlatState):
        flat = dict(state)
    elif len(state) == len(graphdef.paths):
        flat = dict(zip(graphdef.paths, state, strict=True))
    else:
        flat = dict.fromkeys(range(len(state)))
    if len(flat) != len(graphdef.paths):
        raise GraphError(
            f"unflatten: Incorrect number of leaves: the structure has {len(graphdef.paths)} "
            f"variables, but got {len(flat)}. Pass all that flatten returned with it."
        )
    options = {"copy": copy_variables, "recreate_variables": recreate_variables}
    return merge(graphdef, FlatState(flat.items()), **options)
