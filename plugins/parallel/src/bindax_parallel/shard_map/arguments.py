"""The arguments of a ``shard_map``: how they are divided, or reach the function as they are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bindax_core.errors import AbstractionError
from bindax_core.extend import Array, flatten_prefix, tree_flatten, typeof
from bindax_core.sharding import AxisType, NamedSharding, PartitionSpec
from bindax_parallel.shard_map.specs import (
    Params,
    Spec,
    as_spec,
    manual_axes,
    part_aval,
    shard_shape,
)
from bindax_transforms import parameter_names


class _Inferred:
    """The default of ``in_specs``: arrays are divided as they lie."""

    def __repr__(self) -> str:
        return "Infer"


INFERRED = _Inferred()


class Divided(NamedTuple):
    """The arguments of a call.

    Attributes:
        tree: the structure of ``(args, kwargs)``.
        held: the leaves, with those that are divided replaced by ``PART``.
        operands: the leaves that are divided.
        specs: how they are.
        avals: the types of one device's parts.
    """

    tree: Any
    held: list[Any]
    operands: list[Any]
    specs: list[Spec]
    avals: list[Any]

    def leaves(self, parts: Sequence[Any]) -> list[Any]:
        """The leaves with the parts of one device in their places."""
        rest: Iterator[Any] = iter(parts)
        return [next(rest) if x is PART else x for x in self.held]


PART = object()
"""The stand-in for an operand among the leaves."""


def divided(
    f: Callable[..., Any],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    in_specs: Any,
    params: Params,
    axis: Hashable | None,
) -> Divided:
    """The arguments of a call, divided by specs, or along the one axis of ``smap`` by numbers."""
    args, kwargs = arguments
    leaves, tree = tree_flatten(arguments)
    given = _flat_specs(in_specs, args, len(leaves), axis)
    named = (len(leaves) - len(tree_flatten(kwargs)[0])) if kwargs else len(leaves)
    found = Divided(tree, [], [], [], [])
    axes, names = manual_axes(params), parameter_names(f, args, kwargs)
    for i, (x, one, name) in enumerate(zip(leaves, given, names, strict=True)):
        if one is None and (axis is None or not _is_array(x)) and (i < named or not _is_array(x)):
            found.held.append(x)
            continue
        aval = typeof(x)
        spec = _spec(one, x, aval, params, name, axis)
        found.held.append(PART)
        found.operands.append(x)
        found.specs.append(spec)
        shape = shard_shape(spec, aval.shape, axes, f"{_operation(axis)}: {name}")
        found.avals.append(part_aval(spec, aval, shape, params))
    return found


def _operation(axis: Hashable | None) -> str:
    return "shard_map" if axis is None else "smap"


def _is_array(x: Any) -> bool:
    try:
        typeof(x)
    except AbstractionError:
        return False
    return True


def _flat_specs(
    in_specs: Any, args: tuple[Any, ...], count: int, axis: Hashable | None
) -> list[Any]:
    """The entry for each leaf; keyword arguments have none."""
    what = "in_specs" if axis is None else "in_axes"
    given = tuple(in_specs) if isinstance(in_specs, list) else in_specs
    given = given if type(given) is tuple else (given,) * len(args)
    if len(given) != len(args):
        raise ValueError(
            f"{_operation(axis)}: {what} has {len(given)} entries for {len(args)} positional "
            f"arguments."
        )
    flat = flatten_prefix(given, args, what)
    return flat + [None] * (count - len(flat))


def _spec(given: Any, x: Any, aval: Any, params: Params, name: str, axis: Hashable | None) -> Spec:
    """The division of an operand."""
    axes = manual_axes(params)
    if given is INFERRED:
        return _inferred(x, aval, params, name, axis)
    if axis is not None:
        return spec_of_axis(given, aval.ndim, axis, f"smap: in_axes for {name}")
    spec = as_spec(given, aval.ndim, params, "in_specs", name)
    lies = _lies(x, aval, params)
    if lies is None or set(_types(params).values()) != {AxisType.Explicit}:
        return spec
    if lies == spec.padded(aval.ndim):
        return spec
    if len(axes) < len(params["mesh"].axis_names):
        return spec
    raise ValueError(
        f"shard_map: in_specs for {name}={given!r}, but the array lies as "
        f"{lies!r} along explicit axes of the mesh; leave in_specs out, or lay it "
        f"out by reshard({name}, {given!r}) before."
    )


def _inferred(x: Any, aval: Any, params: Params, name: str, axis: Hashable | None) -> Spec:
    """The spec of an array as it lies on the mesh."""
    what = "in_specs" if axis is None else "in_axes"
    wrong = [n for n, kind in _types(params).items() if kind is not AxisType.Explicit]
    if wrong:
        raise TypeError(
            f"{_operation(axis)}: {what} was not specified, and is known of the arguments where "
            f"all axes are explicit alone, but the axis {wrong[0]!r} of the mesh is not. Pass "
            f"{what}=...."
        )
    lies = _lies(x, aval, params)
    return PartitionSpec() if lies is None else lies


def _types(params: Params) -> dict[Any, AxisType]:
    """The types of the axes that are divided."""
    mesh, axes = params["mesh"], manual_axes(params)
    return {n: t for n, t in zip(mesh.axis_names, mesh.axis_types, strict=True) if n in axes}


def _lies(x: Any, aval: Any, params: Params) -> Spec | None:
    """The division of an array along the axes that are divided, if it is known."""
    sharding = x.sharding if isinstance(x, Array) else getattr(aval, "sharding", None)
    if not isinstance(sharding, NamedSharding):
        return None
    if sharding.mesh.shape_tuple != params["mesh"].shape_tuple:
        return None
    axes = manual_axes(params)
    spec = sharding.spec.padded(aval.ndim)
    return PartitionSpec(
        *[tuple(name for name in names if name in axes) for names in spec.axes],
        unreduced=spec.unreduced.intersection(axes),
        reduced=spec.reduced.intersection(axes),
    )


def spec_of_axis(given: Any, ndim: int, axis: Hashable, where: str) -> Spec:
    """The spec of an array that is divided along the axis of a number, or along none."""
    if given is None:
        return PartitionSpec()
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        raise TypeError(f"{where} must be an integer or None, but is {given!r:.60}.")
    if not -ndim <= given < ndim:
        raise ValueError(f"{where}={given} does not exist among {ndim} axes.")
    return PartitionSpec(*[axis if i == given % ndim else None for i in range(ndim)])
