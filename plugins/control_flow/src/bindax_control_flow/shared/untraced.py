"""Control flow in Python: what ``config.disable_jit`` has loops and branches do.

The functions are called with concrete values, step by step, and nothing is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import tree_flatten, tree_unflatten
from bindax_lax_basic import concatenate, expand_dims, index_in_dim

NOT_CONCRETE = object()
"""Returned where a condition is traced, so that the loop must be traced, too."""


def repeat_while(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], value: Any) -> Any:
    """The result of a ``while_loop``, or ``NOT_CONCRETE``."""
    try:
        while bool(cond_fun(value)):
            value = body_fun(value)
    except ConcretizationTypeError:
        return NOT_CONCRETE
    return value


def repeat_for(integers: Iterable[Any], body_fun: Callable[[Any, Any], Any], value: Any) -> Any:
    """The result of a ``fori_loop`` over known integers."""
    for i in integers:
        value = body_fun(i, value)
    return value


def repeat_scan(
    f: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any, steps: int, reverse: bool
) -> tuple[Any, Any]:
    """The results of a ``scan`` of at least one step."""
    leaves, tree = tree_flatten(xs)
    order = range(steps)[::-1] if reverse else range(steps)
    slices: list[Any] = [None] * steps
    y_tree: Any = None
    for i in order:
        x = tree_unflatten(tree, [index_in_dim(leaf, i, keepdims=False) for leaf in leaves])
        carry, y = f(carry, x)
        slices[i], y_tree = tree_flatten(y)
    stacked = [_stack(parts) for parts in zip(*slices, strict=True)]
    return carry, tree_unflatten(y_tree, stacked)


def _stack(parts: Any) -> Any:
    return concatenate([expand_dims(part, (0,)) for part in parts], 0)
