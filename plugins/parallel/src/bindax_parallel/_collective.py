"""Shared parts of the collectives: definitions, groups, and the batching rule.

A collective takes two operands: what each element contributes, and the element's index along the
axis. The index is mapped by the ``vmap`` that names the axis, and by no other; that is how the
batching rule knows its own axis from others. Parameters: ``axis_name``, ``size``, ``mesh`` (names
and sizes of all axes of the devices of a ``shard_map``; None under ``vmap``), ``axis_index_groups``
(a tuple of tuples, or None) and what the operation needs. One that acts across several axes at
once takes an index for each; its ``axis_name`` is a tuple, and its ``size`` that of all together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    JaxprEqn,
    LoweringContext,
    Primitive,
    Printer,
    Rule,
    format_application,
    operations_for,
    primitive,
    rules,
    typeof,
)
from bindax_parallel.restrictions import check_allowed
from bindax_parallel.varying import varying
from bindax_transforms import NamedAxis, find_named_axis, vmap
from bindax_transforms.zeros import Zero

Dim = int | None
Evaluation = Callable[..., tuple[Any, Dim]]
"""The operation on a batch with the named axis in front; gives the result and where its batch axis
is, None when all elements have the same result."""

Composed = Callable[..., Any]
"""The operation across several axes on one value: ``(value, axes, **params) -> value``."""

_NO_EVALUATION = (
    "it is evaluated by the vmap that names the axis, on all elements together; one element alone, "
    "as in a loop over the elements, has no value"
)


def sharded(spec_of: Callable[..., Any], manual: Any = None) -> Rule:
    """The sharding rule from how a result lies, of how the operand does and the parameters."""
    return rules.sharding(lambda x, *_, **ps: spec_of(x.sharding.spec, **ps), manual=manual)


def same_spec(spec: Any, **params: Any) -> Any:
    """The division of results of the shape of the operand."""
    return spec


_UNCHANGED = sharded(same_spec)


def collective(
    name: str,
    evaluate: Evaluation,
    shape_of: Callable[..., tuple[int, ...]],
    jvp: Callable[..., Any],
    transpose: Rule,
    lowered: Callable[..., Any],
    unmapped: Evaluation | None = None,
    composed: Composed | None = None,
    in_common: bool = False,
    sharding: Rule = _UNCHANGED,
) -> Primitive:
    """A primitive across a named axis.

    Args:
        name: its name.
        evaluate: the operation on a batch.
        shape_of: the shape of a result, from that of the operand and the parameters.
        jvp: its derivative.
        transpose: its transpose rule, or the reason for which there is none.
        lowered: ``(ctx, value, groups, **params) -> value``, its lowering between devices, where
            ``groups`` are the numbers of those that take part together.
        unmapped: the operation on one value that all elements contribute; else it is repeated.
        composed: ``(value, axes, **params) -> value``, the operation across several axes.
        in_common: whether all elements get the same result.
        sharding: its sharding rule, along other axes of the mesh and for sums not added up yet.
    """

    def batched(
        axis_size: int, operands: Sequence[Any], dims: Sequence[Dim], **params: Any
    ) -> tuple[Any, Dim]:
        (x, *indices), (dim, *index_dims) = operands, dims
        own = any(index_dim is not None for index_dim in index_dims)
        if dim is not None and not own:  # another axis: it goes to the front, out of the way
            params = {k: v + 1 if k == "axis" else v for k, v in params.items()}
            x = operations_for(typeof(x)).move_axis(x, dim, 0)
            return made.bind(x, *indices, **params), 0
        if composed is not None and len(indices) > 1:
            function = partial(_across_several, composed, **params)
            return vmap(function, in_axes=tuple(dims), axis_size=axis_size)(*operands), 0
        if dim is None and unmapped is not None:
            return unmapped(x, **params)
        return along_axis(evaluate, in_front(x, dim, axis_size), params)

    made = primitive(
        name,
        rules.impl.absent(_NO_EVALUATION),
        rules.abstract_eval(lambda x, *_, **params: x.update(shape=shape_of(x.shape, **params))),
        rules.jvp(jvp, symbolic_zeros=True, takes_primitive=True),
        rules.vmap(batched),
        transpose,
        rules.lowering["stablehlo"](_between_groups(name, lowered), alone=False),
        rules.pretty_print(_pretty_print),
        sharding,
        *([varying(_without_own_axes)] if in_common else []),
    )
    return made


def _between_groups(name: str, lowered: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering, from that of an operation within groups of devices."""

    def lowering(ctx: LoweringContext, x: Any, *indices: Any, **params: Any) -> Any:
        groups = device_groups(name, **params)
        if groups.shape[1] == 1 and params.get("perm", True):  # each device has all that it gets
            return x if ctx.avals_out[0] is ctx.avals_in[0] else ctx.op("stablehlo.reshape", [x])[0]
        return lowered(ctx, x, groups, **params)

    return lowering


def _across_several(
    composed: Composed, x: Any, *indices: Any, axis_name: Any, size: int, mesh: Any, **params: Any
) -> Any:
    """The operation across axes of a mesh of which one or more are axes of a batch."""
    sizes = dict(mesh)
    pairs = zip(axis_name, indices, strict=True)
    return composed(x, [NamedAxis(name, sizes[name], i, mesh) for name, i in pairs], **params)


def _without_own_axes(
    x: frozenset[Any],
    *indices: frozenset[Any],
    axis_name: Any,
    mesh: Any,
    axis_index_groups: Any,
    to: str = "invarying",
    **params: Any,
) -> frozenset[Any]:
    """The axes along which a result differs that all elements along an axis have in common."""
    along = x.union(*indices)
    is_whole = mesh is not None and axis_index_groups is None and to != "varying"
    return along.difference(names_of(axis_name)) if is_whole else along


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    usual = {"mesh": None, "axis_index_groups": None, "to": "varying"}
    shown = {
        k: v for k, v in eqn.params.items() if k != "mesh" and (k not in usual or v != usual[k])
    }
    return format_application(eqn, shown, printer)


def linear_jvp(
    made: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    """The derivative of an operation that is linear in what the elements contribute."""
    (x, *indices), t = primals, tangents[0]
    out = made.bind(x, *indices, **params)
    return out, Zero.like(out) if type(t) is Zero else made.bind(t, *indices, **params)


def transposed(bind: Callable[..., Any]) -> Rule:
    """The transpose rule from a function of the cotangent, the indices and the parameters."""

    def rule(ct: Any, x: Any, *indices: Any, **params: Any) -> list[Any]:
        return [bind(ct, *indices, **params), *[None] * len(indices)]

    return rules.transpose(rule)


def in_front(x: Any, dim: Dim, size: int) -> Any:
    """A batch with its axis in front; a value without one is repeated."""
    operations = operations_for(typeof(x))
    if dim is None:
        return operations.broadcast_axis(x, size, 0)
    return operations.move_axis(x, dim, 0) if dim else x


def along_axis(evaluate: Evaluation, x: Any, params: dict[str, Any]) -> tuple[Any, Dim]:
    """The operation within each group of the axis: groups are gathered, and one more axis."""
    groups = params["axis_index_groups"]
    if groups is None:
        return evaluate(x, **params)
    table = np.array(groups, np.int32)
    order = table.ravel()

    def within(block: Any) -> Any:
        return in_front(*evaluate(block, **params), table.shape[1])

    shape = typeof(x).shape
    grouped = lax.reshape(rows(x, order), (*table.shape, *shape[1:]))
    outs = vmap(within)(grouped)
    flat = lax.reshape(outs, (len(order), *typeof(outs).shape[2:]))
    return rows(flat, np.argsort(order).astype(np.int32)), 0


def rows(x: Any, indices: np.ndarray[Any, Any]) -> Any:
    """The elements of a batch in another order."""
    return lax.index_take(x, [indices], [0])


def names_of(axis_name: Any) -> tuple[Any, ...]:
    """The names of an equation: one, or those of an exchange across several axes."""
    return axis_name if type(axis_name) is tuple else (axis_name,)


def one_axis(shape: Sequence[int], axis: int, count: int) -> tuple[int, ...]:
    """A shape with ``count`` axes from ``axis`` on taken as one."""
    return (*shape[:axis], prod(shape[axis : axis + count]), *shape[axis + count :])


def device_groups(
    operation: str, *, axis_name: Any, mesh: Any, axis_index_groups: Any, **params: Any
) -> np.ndarray[Any, Any]:
    """The numbers of the devices that take part in one operation together, a row for each."""
    if mesh is None:
        raise TypeError(
            f"{operation} along {axis_name!r} belongs to a vmap, which replaces it by operations "
            f"on arrays; a program that was taken out of the vmap cannot be compiled."
        )
    names, sizes = zip(*mesh, strict=True)
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    chosen = [names.index(name) for name in names_of(axis_name)]
    moved = np.moveaxis(numbers, chosen, range(-len(chosen), 0))
    along = moved.reshape(-1, prod(sizes[i] for i in chosen))
    if axis_index_groups is None:
        return along
    table = np.array(axis_index_groups)
    return np.asarray(along[:, table].reshape(-1, table.shape[1]))


def between_devices(groups: np.ndarray[Any, Any], **others: str) -> dict[str, str]:
    """The attributes of an operation between devices."""
    shape = "x".join(map(str, groups.shape))
    return {
        "replica_groups": f"dense<{groups.tolist()}> : tensor<{shape}xi64>",
        "channel_handle": _CHANNEL,
        **others,
    }


_CHANNEL = "#stablehlo.channel_handle<handle = 1, type = 1>"


def group_size(size: int, groups: tuple[tuple[int, ...], ...] | None) -> int:
    """The number of elements that take part in one operation."""
    return size if groups is None else len(groups[0])


def find_axes(operation: str, axis_name: Any) -> list[NamedAxis]:
    """The axes of a name or of a sequence of names, in that order; each must be bound."""
    names = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    if len(set(names)) != len(names):
        raise ValueError(f"{operation}: axis_name={axis_name!r} names an axis twice.")
    return [find_named_axis(name, operation) for name in names]


def joint_index(axes: Sequence[NamedAxis]) -> Any:
    """The index of an element along several axes together, those of the last fastest."""
    index = axes[0].index
    for axis in axes[1:]:
        index = index * axis.size + axis.index
    return index


def checked_groups(
    operation: str, axes: Sequence[NamedAxis], groups: Any
) -> tuple[tuple[int, ...], ...] | None:
    """The groups as a parameter: a partition into equal parts of the indices along all axes."""
    if groups is None:
        return None
    size, names = prod(axis.size for axis in axes), [axis.name for axis in axes]
    along = f"axis {names[0]!r}" if len(names) == 1 else f"axes {names}"
    made = tuple(tuple(int(i) for i in group) for group in groups)
    if sorted(i for group in made for i in group) != list(range(size)):
        raise ValueError(
            f"{operation}: axis_index_groups must hold each index of the {along} of size {size} "
            f"once, but they are {groups!r}."
        )
    if len({len(group) for group in made}) != 1:
        raise ValueError(
            f"{operation}: axis_index_groups must be of one size, but they are {groups!r}."
        )
    return made


def sizes_of(axes: Sequence[NamedAxis], groups: Any) -> list[int]:
    """The number of elements that take part in each operation: one along each axis, or one."""
    return [axis.size for axis in axes] if groups is None else [len(groups[0])]


def bind_jointly(
    made: Primitive, composed: Composed, x: Any, axes: Sequence[NamedAxis], **params: Any
) -> Any:
    """Apply a collective across several axes at once, which it does by itself between devices."""
    mesh = axes[0].mesh
    if mesh is not None:
        check_allowed(made.name, [axis.name for axis in axes])
    if mesh is None or any(axis.mesh != mesh for axis in axes):
        return composed(x, axes, **params)
    places = {
        "axis_name": tuple(axis.name for axis in axes),
        "size": prod(axis.size for axis in axes),
        "mesh": mesh,
    }
    params.setdefault("axis_index_groups", None)
    return made.bind(x, *[axis.index for axis in axes], **places, **params)


def bind_along(made: Primitive, x: Any, named: NamedAxis, **params: Any) -> Any:
    """Apply a collective along one axis."""
    params.setdefault("axis_index_groups", None)
    if named.mesh is not None:
        check_allowed(made.name, [named.name])
    places = {"axis_name": named.name, "size": named.size, "mesh": named.mesh}
    return made.bind(x, named.index, **places, **params)
