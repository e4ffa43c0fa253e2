"""Evaluation on one device: parts become axes in front, and the axes of the mesh named ``vmap``s.

What this computes is what ``shard_map`` means; several devices compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import ClosedJaxpr, eval_jaxpr, typeof
from bindax_parallel.shard_map.plain import without_devices
from bindax_parallel.shard_map.specs import Sizes, Spec
from bindax_transforms import find_named_axis, vmap


def evaluate(
    jaxpr: ClosedJaxpr,
    axes: Sizes,
    in_specs: Sequence[Spec],
    out_specs: Sequence[Spec],
    operands: Sequence[Any],
) -> list[Any]:
    """Apply the program of each device to its parts, and put the results together."""
    jaxpr = without_devices(jaxpr)

    def on_one_device(*parts: Any) -> list[Any]:
        indices = [find_named_axis(name, "shard_map").index for name in axes]
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *indices, *parts)

    function: Callable[..., list[Any]] = on_one_device
    for name in reversed(axes):
        in_axes = tuple(0 if name in (*spec.names, *spec.unreduced) else None for spec in in_specs)
        function = vmap(function, in_axes=in_axes, axis_name=name, axis_size=axes[name])
    parts = [divide(x, spec, axes) for x, spec in zip(operands, in_specs, strict=True)]
    outs = function(*parts)
    return [join(x, spec, axes) for x, spec in zip(outs, out_specs, strict=True)]


def divide(x: Any, spec: Spec, axes: Sizes) -> Any:
    """The parts of an array, with an axis in front for each mesh axis that divides it.

    Of a sum that is still to be added up, the first device has all, and the others have zeros.
    """
    named = {*spec.names, *spec.unreduced}
    if not named:
        return x
    shape: list[int] = []
    place: dict[Any, int] = {}
    rest: list[int] = []
    for name in axes:
        if name in spec.unreduced:
            place[name] = len(shape)
            x = _padded(x, len(shape), axes[name])
            shape.append(axes[name])
    sizes = typeof(x).shape[len(shape) :]
    for size, names in zip(sizes, spec.padded(len(sizes)).axes, strict=True):
        for name in names:
            place[name] = len(shape)
            shape.append(axes[name])
        rest.append(len(shape))
        shape.append(size // prod(axes[name] for name in names))
    order = [place[name] for name in axes if name in named] + rest
    return lax.transpose(lax.reshape(x, shape), order)


def _padded(x: Any, axis: int, size: int) -> Any:
    """An array as the first of several along a new axis, of which the others are zeros."""
    x = lax.expand_dims(x, (axis,))
    zeros = [(0, size - 1 if i == axis else 0, 0) for i in range(typeof(x).ndim)]
    return lax.pad(x, lax.full((), 0, typeof(x).dtype), zeros)


def join(x: Any, spec: Spec, axes: Sizes) -> Any:
    """The array of which the parts are given, with an axis in front for each mesh axis.

    Along a mesh axis that does not divide the array all parts are the same: the first is taken. The
    terms of a sum are added up.
    """
    named = spec.names
    for i, name in reversed(list(enumerate(axes))):
        if name in spec.unreduced:
            x = lax.reduce_sum(x, (i,))
        elif name not in named:
            x = lax.index_in_dim(x, 0, i, False)
    if not named:
        return x
    front = [name for name in axes if name in named]
    shape = typeof(x).shape
    order: list[int] = []
    whole: list[int] = []
    for i, names in enumerate(spec.padded(len(shape) - len(front)).axes):
        order += [*(front.index(name) for name in names), len(front) + i]
        whole.append(shape[len(front) + i] * prod(axes[name] for name in names))
    return lax.reshape(lax.transpose(x, order), whole)
