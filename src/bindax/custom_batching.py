"""Functions that ``vmap`` maps by rules of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from bindax_core.extend import tree_flatten, tree_leaves, tree_map, tree_unflatten
from bindax_transforms import custom_vmap as custom_vmap

__all__ = ["custom_vmap", "sequential_vmap"]

P = ParamSpec("P")
R = TypeVar("R")


def sequential_vmap(fun: Callable[P, R]) -> custom_vmap[P, R]:
    """A function that ``vmap`` maps in a loop, one element after the other.

    For functions whose batched form would need too much memory.

    Args:
        fun: a function of arrays and trees of arrays.

    Returns:
        A ``custom_vmap`` function.

    >>> import bindax, numpy as np
    >>> from bindax.custom_batching import sequential_vmap
    >>> bindax.vmap(sequential_vmap(lambda x: x * x))(np.arange(3.0))
    Array([0., 1., 4.], dtype=float64)
    """
    made = custom_vmap(fun)
    call: Callable[..., R] = made

    @made.def_vmap
    def rule(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
        # The loop is a plugin, which `import bindax` does not load.
        from bindax_control_flow import map as map_in_loop

        leaves, tree = tree_flatten(args)
        flags = tree_leaves(in_batched)

        def element(mapped: list[Any]) -> Any:
            given = iter(mapped)
            full = [next(given) if flag else x for x, flag in zip(leaves, flags, strict=True)]
            return call(*tree_unflatten(tree, full))

        out = map_in_loop(element, [x for x, flag in zip(leaves, flags, strict=True) if flag])
        return out, tree_map(lambda _: True, out)

    return made
