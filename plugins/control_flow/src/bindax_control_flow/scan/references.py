"""References among the sequences of a loop: each step gets an element of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import tree_flatten, tree_unflatten
from bindax_transforms import argument_names
from bindax_transforms.extend import Reference, argument_error, check_distinct, has_references


def by_element(f: Callable[..., Any], xs: Any) -> tuple[Callable[..., Any], Any, Sequence[Any]]:
    """A function of a step, and sequences without references: indices stand in their places.

    The leaves of the sequences come with them. The step reads and writes the elements of the
    references themselves.
    """
    leaves, tree = tree_flatten(xs)
    if not has_references(leaves):
        return f, xs, leaves
    names = argument_names(xs, "xs")
    check_distinct(leaves, lambda: names)
    for x, name in zip(leaves, names, strict=True):
        if isinstance(x, Reference) and not x.aval.shape:
            raise argument_error(x, f"{name}, which is a scalar,")

    def step(carry: Any, indexed: Any) -> Any:
        values = [
            x.element(value) if isinstance(x, Reference) else value
            for x, value in zip(leaves, tree_flatten(indexed)[0], strict=True)
        ]
        return f(carry, tree_unflatten(tree, values))

    numbers = [
        np.arange(x.aval.shape[0], dtype=np.int32) if isinstance(x, Reference) else x
        for x in leaves
    ]
    return step, tree_unflatten(tree, numbers), numbers
