"""Values of which types say something else of the devices, and which stay what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import (
    JaxprEqn,
    LoweringContext,
    Primitive,
    Printer,
    Tracer,
    format_application,
    primitive,
    rules,
    tree_map,
    typeof,
)
from bindax_core.sharding import ManualAxisType
from bindax_parallel._collective import find_axes
from bindax_parallel._sums import with_sums
from bindax_parallel.reductions import psum
from bindax_parallel.varying import varying
from bindax_transforms import device_axes, find_named_axis
from bindax_transforms.extend import register_cast, varying_of
from bindax_transforms.zeros import Zero

__all__ = ["pcast", "pvary_p"]

Names = frozenset[Any]


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """The same value on each device, of a type that says something else of the devices.

    The start of a loop is cast so where a step gives each device a value of its own. Where values
    are used, they are taken to vary by themselves.

    Args:
        x: an array or a tree of arrays.
        axis_name: the name of an axis of ``shard_map`` or ``vmap``, or a tuple of names.
        to: ``"varying"``, for a value that all devices have; ``"unreduced"``, for a value that
            varies: what devices have are terms of a sum; or ``"reduced"``, for a value that all
            devices have, whose cotangent is unreduced.

    Raises:
        NameError: when nothing around the caller gives a name.
        TypeError: when ``axis_name`` is a set, which has no order.
        ValueError: when ``to`` is something else, or the value is not of the kind that is needed.

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
    if to not in _KINDS:
        raise ValueError(f"pcast: to must be one of {list(_KINDS)}, but is {to!r:.60}.")
    axes = find_axes("pcast", axis_name)
    # Where types do not say what varies, nor do those of indices.
    typed = [axis for axis in axes if varying_of([typeof(axis.index)])]
    names = tuple(axis.name for axis in typed)

    def cast(leaf: Any) -> Any:
        _check(typeof(leaf), names, to)
        return _cast(leaf, names, to)

    return tree_map(cast, x) if typed else x


_KINDS = ("varying", "unreduced", "reduced")


def _check(aval: Any, names: Sequence[Any], to: str) -> None:
    """Raise unless a value can be cast."""
    mat = aval.mat
    refused = {
        "varying": mat.unreduced,
        "unreduced": mat.unreduced | mat.reduced | (frozenset(names) - mat.varying),
        "reduced": mat.unreduced | mat.reduced | mat.varying,
    }
    wrong = [name for name in names if name in refused[to]]
    if wrong:
        needed = "one that varies" if to == "unreduced" else "one that all devices have"
        raise ValueError(
            f"pcast(..., to={to!r}): along the axis {wrong[0]!r} the value must be {needed}, but "
            f"it is {aval.str_short()}. psum and psum_scatter add unreduced values up."
        )


def _cast(x: Any, names: Sequence[Any], to: str) -> Any:
    if not names:
        return x
    # The indices have a constant staged where they are.
    staged = () if isinstance(x, Tracer) else names
    indices = [find_named_axis(name, "pcast").index for name in staged]
    return pvary_p.bind(x, *indices, axis_name=tuple(names), to=to)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (x, *indices), t = primals, tangents[0]
    out = pvary_p.bind(x, *indices, **params)
    return out, Zero.like(out) if type(t) is Zero else pvary_p.bind(t, *indices, **params)


def _vmap(size: int, operands: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    return pvary_p.bind(*operands, **params), dims[0]


def _abstract_eval(x: Any, *indices: Any, axis_name: Any, to: str = "varying") -> Any:
    return x.update(mat=ManualAxisType(**{to: axis_name}))


def _lowering(ctx: LoweringContext, x: Any, *indices: Any, **params: Any) -> Any:
    return x


def _transpose(ct: Any, x: Any, *indices: Any, **params: Any) -> list[Any]:
    return [ct, *[None] * len(indices)]


def _differing(x: Names, *indices: Names, axis_name: Any, to: str = "varying") -> Names:
    """The axes along which the results differ, as terms of a sum do, and copies do not."""
    return x.union(axis_name, *indices) if to == "varying" else x


def _manual(
    differing: Any, mat: ManualAxisType, *indices: Any, axis_name: Any, to: str = "varying"
) -> list[ManualAxisType]:
    cast = {to: frozenset(axis_name)}
    unreduced = mat.unreduced.union(cast.get("unreduced", ()))
    reduced = mat.reduced.difference(axis_name).union(cast.get("reduced", ()))
    return with_sums(differing, unreduced, reduced)


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    shown = {k: v for k, v in eqn.params.items() if (k, v) != ("to", "varying")}
    return format_application(eqn, shown, printer)


pvary_p: Primitive = primitive(
    "pvary",
    rules.impl.absent("it changes a type inside of shard_map, and no value"),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose),
    rules.lowering["stablehlo"](_lowering, alone=False),
    rules.pretty_print(_pretty_print),
    rules.sharding(lambda x, *indices, **params: x.sharding.spec, manual=_manual),
    varying(_differing),
)
"""An array as it is, of a type that says something else of the devices along some axes. Operands:
the array, perhaps the index along each axis. Parameters: ``axis_name``, the names of the axes, and
``to``, which is ``"varying"``, ``"unreduced"`` or ``"reduced"``."""


def _brought_to(x: Any, wanted: ManualAxisType) -> Any:
    """A value, summed or cast along each axis of which its type is to say something else."""
    own, order = typeof(x).mat, list(device_axes())

    def along(names: Names) -> tuple[Any, ...]:
        return tuple(name for name in order if name in names)

    same = frozenset(order).difference(*own.sets)
    is_same = frozenset(order).difference(*wanted.sets)
    added = (own.varying | own.unreduced) & (is_same | wanted.reduced)
    added |= own.unreduced & wanted.varying
    if added:
        x = psum(x, along(added))
    same |= added
    x = _term(x, same & wanted.unreduced)
    x = _cast(x, along((same | own.reduced) & (wanted.varying | wanted.unreduced)), "varying")
    x = _cast(x, along(wanted.unreduced - own.unreduced), "unreduced")
    return _cast(x, along(same & wanted.reduced), "reduced")


def _term(x: Any, names: Names) -> Any:
    """A value that all devices have, as the only term of a sum that is not zero."""
    for name in names:
        index = find_named_axis(name, "pcast").index
        x = lax.select(lax.eq(index, lax.zeros_like(index)), x, lax.zeros_like(x))
    return x


register_cast(_brought_to)
