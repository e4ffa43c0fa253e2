"""Trees of objects as trees of states: what transformations of pure functions take."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import register_node, tree_flatten_with_path, tree_unflatten
from bindax_nnx.graph import is_reference
from bindax_nnx.lift.axes import Occurrences, add_occurrences
from bindax_nnx.lift.prefixes import flatten_for_roots
from bindax_nnx.split_merge import GraphDef
from bindax_nnx.state import State
from bindax_nnx.update_contexts import MergeContext, SplitContext, merge_context, split_context


class NodeStates:
    """The structure of a graph and its states, in the place of an object; a pytree of the states.

    Attributes:
        graphdef: the structure.
        states: the states with the variables.

    >>> from bindax_nnx import Param, split
    >>> held = NodeStates.from_split(*split({"a": Param(1.0)}))
    >>> float(held.state["a"])
    1.0
    """

    __slots__ = ("graphdef", "states")

    def __init__(self, graphdef: GraphDef, states: tuple[State, ...]) -> None:
        self.graphdef: GraphDef = graphdef
        self.states: tuple[State, ...] = states

    @classmethod
    def from_split(cls, graphdef: GraphDef, *states: State) -> NodeStates:
        """The structure and the states that a ``SplitContext`` returns, as one value."""
        return cls(graphdef, states)

    @property
    def state(self) -> State:
        """The only state.

        Raises:
            ValueError: there are several.
        """
        if len(self.states) != 1:
            raise ValueError(f"NodeStates has {len(self.states)} states; take one of `states`.")
        return self.states[0]

    def __repr__(self) -> str:
        return f"NodeStates({self.graphdef!r}, {self.states!r})"


register_node(
    NodeDefinition(
        NodeStates,
        lambda x: (x.states, x.graphdef),
        lambda graphdef, states: NodeStates(graphdef, tuple(states)),
    )
)


def _split(ctx: SplitContext, path: Any, prefix: Any, node: Any) -> NodeStates:
    return NodeStates.from_split(*ctx.split(node))


def _merge(ctx: MergeContext, path: Any, prefix: Any, leaf: Any) -> Any:
    return ctx.merge(leaf.graphdef, *leaf.states)


def _is_states(x: Any) -> bool:
    return isinstance(x, NodeStates)


def to_tree(
    tree: Any,
    /,
    *,
    prefix: Any = None,
    split_fn: Callable[[SplitContext, Any, Any, Any], Any] = _split,
    map_non_graph_nodes: bool = False,
    ctxtag: Hashable | None = None,
    check_aliasing: bool = True,
) -> Any:
    """A tree with states in the place of objects and variables; parts they share are there once.

    Args:
        tree: a tree with objects and variables.
        prefix: something for each leaf of the tree, such as axes: a tree that begins as it does.
        split_fn: from a ``SplitContext``, a path, the part of the prefix and an object, to what
            stands in its place.
        map_non_graph_nodes: whether ``split_fn`` is called with other leaves, too.
        ctxtag: the tag of the ``update_context`` around, or None.
        check_aliasing: whether a variable at several places must have the same prefix at all.

    Raises:
        AliasingError: a variable has several prefixes.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> first, again = from_tree(to_tree([layer, layer]))
    >>> first is again, first is layer
    (True, False)
    """
    leaves, structure = tree_flatten_with_path(tree, is_leaf=is_reference)
    prefixes = flatten_for_roots(prefix, structure, "prefix")
    occurrences: Occurrences = {}
    with split_context(ctxtag) as ctx:
        outs = []
        for (path, leaf), own in zip(leaves, prefixes, strict=True):
            if is_reference(leaf) and check_aliasing:
                add_occurrences(occurrences, leaf, own)
            is_split = map_non_graph_nodes or is_reference(leaf)
            outs.append(split_fn(ctx, path, own, leaf) if is_split else leaf)
    return tree_unflatten(structure, outs)


def from_tree(
    tree: Any,
    /,
    *,
    prefix: Any = None,
    merge_fn: Callable[[MergeContext, Any, Any, Any], Any] = _merge,
    is_node_leaf: Callable[[Any], bool] = _is_states,
    is_leaf: Callable[[Any], bool] = _is_states,
    map_non_graph_nodes: bool = False,
    is_inner: bool | None = None,
    ctxtag: Hashable | None = None,
) -> Any:
    """A tree with objects in the place of states; the inverse of ``to_tree``.

    Args:
        tree: what ``to_tree`` returned.
        prefix: something for each leaf of the tree: a tree that begins as it does.
        merge_fn: from a ``MergeContext``, a path, the part of the prefix and what stands in the
            place of an object to the object.
        is_node_leaf: whether a leaf stands in the place of an object.
        is_leaf: where the tree ends.
        map_non_graph_nodes: whether ``merge_fn`` is called with other leaves, too.
        is_inner: whether this is inside of the function of states; see ``merge_context``.
        ctxtag: the tag of the ``update_context`` around, or None.

    >>> from bindax_nnx import Linear, Rngs
    >>> from_tree(to_tree({"layer": Linear(2, 3, rngs=Rngs(0))}))["layer"].out_features
    3
    """
    leaves, structure = tree_flatten_with_path(tree, is_leaf=is_leaf)
    prefixes = flatten_for_roots(prefix, structure, "prefix")
    with merge_context(ctxtag, is_inner) as ctx:
        outs = [
            merge_fn(ctx, path, own, x) if map_non_graph_nodes or is_node_leaf(x) else x
            for (path, x), own in zip(leaves, prefixes, strict=True)
        ]
    return tree_unflatten(structure, outs)
