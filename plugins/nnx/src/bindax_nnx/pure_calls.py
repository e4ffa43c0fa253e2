"""Calls of graphs that are taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from bindax_nnx.split_merge import Call, GraphDef, merge
from bindax_nnx.state import State

M = TypeVar("M")

if TYPE_CHECKING:
    PureState = tuple[GraphDef, State]
else:
    PureState = tuple[GraphDef[M], State]
"""The pair that ``split`` returns and ``call`` takes; in annotations, of a class of objects."""


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
