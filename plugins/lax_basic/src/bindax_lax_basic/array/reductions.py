"""Reductions with the arguments of NumPy: methods of arrays, and parts of functions of that name.

A reduction of Python scalars has the default dtype, and no reduction is weakly typed. The operands
are arrays, tracers or numbers.
"""

from __future__ import annotations

import math
from typing import Any

from bindax_core.errors import ShardingTypeError
from bindax_core.extend import Primitive, ShapedArray, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.array import operators
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.selection import max_p, min_p, select_n_p
from bindax_lax_basic.reductions.arg_reductions import argmax as lax_argmax
from bindax_lax_basic.reductions.arg_reductions import argmin as lax_argmin
from bindax_lax_basic.reductions.cumulative import cumsum as lax_cumsum
from bindax_lax_basic.reductions.reductions import (
    greatest,
    least,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
)
from bindax_lax_basic.rules.operands import broadcast_shapes, scalar_array
from bindax_lax_basic.rules.types import axes_argument, axis_argument
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to, reduce_sum_p
from bindax_lax_basic.shape.reshape import expand_dims, reshape_p

_NARROW_FLOAT_BYTES = 2


def refuse_out(name: str, out: Any) -> None:
    """Raise where a result is to be written into an array.

    >>> refuse_out("sum", np.zeros(3))
    Traceback (most recent call last):
    TypeError: sum: arrays are immutable, so out must be None; use the result.
    """
    if out is not None:
        raise TypeError(f"{name}: arrays are immutable, so out must be None; use the result.")


def mask_operand(name: str, where: Any) -> Any:
    """The argument ``where`` of a reduction: booleans.

    >>> mask_operand("sum", np.array([1, 0]))
    Traceback (most recent call last):
    ValueError: sum: where must be None or booleans, but it is int64[2]; compare it, for ...
    """
    if typeof(where).dtype != dtypes.bool_:
        raise ValueError(
            f"{name}: where must be None or booleans, but it is {typeof(where).str_short()}; "
            f"compare it, for example with where != 0."
        )
    return where


def initial_operand(name: str, initial: Any, dtype: DType | None = None) -> Any:
    """The argument ``initial`` of a reduction: a scalar, of a dtype where one is given.

    >>> initial_operand("max", 0, np.dtype("float32"))
    Array(0., dtype=float32)
    >>> initial_operand("max", np.zeros(2))
    Traceback (most recent call last):
    ValueError: max: initial must be a scalar, but it is float64[2].
    """
    if typeof(initial).shape:
        raise ValueError(
            f"{name}: initial must be a scalar, but it is {typeof(initial).str_short()}."
        )
    if dtype is not None:
        return convert(initial, dtype, False)
    return convert(initial, dtypes.settled_dtype(typeof(initial)), typeof(initial).weak_type)


def selected(name: str, x: Any, where: Any, neutral: Any) -> Any:
    """The operand with a neutral element where it is not to be reduced.

    >>> selected("sum", np.array([1, 2, 3]), np.array([True, False, True]), 0)
    Array([1, 0, 3], dtype=int64)
    """
    if where is None:
        return x
    mask = mask_operand(name, where)
    shape = broadcast_shapes(typeof(x).shape, typeof(mask).shape)
    filler = scalar_array(neutral, typeof(x).dtype)
    return select_n_p.bind(*[broadcast_to(v, shape) for v in (mask, filler, x)])


def reduced(name: str, primitive: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """A reduction over axes, which are kept with size 1 where asked for.

    >>> reduced("sum", reduce_sum_p, np.array([[1, 2], [3, 4]]), 0, keepdims=True)
    Array([[4, 6]], dtype=int64)
    """
    axes = axes_argument(name, axis, len(typeof(x).shape), "axis")
    out = primitive.bind(x, axes=axes)
    return expand_dims(out, axes) if keepdims and axes else out


def _summands(x: Any, dtype: Any, promote_integers: bool) -> Any:
    """The operand of a sum or product: of the given dtype, narrow integers in the default one."""
    if dtype is not None:
        return convert(x, dtypes.canonical_dtype(dtype), False)
    wide = dtypes.settled_dtype(typeof(x))
    if promote_integers or wide == dtypes.bool_:
        wide = dtypes.summed_dtype(wide)
    return convert(x, wide, False)


def sum(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """The sum over some axes, or all; booleans are counted."""
    refuse_out("sum", out)
    x = selected("sum", _summands(self, dtype, promote_integers), where, 0)
    # Booleans, where they are asked for, are joined by "or".
    primitive = reduce_or_p if typeof(x).dtype.kind == "b" else reduce_sum_p
    total = reduced("sum", primitive, x, axis, keepdims)
    if initial is None:
        return total
    return operators.add(total, initial_operand("sum", initial, typeof(total).dtype))


def prod(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """The product over some axes, or all."""
    refuse_out("prod", out)
    x = selected("prod", _summands(self, dtype, promote_integers), where, 1)
    primitive = reduce_and_p if typeof(x).dtype.kind == "b" else reduce_prod_p
    product = reduced("prod", primitive, x, axis, keepdims)
    if initial is None:
        return product
    return operators.multiply(product, initial_operand("prod", initial, typeof(product).dtype))


def max(
    self: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """The largest element over some axes, or all; nan if one is."""
    refuse_out("max", out)
    return _extremum("max", reduce_max_p, max_p, least, self, axis, keepdims, initial, where)


def min(
    self: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """The smallest element over some axes, or all; nan if one is."""
    refuse_out("min", out)
    return _extremum("min", reduce_min_p, min_p, greatest, self, axis, keepdims, initial, where)


def _extremum(
    name: str,
    reduction: Primitive,
    of_two: Primitive,
    neutral: Any,
    x: Any,
    axis: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Any:
    aval: ShapedArray = typeof(x)
    dtype = dtypes.settled_dtype(aval)
    axes = axes_argument(name, axis, aval.ndim, "axis")
    if initial is None and (where is not None or 0 in [aval.shape[i] for i in axes]):
        why = "with where" if where is not None else f"over axes {axes} of {aval.str_short()}"
        raise ValueError(
            f"{name} {why}: there may be no elements to choose from; give initial, which it "
            f"is then."
        )
    x = convert(x, dtype, False)
    x = x if where is None else selected(name, x, where, neutral(dtype))
    found = reduced(name, reduction, x, axis, keepdims)
    if initial is not None:
        found = of_two.bind(found, initial_operand(name, initial, dtype))
    return convert(found, dtype, False)


def mean(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Any:
    """The mean over some axes, or all; a float also of integers."""
    refuse_out("mean", out)
    x, wanted = averaged("mean", self, dtype)
    shape = typeof(x).shape
    total = reduced("mean", reduce_sum_p, selected("mean", x, where, 0), axis, keepdims)
    if where is None:
        axes = axes_argument("mean", axis, len(shape), "axis")
        count = scalar_array(math.prod([shape[i] for i in axes]), typeof(total).dtype)
    else:
        mask = broadcast_to(mask_operand("mean", where), shape)
        count = convert(sum(mask, axis, keepdims=keepdims), typeof(total).dtype, False)
    return convert(div_p.bind(total, count), wanted, False)


def averaged(name: str, x: Any, dtype: Any) -> tuple[Any, DType]:
    """The operand of a mean in the dtype to compute in, and the dtype of the result.

    >>> averaged("mean", np.array([1.0, 2.0], np.float16), None)
    (Array([1., 2.], dtype=float32), dtype('float16'))
    """
    own = dtypes.settled_dtype(typeof(x))
    wanted = dtypes.inexact_dtype(own) if dtype is None else dtypes.canonical_dtype(dtype)
    # Sums of many numbers overflow, or stop growing, in 16 bits.
    narrow = dtypes.is_inexact(wanted) and wanted.itemsize <= _NARROW_FLOAT_BYTES
    return convert(x, dtypes.float32 if narrow else wanted, False), wanted


def all(
    self: Any, axis: Any = None, out: None = None, keepdims: bool = False, where: Any = None
) -> Any:
    """Tell whether all elements over some axes, or all, are not zero."""
    refuse_out("all", out)
    x = selected("all", convert(self, dtypes.bool_, False), where, True)
    return reduced("all", reduce_and_p, x, axis, keepdims)


def any(
    self: Any, axis: Any = None, out: None = None, keepdims: bool = False, where: Any = None
) -> Any:
    """Tell whether any element over some axes, or all, is not zero."""
    refuse_out("any", out)
    x = selected("any", convert(self, dtypes.bool_, False), where, False)
    return reduced("any", reduce_or_p, x, axis, keepdims)


def argmax(
    self: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Any:
    """The index of the first maximum along an axis, or of all elements."""
    return _position("argmax", lax_argmax, self, axis, out, keepdims)


def argmin(
    self: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Any:
    """The index of the first minimum along an axis, or of all elements."""
    return _position("argmin", lax_argmin, self, axis, out, keepdims)


def _position(name: str, search: Any, x: Any, axis: int | None, out: None, keepdims: Any) -> Any:
    refuse_out(name, out)
    ndim = typeof(x).ndim
    place = 0 if axis is None else axis_argument(name, axis, ndim)
    operand = _in_a_row(x) if axis is None and ndim != 1 else x
    found = search(operand, place, dtypes.default_dtype("int"))
    if not keepdims:
        return found
    return expand_dims(found, range(ndim) if axis is None else place)


def _in_a_row(x: Any) -> Any:
    return reshape_p.bind(x, new_sizes=(typeof(x).size,), dimensions=None)


def cumsum(self: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    """The sums up to and including each element, along an axis or of all elements in order."""
    refuse_out("cumsum", out)
    x = _summands(self, dtype, promote_integers=False)
    return running("cumsum", lax_cumsum, x, axis)


def running(name: str, function: Any, x: Any, axis: int | None) -> Any:
    """Sums or products up to each element; of booleans, whether any or all of them hold.

    >>> from bindax_lax_basic import cumsum
    >>> running("cumsum", cumsum, np.array([[1, 2], [3, 4]]), None)
    Array([ 1,  3,  6, 10], dtype=int64)
    """
    aval = typeof(x)
    if axis is None:
        if aval.is_divided and set(aval.sharding.spec) != {None}:
            raise ShardingTypeError(
                f"{name} without an axis takes the elements of the whole array in order. The input "
                f"should be fully replicated, but it is {aval.str_short()}: give an axis, or lay "
                f"it out by reshard."
            )
        x, axis = _in_a_row(x), 0
    elif not aval.shape:
        x = _in_a_row(x)  # as in NumPy, where a scalar has one element along axis 0
    place = axis_argument(name, axis, typeof(x).ndim)
    if typeof(x).dtype != dtypes.bool_:
        return function(x, place)
    counts = function(convert(x, dtypes.default_dtype("int"), False), place)
    return convert(counts, dtypes.bool_, False)
