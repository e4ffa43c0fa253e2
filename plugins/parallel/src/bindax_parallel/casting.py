"""Values taken to differ between devices, which are the same on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    LoweringContext,
    Primitive,
    Tracer,
    primitive,
    rules,
    tree_map,
    typeof,
)
from bindax_parallel._collective import find_axes
from bindax_parallel.reductions import psum
from bindax_parallel.varying import varying
from bindax_transforms import device_axes
from bindax_transforms.extend import register_cast, varying_of, with_varying
from bindax_transforms.zeros import Zero

__all__ = ["pcast", "pvary_p"]


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """The same values, taken to differ between the elements along named axes.

    The start of a loop is cast so where a step gives each device a value of its own. Where values
    are used, they are cast by themselves.

    Args:
        x: an array or a tree of arrays.
        axis_name: the name of an axis of ``shard_map`` or ``vmap``, or a tuple of names.
        to: ``"varying"``.

    Raises:
        NameError: when nothing around the caller gives a name.
        TypeError: when ``axis_name`` is a set, which has no order.
        ValueError: when ``to`` is something else.

    >>> import numpy as np
    >>> from bindax_core.sharding import AbstractMesh, P
    >>> from bindax_parallel import shard_map
    >>> @shard_map(mesh=AbstractMesh((2,), ("i",)), in_specs=P(), out_specs=P("i"))
    ... def copies(x):
    ...     return pcast(x, "i", to="varying")
    >>> copies(np.arange(2.0))
    Array([0., 1., 0., 1.], dtype=float64)
    """
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(f"pcast: axis_name must be a tuple or a str, but is {axis_name!r:.60}.")
    if to != "varying":
        raise ValueError(f"pcast: to must be 'varying', but is {to!r:.60}.")
    axes = find_axes("pcast", axis_name)
    # Where types do not say what varies, nor do those of indices.
    typed = [axis for axis in axes if varying_of([typeof(axis.index)])]
    names = tuple(axis.name for axis in typed)

    def cast(leaf: Any) -> Any:
        # The indices have a constant staged where they are.
        indices = [] if isinstance(leaf, Tracer) else [axis.index for axis in typed]
        return pvary_p.bind(leaf, *indices, axis_name=names)

    return tree_map(cast, x) if typed else x


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (x, *indices), t = primals, tangents[0]
    out = pvary_p.bind(x, *indices, **params)
    return out, Zero.like(out) if type(t) is Zero else pvary_p.bind(t, *indices, **params)


def _vmap(size: int, operands: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    return pvary_p.bind(*operands, **params), dims[0]


def _value(x: Any, *indices: Any, **params: Any) -> Any:
    return x


def _abstract_eval(x: Any, *indices: Any, axis_name: tuple[Any, ...]) -> Any:
    return with_varying(x, frozenset(axis_name))


def _lowering(ctx: LoweringContext, x: Any, *indices: Any, **params: Any) -> Any:
    return x


def _transpose(ct: Any, x: Any, *indices: Any, **params: Any) -> list[Any]:
    return [ct, *[None] * len(indices)]


pvary_p: Primitive = primitive(
    "pvary",
    rules.impl(_value),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose),
    rules.lowering["stablehlo"](_lowering),
    varying(lambda x, *indices, axis_name: x.union(axis_name, *indices)),
)
"""An array as it is, taken to differ between devices. Operands: the array, perhaps the index along
each axis. Parameter ``axis_name``: the names of the axes."""


def _as_values_vary(ct: Any, more: frozenset[Any], less: frozenset[Any]) -> Any:
    """A cotangent summed over the axes of ``more``, and taken to vary along those of ``less``."""
    if more:
        ct = psum(ct, tuple(name for name in device_axes() if name in more))
    names = tuple(name for name in device_axes() if name in less)
    return pvary_p.bind(ct, axis_name=names) if names else ct


register_cast(_as_values_vary)
