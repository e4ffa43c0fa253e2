"""Writing to windows of an array at positions that are arrays: replace, multiply, extremes, apply.

``scatter_add``, the transpose of ``gather``, stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    describe_function,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic.dtypes import ANY, EXTENDED, NUMBER
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p, neg_p, sub_p
from bindax_lax_basic.elementwise.comparison import eq_p, not_p, or_p
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.selection import extremum, select_scalars
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    numbers_argument,
    update_sizes,
)
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import (
    gather,
    gather_back,
    scatter_add_p,
)
from bindax_lax_basic.gather_scatter.scatter_rules import bind_scatter, scatter_family
from bindax_lax_basic.reductions.prefix_scan import Values, prefix_scan
from bindax_lax_basic.rules.linear import jointly_linear, zero_tangent
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.rules.types import shape_argument
from bindax_lax_basic.shape.concatenate import concatenate_p
from bindax_lax_basic.shape.creation import filled, iota, iota_p
from bindax_lax_basic.shape.reshape import reshape_p
from bindax_lax_basic.shape.slice_and_pad import every
from bindax_lax_basic.sorting.sort import sort_p, take_along
from bindax_transforms.zeros import UndefPrimal, Zero, add_tangents, instantiate_zeros

__all__ = [
    "scatter",
    "scatter_apply",
    "scatter_max",
    "scatter_max_p",
    "scatter_min",
    "scatter_min_p",
    "scatter_mul",
    "scatter_mul_p",
    "scatter_p",
    "scatter_sub",
    "scatter_sub_p",
]


_INT32 = np.dtype(np.int32)
Operands = Sequence[Any]


def scatter(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Replace windows of an array at many positions.

    Args:
        operand: the array, of any dtype, which is not changed.
        scatter_indices: an array of integers; its last axis holds index vectors.
        updates: the windows, of the dtype of ``operand``.
        dimension_numbers: which axis is which, a ``ScatterDimensionNumbers``.
        indices_are_sorted: a promise that may help a compiler.
        unique_indices: likewise. Without it one of several updates of one place stays, on the CPU
            the last, and only that one has a derivative.
        mode: what to do with windows out of bounds; by default they are dropped.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter(np.zeros(3), np.array([[2], [0]]), np.array([1.0, 5.0]), numbers)
    Array([5., 0., 1.], dtype=float64)
    """
    arguments = dimension_numbers, indices_are_sorted, unique_indices, mode
    return bind_scatter(scatter_p, operand, scatter_indices, updates, *arguments)


def _written(indices: Any, shape: tuple[int, ...], updates: ShapedArray, params: Any) -> Any:
    """For each element of the updates whether it is the one that stays in its place."""
    numbers = iota_p.bind(dtype=_INT32, shape=(updates.size,), dimension=0)
    numbers = reshape_p.bind(numbers, new_sizes=updates.shape, dimensions=None)
    nowhere = sub_p.bind(filled(ShapedArray(shape, _INT32), 0), constant(1, numbers))
    kept = scatter_p.bind(nowhere, indices, numbers, **params)
    return eq_p.bind(gather_back(kept, indices, updates.shape, **params), numbers)


def _scatter_transpose(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> list[Any]:
    aval = updates.aval if type(updates) is UndefPrimal else typeof(updates)
    to_x = to_updates = None
    if type(x) is UndefPrimal:
        nothing = filled(aval.update(dtype=typeof(ct).dtype, weak_type=False), 0)
        to_x = scatter_p.bind(ct, indices, nothing, **params)
    if type(updates) is UndefPrimal:
        to_updates = gather_back(ct, indices, aval.shape, **params)
        if not params["unique_indices"]:
            stays = _written(indices, typeof(ct).shape, aval, params)
            to_updates = select_scalars(stays, constant(0, ct), to_updates)
    return [to_x, None, to_updates]


def _replace(ctx: LoweringContext, scalar: ShapedArray, a: Any, b: Any) -> Any:
    return b


scatter_p: Primitive = primitive(
    "scatter",
    *scatter_family("scatter", ANY | EXTENDED, None, _replace, linear=(0, 2)),
    jointly_linear(slice(0, 3, 2)),
    rules.transpose(_scatter_transpose),
)


def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Subtract windows from an array at many positions; arguments as for ``scatter_add``.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_sub(np.zeros(3), np.array([[2], [2]]), np.array([1.0, 5.0]), numbers)
    Array([ 0.,  0., -6.], dtype=float64)
    """
    arguments = dimension_numbers, indices_are_sorted, unique_indices, mode
    return bind_scatter(scatter_sub_p, operand, scatter_indices, updates, *arguments)


def _difference_jvp(primals: Operands, tangents: Operands, **params: Any) -> tuple[Any, Any]:
    x, indices, updates = primals
    tx, _, tu = tangents
    out = scatter_sub_p.bind(x, indices, updates, **params)
    if type(tu) is Zero:
        return out, zero_tangent(out) if type(tx) is Zero else tx
    return out, scatter_sub_p.bind(instantiate_zeros(tx), indices, tu, **params)


def _difference_transpose(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> list[Any]:
    to_updates = None
    if type(updates) is UndefPrimal:
        to_updates = neg_p.bind(gather_back(ct, indices, updates.aval.shape, **params))
    return [ct if type(x) is UndefPrimal else None, None, to_updates]


scatter_sub_p: Primitive = primitive(
    "scatter_sub",
    *scatter_family("scatter_sub", NUMBER, np.subtract, "stablehlo.subtract", widen=True),
    rules.jvp(_difference_jvp, symbolic_zeros=True),
    rules.transpose(_difference_transpose),
)


def scatter_mul(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Multiply windows of an array at many positions; arguments as for ``scatter_add``.

    The derivative with respect to the updates is right for repeated positions too.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_mul(np.ones(3), np.array([[2], [2]]), np.array([2.0, 5.0]), numbers)
    Array([ 1.,  1., 10.], dtype=float64)
    """
    arguments = dimension_numbers, indices_are_sorted, unique_indices, mode
    return bind_scatter(scatter_mul_p, operand, scatter_indices, updates, *arguments)


def _products_in_groups(values: Any, groups: Any) -> Any:
    """For each element of a vector the product of all others of its group, which has a number."""
    # Without division, so that zeros are right in derivatives of all orders: sorted by group, it is
    # the product of what comes before and what comes behind.
    size = typeof(values).shape[0]
    places = iota(_INT32, size)
    params = {"dimension": 0, "is_stable": True, "num_keys": 1}
    groups, order = sort_p.bind(groups, places, **params)
    rows = take_along(values, order, 0)
    false = np.zeros(1, bool)
    same = eq_p.bind(every(groups, 0, 0, size - 1), every(groups, 0, 1, size))
    before = _products_before(rows, concatenate_p.bind(false, same, dimension=0), reverse=False)
    behind = _products_before(rows, concatenate_p.bind(same, false, dimension=0), reverse=True)
    _, back = sort_p.bind(order, places, **params)
    return take_along(mul_p.bind(before, behind), back, 0)


def _products_before(values: Any, continues: Any, reverse: bool) -> Any:
    """The products of what comes before (or, in reverse, behind) each element in its group."""
    size = typeof(values).shape[0]

    def combine(a: Values, b: Values) -> Values:
        product = mul_p.bind(a[1], b[1])
        return [or_p.bind(a[0], b[0]), select_scalars(b[0], product, b[1])]

    _, products = prefix_scan(combine, [not_p.bind(continues), values], 0, reverse)
    edge = every(values, 0, 0, 1)  # has no element before it, and is replaced below
    if reverse:
        shifted = concatenate_p.bind(every(products, 0, 1, size), edge, dimension=0)
    else:
        shifted = concatenate_p.bind(edge, every(products, 0, 0, size - 1), dimension=0)
    return select_scalars(continues, constant(1, values), shifted)


def _product_of_others(x: Any, indices: Any, updates: Any, params: dict[str, Any]) -> Any:
    """For each update the product of the operand and all other updates of its place."""
    aval = typeof(updates)

    def here(value: Any) -> Any:
        return gather_back(value, indices, aval.shape, **params)

    if params["unique_indices"] or aval.size == 0:
        return here(x)
    shape, size = typeof(x).shape, typeof(x).size
    # Places count from 1, so that 0 is that of the updates that are dropped.
    numbers = add_p.bind(iota(_INT32, size), constant(1, np.int32(0)))
    places = here(reshape_p.bind(numbers, new_sizes=shape, dimensions=None))
    flat = [reshape_p.bind(v, new_sizes=(aval.size,), dimensions=None) for v in (updates, places)]
    others = reshape_p.bind(_products_in_groups(*flat), new_sizes=aval.shape, dimensions=None)
    return mul_p.bind(here(x), others)


def _mul_jvp(primals: Operands, tangents: Operands, **params: Any) -> tuple[Any, Any]:
    x, indices, updates = primals
    out = scatter_mul_p.bind(x, indices, updates, **params)
    tangent: Any = zero_tangent(out)
    if type(tangents[0]) is not Zero:
        tangent = scatter_mul_p.bind(tangents[0], indices, updates, **params)
    if type(tangents[2]) is not Zero:
        change = mul_p.bind(_product_of_others(x, indices, updates, params), tangents[2])
        zeros = filled(typeof(x).strip_weak_type(), 0)
        change = scatter_add_p.bind(zeros, indices, change, **params)
        tangent = add_tangents(tangent, change)
    return out, tangent


def _mul_transpose(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> list[Any]:
    if type(updates) is not UndefPrimal:
        return [scatter_mul_p.bind(ct, indices, updates, **params), None, None]
    if type(x) is UndefPrimal or not params["unique_indices"]:
        raise TypeError(
            "scatter_mul is linear in its operand, or for unique indices in its updates; to "
            "transpose it in the updates alone, set unique_indices=True."
        )
    shape = updates.aval.shape
    factors = [gather_back(value, indices, shape, **params) for value in (ct, x)]
    return [None, None, mul_p.bind(*factors)]


scatter_mul_p: Primitive = primitive(
    "scatter_mul",
    *scatter_family("scatter_mul", NUMBER, np.multiply, "stablehlo.multiply", widen=True),
    rules.jvp(_mul_jvp, symbolic_zeros=True),
    rules.transpose(_mul_transpose),
)


def scatter_min(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """The least of windows and what is in their places; arguments as for ``scatter``.

    Where several are the least, each has its equal share of the derivative.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_min(np.ones(3), np.array([[2], [2]]), np.array([2.0, -5.0]), numbers)
    Array([ 1.,  1., -5.], dtype=float64)
    """
    arguments = dimension_numbers, indices_are_sorted, unique_indices, mode
    return bind_scatter(scatter_min_p, operand, scatter_indices, updates, *arguments)


def scatter_max(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """The greatest of windows and what is in their places; arguments as for ``scatter``.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_max(np.ones(3), np.array([[2], [2]]), np.array([2.0, -5.0]), numbers)
    Array([1., 1., 2.], dtype=float64)
    """
    arguments = dimension_numbers, indices_are_sorted, unique_indices, mode
    return bind_scatter(scatter_max_p, operand, scatter_indices, updates, *arguments)


def _extremum_jvp(
    extremum_p: Primitive, primals: Operands, tangents: Operands, **params: Any
) -> tuple[Any, Any]:
    x, indices, updates = primals
    out = extremum_p.bind(x, indices, updates, **params)
    tx, _, tu = tangents
    if type(tx) is Zero and type(tu) is Zero:
        return out, zero_tangent(out)
    zero, one = constant(0, out), constant(1, out)

    def total(of_x: Any, of_updates: Any) -> Any:
        """The sum over those of a place that are its extremum."""
        kept = select_scalars(stays, zero, of_x)
        written = select_scalars(wins, zero, of_updates)
        return scatter_add_p.bind(kept, indices, written, **params)

    stays = eq_p.bind(x, out)
    there = gather_back(out, indices, typeof(updates).shape, **params)
    wins = eq_p.bind(updates, there)
    change = total(instantiate_zeros(tx), instantiate_zeros(tu))
    return out, div_p.bind(change, total(one, one))


def _extremum_scatter(name: str, ufunc: np.ufunc) -> Primitive:
    return primitive(
        f"scatter_{name}",
        *scatter_family(f"scatter_{name}", ANY, ufunc, extremum(name)),
        rules.jvp(_extremum_jvp, symbolic_zeros=True, takes_primitive=True),
        rules.transpose.absent("not linear"),
    )


scatter_min_p: Primitive = _extremum_scatter("min", np.minimum)
scatter_max_p: Primitive = _extremum_scatter("max", np.maximum)


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Any = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Apply a function to the elements of windows of an array.

    Args:
        operand: the array, which is not changed.
        scatter_indices: as for ``scatter_add``.
        func: takes an array of elements and returns one of the same type, elementwise.
        dimension_numbers: as for ``scatter_add``.
        update_shape: the shape that the updates of ``scatter_add`` would have.
        indices_are_sorted: as for ``scatter_add``.
        unique_indices: likewise.
        mode: likewise.

    Raises:
        TypeError: when ``func`` returns another type.
        ValueError: when the windows do not have ``update_shape``.

    An element that several windows contain is computed once. (JAX applies the function again for
    each of them.)

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> where = np.array([[2], [0]])
    >>> scatter_apply(np.ones(3), where, lambda x: 2.0 * x, numbers, update_shape=(2,))
    Array([2., 1., 2.], dtype=float64)
    """
    name = "scatter_apply"
    numbers = numbers_argument(name, ScatterDimensionNumbers, dimension_numbers)
    shape = shape_argument(name, update_shape)
    sizes = update_sizes(typeof(operand).ndim, shape, numbers)
    promises = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
    old = gather(operand, scatter_indices, numbers.as_gather(), sizes, mode="clip", **promises)
    if typeof(old).shape != shape:
        raise ValueError(
            f"{name}: scatter_indices of the shape {typeof(scatter_indices).shape} choose windows "
            f"of the shape {typeof(old).shape}, but update_shape is {shape}."
        )
    new = func(old)
    taken, returned = typeof(old).strip_weak_type(), typeof(new).strip_weak_type()
    if taken != returned:
        raise TypeError(
            f"{name}: the function must return the type that it takes, {taken.str_short()}, but "
            f"{describe_function(func)} returns {returned.str_short()}."
        )
    mode = GatherScatterMode.from_any(mode)
    return scatter(operand, scatter_indices, new, numbers, mode=mode, **promises)
