"""Reductions across named axes: each element gets what all contribute together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    LoweringContext,
    Primitive,
    Region,
    ShapedArray,
    rules,
    tree_map,
    typeof,
)
from bindax_parallel._collective import (
    Evaluation,
    between_devices,
    bind_along,
    bind_jointly,
    checked_groups,
    collective,
    find_axes,
    group_size,
    linear_jvp,
    names_of,
    same_spec,
    sharded,
    sizes_of,
)
from bindax_parallel._sums import added_up
from bindax_parallel.exchanges import within_groups
from bindax_transforms.zeros import Zero

__all__ = ["pmax", "pmax_p", "pmean", "pmin", "pmin_p", "psum", "psum_p"]

_CONSTANTS = (bool, int, float, complex)


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The sum of what the elements along named axes contribute.

    Args:
        x: an array of any numeric dtype, or a tree of arrays; booleans are counted. For a Python
            number the sum is a Python number.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        axis_index_groups: lists of indices that partition the axis, or those of all axes together,
            counted as ``axis_index`` does: the sum is within each list.

    Returns:
        Arrays like ``x``, the same for all elements of a group.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups are not a partition of the axis into equal parts.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float64)
    """
    axes = find_axes("psum", axis_name)
    groups = checked_groups("psum", axes, axis_index_groups)

    def total(leaf: Any) -> Any:
        if type(leaf) in _CONSTANTS:
            return leaf * prod(sizes_of(axes, groups))
        if typeof(leaf).dtype == np.bool_:
            leaf = lax.convert_element_type(leaf, np.int32)
        return _reduced(psum_p, leaf, axes, groups)

    return tree_map(total, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The mean of what the elements along named axes contribute.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        axis_index_groups: as for ``psum``.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups are not a partition of the axis into equal parts.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([-1.,  1.], dtype=float64)
    """
    count = psum(1, axis_name, axis_index_groups=axis_index_groups)
    sums = psum(x, axis_name, axis_index_groups=axis_index_groups)
    return tree_map(lambda leaf: leaf / count, sums)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The greatest of what the elements along named axes contribute.

    Where several are the greatest, they share its derivative.

    Args:
        x: an array of an ordered dtype, or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        axis_index_groups: as for ``psum``.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups are not a partition of the axis into equal parts.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x - pmax(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([-2.,  0.], dtype=float64)
    """
    return _extremum("pmax", pmax_p, x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The least of what the elements along named axes contribute.

    Where several are the least, they share its derivative.

    Args:
        x: an array of an ordered dtype, or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        axis_index_groups: as for ``psum``.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when the groups are not a partition of the axis into equal parts.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x - pmin(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0., 2.], dtype=float64)
    """
    return _extremum("pmin", pmin_p, x, axis_name, axis_index_groups)


def _extremum(operation: str, made: Primitive, x: Any, axis_name: Any, groups: Any) -> Any:
    axes = find_axes(operation, axis_name)
    checked = checked_groups(operation, axes, groups)
    return tree_map(lambda leaf: _reduced(made, leaf, axes, checked), x)


def _reduced(made: Primitive, x: Any, axes: Sequence[Any], groups: Any) -> Any:
    if groups is not None and len(axes) > 1:
        composed = within_groups(_EVALUATIONS[made])
        return bind_jointly(made, composed, x, axes, axis_index_groups=groups)
    for axis in axes:
        x = bind_along(made, x, axis, axis_index_groups=groups)
    return x


def _same_shape(shape: tuple[int, ...], **params: Any) -> tuple[int, ...]:
    return shape


def _all_reduce(operation: str) -> Any:
    """The lowering of a reduction between devices."""

    def lowered(ctx: LoweringContext, x: Any, groups: Any, **params: Any) -> Any:
        scalar = ShapedArray((), ctx.avals_in[0].dtype)

        def body(inner: LoweringContext, a: Any, b: Any) -> Sequence[Any]:
            return inner.op(operation, [a, b], result_avals=[scalar])

        return ctx.op(
            "stablehlo.all_reduce",
            [x],
            attributes=between_devices(groups, use_global_device_ids="unit"),
            regions=[Region((scalar, scalar), body)],
        )[0]

    return lowered


def _multiple(x: Any, *, size: int, axis_index_groups: Any, **params: Any) -> tuple[Any, None]:
    """The sum of as many times the same."""
    count = group_size(size, axis_index_groups)
    return lax.mul(x, lax.full_like(x, count)), None


def _extremum_jvp(
    made: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    """The tangent of the element that is the greatest; the mean of theirs, if several are."""
    (x, *indices), t = primals, tangents[0]
    out = made.bind(x, *indices, **params)
    if type(t) is Zero:
        return out, Zero.like(out)
    taken = lax.convert_element_type(lax.eq(x, out), typeof(t).dtype)
    share = psum_p.bind(taken, *indices, **params)
    return out, lax.div(psum_p.bind(lax.mul(t, taken), *indices, **params), share)


def _reduction(reduce: Callable[..., Any]) -> Evaluation:
    return lambda x, **params: (reduce(x, (0,)), None)


_SUM, _GREATEST, _LEAST = map(_reduction, (lax.reduce_sum, lax.reduce_max, lax.reduce_min))


def _extreme(name: str, evaluate: Evaluation) -> Primitive:
    return collective(
        name,
        evaluate,
        _same_shape,
        _extremum_jvp,
        rules.transpose.absent("it is not linear"),
        _all_reduce(f"stablehlo.{name[1:]}imum"),
        unmapped=lambda x, **params: (x, None),
        composed=within_groups(evaluate),
        in_common=True,
    )


def _transpose(ct: Any, x: Any, *indices: Any, **params: Any) -> list[Any]:
    """The cotangent of each share.

    It is that of the sum, where types say that devices have shares; else that is added up, too.
    """
    mat = x.aval.mat
    along = (mat.varying | mat.unreduced).issuperset(names_of(params["axis_name"]))
    is_share = along and params["axis_index_groups"] is None
    return [ct if is_share else psum_p.bind(ct, *indices, **params), *[None] * len(indices)]


psum_p: Primitive = collective(
    "psum",
    _SUM,
    _same_shape,
    linear_jvp,
    rules.transpose(_transpose),
    _all_reduce("stablehlo.add"),
    unmapped=_multiple,
    composed=within_groups(_SUM),
    in_common=True,
    sharding=sharded(same_spec, added_up),
)
"""The sum across an axis. Operands: a numeric array, and the index along the axis."""

pmax_p: Primitive = _extreme("pmax", _GREATEST)
"""The maximum across an axis. Operands: an array, and the index along the axis."""

pmin_p: Primitive = _extreme("pmin", _LEAST)
"""The minimum across an axis. Operands: an array, and the index along the axis."""

_EVALUATIONS = {psum_p: _SUM, pmax_p: _GREATEST, pmin_p: _LEAST}
