"""Calls of graphs that are taken apart."""

from __future__ import annotations

from typing import Any

from bindax_nnx.split_merge import Call, GraphDef, merge
from bindax_nnx.state import State

PureState = tuple[GraphDef, State]
"""The pair that ``split`` returns and ``call`` takes."""


def call(pure_state: PureState, /) -> Any:
    """A function that calls the graph of a structure and a state, or a method of it.

    Args:
        pure_state: the pair that ``split`` returned.

    Returns:
        A function, whose attributes and items are those of the graph. It returns the result of the
        call, and the pair after it.

    >>> from bindax_nnx import Module, Param, split
    >>> class Counter(Module):
    ...     def __init__(self):
    ...         self.count = Param(0.0)
    ...     def up(self, by):
    ...         self.count += by
    >>> _, (graphdef, state) = call(split(Counter())).up(2.0)
    >>> state.count.value
    2.0
    """
    root = merge(*pure_state)
    return Call(root, root)
