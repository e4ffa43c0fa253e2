"""Exchanges across named axes: an axis of the batch becomes one of the arrays, and the reverse.

The primitives act on whole axes in place; the functions reshape and move axes around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import (
    LoweringContext,
    Primitive,
    Region,
    ShapedArray,
    operations_for,
    rules,
    tree_map,
    typeof,
)
from bindax_parallel._collective import (
    Composed,
    Evaluation,
    along_axis,
    between_devices,
    bind_along,
    bind_jointly,
    checked_groups,
    collective,
    find_axes,
    group_size,
    joint_index,
    linear_jvp,
    names_of,
    one_axis,
    same_spec,
    sharded,
    sizes_of,
    transposed,
)
from bindax_parallel._sums import added_up, gathered
from bindax_transforms import NamedAxis

__all__ = [
    "all_gather",
    "all_gather_p",
    "all_to_all",
    "all_to_all_p",
    "psum_scatter",
    "psum_scatter_p",
    "pswapaxes",
]

Shape = tuple[int, ...]


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """The values of all elements along named axes, as an axis of an array.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        axis_index_groups: lists of indices that partition the axis: each element gets the values of
            its list, in that order.
        axis: where the new axis stands in the result.
        tiled: whether the values are concatenated along ``axis`` in place of being stacked.
        to: ``"varying"``, ``"invarying"`` or ``"reduced"``: what types say of the result, which all
            elements have. The cotangent of one that is reduced is unreduced.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups are not a partition of the axis into equal parts, ``axis``
            does not exist, or ``to`` is something else.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: all_gather(x, "i"), axis_name="i")(np.arange(2))
    Array([[0, 1],
           [0, 1]], dtype=int64)
    """
    if to not in ("varying", "invarying", "reduced"):
        kinds = "'varying', 'invarying' or 'reduced'"
        raise ValueError(f"all_gather: to must be {kinds}, but is {to!r:.60}.")
    axes = find_axes("all_gather", axis_name)
    groups = checked_groups("all_gather", axes, axis_index_groups)
    order = axes[::-1] if groups is None else axes  # what is gathered last stands in front

    def gathered(leaf: Any) -> Any:
        shape = typeof(leaf).shape
        place = _axis("all_gather", "axis", axis, len(shape) + (not tiled))
        places = [place] * len(axes)
        leaf = _applied(all_gather_p, _gather, leaf, order, groups, places, to=to)
        count = prod(sizes_of(axes, groups))
        merged = (count * shape[place],) if tiled else (count, *shape[place : place + 1])
        return lax.reshape(leaf, (*shape[:place], *merged, *shape[place + 1 :]))

    return tree_map(gathered, x)


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """The sum over the elements along named axes, of which each gets its own part.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        scatter_dimension: the axis of ``x`` that is divided; its size is the number of elements,
            or with ``tiled`` a multiple of it.
        axis_index_groups: lists of indices that partition the axis: each is an axis by itself.
        tiled: whether the divided axis stays, with the size of a part.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups or the size of the axis do not fit.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.array([[1, 2], [10, 20]]))
    Array([11, 22], dtype=int64)
    """
    axes = find_axes("psum_scatter", axis_name)
    groups = checked_groups("psum_scatter", axes, axis_index_groups)

    def scattered(leaf: Any) -> Any:
        place = _axis("psum_scatter", "scatter_dimension", scatter_dimension, _ndim(leaf))
        leaf = _divided("psum_scatter", leaf, place, sizes_of(axes, groups), tiled)
        return _applied(psum_scatter_p, _scatter, leaf, axes, groups, [place] * len(axes))

    return tree_map(scattered, x)


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Exchange an axis of the arrays with named axes: part ``j`` of element ``i`` goes to ``j``.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        split_axis: the axis of ``x`` that is divided; its size is the number of elements, or with
            ``tiled`` a multiple of it.
        concat_axis: where the parts that an element gets stand in the result.
        axis_index_groups: lists of indices that partition the axis: each is an axis by itself.
        tiled: whether the divided axis stays, with the size of a part, and the parts are
            concatenated in place of being stacked.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups or the size of the axis do not fit.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: all_to_all(x, "i", 0, 0), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int64)
    """
    return _all_to_all(
        "all_to_all", x, axis_name, split_axis, concat_axis, axis_index_groups, tiled
    )


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Swap an axis of the arrays with a named axis of the same size.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        axis: the axis of ``x``.
        axis_index_groups: as for ``all_to_all``.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups or the size of the axis do not fit.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: pswapaxes(x, "i", 0), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int64)
    """
    return _all_to_all("pswapaxes", x, axis_name, axis, axis, axis_index_groups, False)


def _all_to_all(
    operation: str, x: Any, axis_name: Any, split: int, concat: int, groups: Any, tiled: bool
) -> Any:
    axes = find_axes(operation, axis_name)
    checked = checked_groups(operation, axes, groups)
    sizes = sizes_of(axes, checked)

    def exchanged(leaf: Any) -> Any:
        named_as = ("axis", "axis") if operation == "pswapaxes" else ("split_axis", "concat_axis")
        source = _axis(operation, named_as[0], split, _ndim(leaf))
        target = _axis(operation, named_as[1], concat, _ndim(leaf))
        leaf = _divided(operation, leaf, source, sizes, tiled)
        places = [source + i for i in range(len(axes))]
        leaf = _applied(all_to_all_p, _swap, leaf, axes, checked, places)
        shape = typeof(leaf).shape
        rest = shape[source + len(sizes) :]
        leaf = lax.reshape(leaf, (*shape[:source], prod(sizes), *rest))
        leaf = operations_for(typeof(leaf)).move_axis(leaf, source, target)
        if not tiled:
            return leaf
        shape = typeof(leaf).shape
        merged = shape[target] * shape[target + 1]
        return lax.reshape(leaf, (*shape[:target], merged, *shape[target + 2 :]))

    return tree_map(exchanged, x)


def _ndim(x: Any) -> int:
    return len(typeof(x).shape)


def _axis(operation: str, argument: str, axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(f"{operation}: {argument}={axis} does not exist among {ndim} axes.")
    return axis % ndim


def _applied(
    made: Primitive,
    evaluate: Evaluation,
    x: Any,
    axes: Sequence[NamedAxis],
    groups: Any,
    places: Sequence[int],
    **params: Any,
) -> Any:
    """An exchange along one named axis after the other, or within groups across all of them."""
    if groups is not None and len(axes) > 1:
        given = {"axis": places[0], "axis_index_groups": groups, **params}
        return bind_jointly(made, within_groups(evaluate), x, axes, **given)
    for named, place in zip(axes, places, strict=True):
        x = bind_along(made, x, named, axis=place, axis_index_groups=groups, **params)
    return x


def _divided(operation: str, x: Any, axis: int, sizes: list[int], tiled: bool) -> Any:
    """An array whose axis is divided into one axis for each name; with ``tiled``, and the rest."""
    shape, count = typeof(x).shape, prod(sizes)
    if tiled:
        if count == 0 or shape[axis] % count:
            raise ValueError(
                f"{operation}: axis {axis} of {typeof(x).str_short()} cannot be divided among "
                f"{count} elements; its size must be a multiple of that."
            )
        return lax.reshape(x, (*shape[:axis], *sizes, shape[axis] // count, *shape[axis + 1 :]))
    if shape[axis] != count:
        raise ValueError(
            f"{operation}: axis {axis} of {typeof(x).str_short()} must have one entry for each of "
            f"the {count} elements along the named axes; with tiled=True, a multiple of them."
        )
    return lax.reshape(x, (*shape[:axis], *sizes, *shape[axis + 1 :]))


def of_all(x: Any, axes: Sequence[NamedAxis]) -> Any:
    """The values of all elements along several axes, as a first axis of the array."""
    for axis in reversed(axes):
        x = bind_along(all_gather_p, x, axis, axis=0, to="varying")
    shape = typeof(x).shape
    return lax.reshape(x, (prod(axis.size for axis in axes), *shape[len(axes) :]))


def within_groups(evaluate: Evaluation) -> Composed:
    """An operation across several axes within groups of elements, from that on a batch."""

    def composed(x: Any, axes: Sequence[NamedAxis], **params: Any) -> Any:
        results, _ = along_axis(evaluate, of_all(x, axes), params)
        return lax.dynamic_index_in_dim(results, joint_index(axes), 0, False)

    return composed


# ---------------------------------------------------------------------------------- primitives


def _gathered_shape(
    shape: Shape, *, axis: int, size: int, axis_index_groups: Any, **params: Any
) -> Shape:
    return (*shape[:axis], group_size(size, axis_index_groups), *shape[axis:])


def _gather(x: Any, *, axis: int, **params: Any) -> tuple[Any, None]:
    return operations_for(typeof(x)).move_axis(x, 0, axis), None


def _scatter(x: Any, *, axis: int, **params: Any) -> tuple[Any, int]:
    return lax.reduce_sum(x, (0,)), axis


def _swap(x: Any, *, axis: int, **params: Any) -> tuple[Any, int]:
    order = list(range(_ndim(x)))
    order[0], order[axis + 1] = axis + 1, 0
    return lax.transpose(x, order), 0


def _all_gather(ctx: LoweringContext, x: Any, groups: Any, *, axis: int, **params: Any) -> Any:
    aval, out = ctx.avals_in[0], ctx.avals_out[0]
    one = aval.with_axis(axis, 1)
    flat = out.update(shape=one_axis(out.shape, axis, len(out.shape) - len(aval.shape)))
    attributes = between_devices(
        groups, all_gather_dim=f"{axis} : i64", use_global_device_ids="unit"
    )
    x = _reshaped(ctx, x, aval, one)
    return _reshaped(ctx, ctx.op("stablehlo.all_gather", [x], [flat], attributes)[0], flat, out)


def _reduce_scatter(ctx: LoweringContext, x: Any, groups: Any, *, axis: int, **params: Any) -> Any:
    aval, out = ctx.avals_in[0], ctx.avals_out[0]
    one = out.with_axis(axis, 1)
    flat = aval.update(shape=one_axis(aval.shape, axis, len(aval.shape) - len(out.shape)))
    scalar = ShapedArray((), out.dtype)

    def body(inner: LoweringContext, a: Any, b: Any) -> Sequence[Any]:
        return inner.op("stablehlo.add", [a, b], result_avals=[scalar])

    attributes = between_devices(
        groups, scatter_dimension=f"{axis} : i64", use_global_device_ids="unit"
    )
    regions = [Region((scalar, scalar), body)]
    x = _reshaped(ctx, x, aval, flat)
    (x,) = ctx.op("stablehlo.reduce_scatter", [x], [one], attributes, regions)
    return _reshaped(ctx, x, one, out)


def _reshaped(ctx: LoweringContext, x: Any, of: ShapedArray, to: ShapedArray) -> Any:
    return x if of is to else ctx.op("stablehlo.reshape", [x], [to])[0]


def _exchange(
    ctx: LoweringContext,
    x: Any,
    groups: Any,
    *,
    axis: int,
    axis_name: Any,
    axis_index_groups: Any,
    **params: Any,
) -> Any:
    aval = ctx.avals_in[0]
    count = len(names_of(axis_name)) if axis_index_groups is None else 1
    flat = aval.update(shape=one_axis(aval.shape, axis, count))
    attributes = between_devices(
        groups,
        split_dimension=f"{axis} : i64",
        concat_dimension=f"{axis} : i64",
        split_count=f"{groups.shape[1]} : i64",
    )
    x = _reshaped(ctx, x, aval, flat)
    (x,) = ctx.op("stablehlo.all_to_all", [x], [flat], attributes)
    return _reshaped(ctx, x, flat, aval)


def _transposed_gather(ct: Any, x: Any, *indices: Any, to: str, **params: Any) -> list[Any]:
    """The sum of what all devices say of a part, or what they say together."""
    if to == "invarying" and x.aval.mat.varying.issuperset(names_of(params["axis_name"])):
        (index,) = indices
        return [lax.dynamic_index_in_dim(ct, index, params["axis"], False), None]
    return [psum_scatter_p.bind(ct, *indices, **params), *[None] * len(indices)]


def _transposed_scatter(ct: Any, x: Any, *indices: Any, **params: Any) -> list[Any]:
    """The cotangents of all parts: copies of them, where the operand was terms of a sum."""
    is_sum = x.aval.mat.unreduced.issuperset(names_of(params["axis_name"]))
    to = "reduced" if is_sum else "varying"
    return [all_gather_p.bind(ct, *indices, to=to, **params), *[None] * len(indices)]


all_gather_p: Primitive = collective(
    "all_gather",
    _gather,
    _gathered_shape,
    linear_jvp,
    rules.transpose(_transposed_gather),
    _all_gather,
    composed=within_groups(_gather),
    in_common=True,
    sharding=sharded(lambda spec, *, axis, **params: spec.inserted(axis), gathered),
)
"""The values of all elements, stacked along the new axis ``axis``."""

psum_scatter_p: Primitive = collective(
    "psum_scatter",
    _scatter,
    lambda shape, *, axis, **params: (*shape[:axis], *shape[axis + 1 :]),
    linear_jvp,
    rules.transpose(_transposed_scatter),
    _reduce_scatter,
    composed=within_groups(_scatter),
    sharding=sharded(lambda spec, *, axis, **params: spec.removed(axis), added_up),
)
"""The sum over all elements, of which each gets its entry along ``axis``."""

all_to_all_p: Primitive = collective(
    "all_to_all",
    _swap,
    lambda shape, **params: shape,
    linear_jvp,
    transposed(lambda ct, *indices, **params: all_to_all_p.bind(ct, *indices, **params)),
    _exchange,
    composed=within_groups(_swap),
    sharding=sharded(same_spec, True),
)
"""Entry ``j`` of element ``i`` along ``axis`` becomes entry ``i`` of element ``j``."""
