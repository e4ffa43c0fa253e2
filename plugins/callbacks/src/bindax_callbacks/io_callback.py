"""``io_callback``: a host function that has effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_callbacks.host_function import make_callback
from bindax_callbacks.host_rules import NO_DERIVATIVE, effects, host_rules, map_elements
from bindax_core.extend import Effect, Primitive, api_boundary, primitive, rules, tree_unflatten

__all__ = ["io_callback", "io_callback_p"]


@api_boundary
def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: None = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function that has effects, such as reading or writing a file.

    It is called exactly as often as the program says. It has no derivative.

    Args:
        callback: the function; gets ``Array`` values, and returns arrays or Python scalars.
        result_shape_dtypes: the types of its results, a tree of ``ShapeDtypeStruct``; with None,
            what the function returns is ignored.
        args: its arguments, arrays and trees of arrays.
        sharding: None; programs run on one device.
        ordered: whether it is called after all ordered callbacks that the program has before.
        kwargs: its arguments by name.

    Returns:
        The results, in the structure of ``result_shape_dtypes``.

    Raises:
        TypeError: when an argument is no array, or, as the program runs, when results do not have
            the announced types.
        ValueError: under ``vmap`` when ordered; unordered it is called for each element.

    >>> import numpy as np
    >>> from bindax_callbacks import io_callback
    >>> from bindax_core import ShapeDtypeStruct
    >>> from bindax_transforms import jit
    >>> lines = iter([1.5, 2.5])
    >>> @jit
    ... def total(x):
    ...     kind = ShapeDtypeStruct((), np.float32)
    ...     for _ in range(2):
    ...         x = x + io_callback(lambda: next(lines), kind, ordered=True)
    ...     return x
    >>> total(np.float32(1.0))
    Array(5., dtype=float32)
    """
    if sharding is not None:
        raise ValueError(
            f"io_callback runs on one device, so sharding must be None, but it is {sharding!r}."
        )
    made, operands = make_callback("io_callback", callback, result_shape_dtypes, (args, kwargs))
    outs = io_callback_p.bind(*operands, callback=made, ordered=bool(ordered))
    return tree_unflatten(made.out_tree, outs)


io_callback_p: Primitive = primitive(
    "io_callback",
    host_rules(),
    effects(Effect("io"), Effect("ordered io", ordered=True)),
    rules.jvp.absent(NO_DERIVATIVE),
    rules.vmap(map_elements, takes_primitive=True),
    rules.transpose.absent(NO_DERIVATIVE),
    multiple_results=True,
)
"""Calls a host function that has effects. Parameters: ``callback``, from flat arrays to flat
arrays; ``ordered``, whether it keeps the order of the program."""
