"""``pure_callback``: a host function that computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from bindax_callbacks.host_function import HostFunction, make_callback
from bindax_callbacks.host_rules import NO_DERIVATIVE, host_rules, map_elements
from bindax_core.extend import (
    Primitive,
    api_boundary,
    operations_for,
    primitive,
    rules,
    tree_unflatten,
    typeof,
)

__all__ = ["pure_callback", "pure_callback_p"]

VMAP_METHODS = (None, "sequential", "expand_dims", "broadcast_all", "legacy_vectorized")


@api_boundary
def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: None = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Compute with a Python function when the program runs.

    The function must be pure: it may be called never, once or several times. To differentiate
    through it, give its derivative with ``custom_jvp`` or ``custom_vjp``.

    Args:
        callback: the function; gets ``Array`` values, and returns arrays or Python scalars.
        result_shape_dtypes: the types of its results, a tree of ``ShapeDtypeStruct``. The result
            of the function needs as many leaves.
        args: its arguments, arrays and trees of arrays.
        sharding: None; programs run on one device.
        vmap_method: what ``vmap`` does: ``"sequential"`` calls the function for each element.
            With the others one call gets the whole batch: mapped arguments have a new first axis,
            and so must the results. Other arguments get a first axis of size 1 with
            ``"expand_dims"``, one of the size of the batch with ``"broadcast_all"``, and none with
            ``"legacy_vectorized"``. With None, ``vmap`` is an error.
        kwargs: its arguments by name.

    Returns:
        The results, in the structure of ``result_shape_dtypes``.

    Raises:
        TypeError: when an argument is no array, or, as the program runs, when results do not have
            the announced types.
        ValueError: when ``vmap_method`` is none of these, or under ``vmap`` when it is None.

    >>> import numpy as np
    >>> from bindax_callbacks import pure_callback
    >>> from bindax_core import ShapeDtypeStruct
    >>> from bindax_transforms import vmap
    >>> def f(x):
    ...     kind = ShapeDtypeStruct(x.shape, x.dtype)
    ...     return pure_callback(np.cbrt, kind, x, vmap_method="expand_dims")
    >>> vmap(f)(np.array([1.0, 8.0, 27.0]))
    Array([1., 2., 3.], dtype=float64)
    """
    if sharding is not None:
        raise ValueError(
            f"pure_callback runs on one device, so sharding must be None, but it is {sharding!r}."
        )
    if vmap_method not in VMAP_METHODS:
        listed = ", ".join(map(repr, VMAP_METHODS))
        raise ValueError(
            f"vmap_method of pure_callback must be one of {listed}, but it is {vmap_method!r}."
        )
    made, operands = make_callback("pure_callback", callback, result_shape_dtypes, (args, kwargs))
    outs = pure_callback_p.bind(*operands, callback=made, vmap_method=vmap_method)
    return tree_unflatten(made.out_tree, outs)


def _vmap_pure(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[Any]]:
    callback: HostFunction = params["callback"]
    method = params["vmap_method"]
    if method is None:
        raise ValueError(
            f"vmap of pure_callback({callback.__name__}, ...) needs to know how to call it: give "
            f"vmap_method='sequential' for one call for each element, or 'expand_dims' or "
            f"'broadcast_all' for one call with the batch."
        )
    if method == "sequential":
        return map_elements(pure_callback_p, axis_size, operands, dims, **params)
    moved = [_leading(x, d, axis_size, method) for x, d in zip(operands, dims, strict=True)]
    avals = tuple([a.with_axis(0, axis_size) for a in callback.result_avals])
    batched = attrs.evolve(callback, result_avals=avals)
    outs = pure_callback_p.bind(*moved, **{**params, "callback": batched})
    return outs, [0] * len(outs)


def _leading(x: Any, dim: int | None, axis_size: int, method: str) -> Any:
    """An operand with its batch axis first, or what the method puts there for one without."""
    operations = operations_for(typeof(x))
    if dim is not None:
        return operations.move_axis(x, dim, 0)
    if method == "legacy_vectorized":
        return x
    return operations.broadcast_axis(x, axis_size if method == "broadcast_all" else 1, 0)


pure_callback_p: Primitive = primitive(
    "pure_callback",
    host_rules(pure=True),
    rules.jvp.absent(NO_DERIVATIVE),
    rules.vmap(_vmap_pure),
    rules.transpose.absent(NO_DERIVATIVE),
    multiple_results=True,
)
"""Computes with a host function. Parameters: ``callback``, from flat arrays to flat arrays;
``vmap_method``, how it is called for a batch, or None."""
