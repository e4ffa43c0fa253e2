"""Making arrays: iota, full, and what is made like another array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core import device_put
from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    canonicalize_aval,
    default_sharding,
    float0,
    is_extended,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import laid_as
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules.operands import NUMBERS, scalar_array
from bindax_lax_basic.rules.types import shape_argument, static_int, static_ints
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_in_dim_p
from bindax_transforms.extend import decided

__all__ = [
    "broadcasted_iota",
    "empty",
    "full",
    "full_like",
    "iota",
    "iota_p",
    "ones_like",
    "shape_as_value",
    "zeros_like",
]


def iota(dtype: Any, size: int) -> Array:
    """The numbers 0, 1, … below a size.

    Args:
        dtype: the dtype of the result, numbers.
        size: how many.

    >>> iota("int32", 3)
    Array([0, 1, 2], dtype=int32)
    """
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(
    dtype: Any, shape: Sequence[int], dimension: int, *, out_sharding: Any = None
) -> Array:
    """The indices along one axis of an array of a shape.

    Args:
        dtype: the dtype of the result, numbers.
        shape: the shape of the result.
        dimension: the axis that is counted along.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> broadcasted_iota("int32", (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        return decided(broadcasted_iota, out_sharding, (dtype, shape, dimension))
    sizes = shape_argument("iota", shape)
    axis = static_int("iota", "dimension", dimension)
    if -len(sizes) <= axis < 0:
        axis += len(sizes)
    return iota_p.bind(dtype=dtypes.canonical_dtype(dtype), shape=sizes, dimension=axis)


def _iota_type(*, dtype: DType, shape: tuple[int, ...], dimension: int) -> ShapedArray:
    if dtypes.kind_of(dtype) not in dtypes.NUMBER:
        raise TypeError(f"iota counts in numbers, but the dtype is {dtype.name}.")
    if not 0 <= dimension < len(shape):
        raise ValueError(f"iota: {dimension} is not an axis of the shape {shape}.")
    return ShapedArray(shape, dtype)


def _iota_impl(*, dtype: DType, shape: tuple[int, ...], dimension: int) -> Any:
    sizes = [1] * len(shape)
    sizes[dimension] = shape[dimension]
    counted = np.arange(shape[dimension]).astype(dtype).reshape(sizes)
    return np.broadcast_to(counted, shape)


def _iota_lowering(
    ctx: LoweringContext, *, dtype: DType, shape: tuple[int, ...], dimension: int
) -> Any:
    attributes = {"iota_dimension": f"{dimension} : i64"}
    return ctx.op("stablehlo.iota", [], attributes=attributes)[0]


_NO_OPERAND = "it has no operand"

iota_p: Primitive = primitive(
    "iota",
    rules.impl(_iota_impl),
    rules.abstract_eval(_iota_type),
    rules.jvp.absent(_NO_OPERAND),
    rules.vmap.absent(_NO_OPERAND),
    rules.transpose.absent(_NO_OPERAND),
    rules.lowering["stablehlo"](_iota_lowering),
)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    """An array with all elements equal.

    Args:
        shape: its shape.
        fill_value: a scalar.
        dtype: its dtype; by default that of ``fill_value``, where a Python scalar stands for the
            default dtype and gives a weak type.

    Raises:
        TypeError: when ``fill_value`` is not a scalar.

    >>> full((2,), 1.5)
    Array([1.5, 1.5], dtype=float32, weak_type=True)
    >>> full((2,), 1.5, "float64")
    Array([1.5, 1.5], dtype=float64)
    """
    sizes = shape_argument("full", shape)
    aval = typeof(fill_value)
    if aval.shape:
        raise TypeError(
            f"full: fill_value must be a scalar, but it is {aval.str_short()}; use "
            f"broadcast_in_dim to repeat an array."
        )
    if dtype is None:
        wanted = dtypes.settled_dtype(aval) if type(fill_value) in NUMBERS else aval.dtype
        weak = aval.weak_type
    else:
        wanted, weak = dtypes.canonical_dtype(dtype), False
    return broadcast_in_dim_p.bind(
        scalar(fill_value, wanted, weak), shape=sizes, broadcast_dimensions=()
    )


def scalar(value: Any, dtype: DType, weak_type: bool) -> Any:
    """A scalar of a dtype and weak type from any scalar."""
    if is_extended(dtype) and type(value) is int:
        return _strong_scalar(value, dtype)
    if type(value) is complex and not dtypes.is_complex(dtype):
        raise TypeError(
            f"{value!r} cannot have the dtype {dtype.name}, which has no imaginary part; take the "
            f"real part first."
        )
    if type(value) in NUMBERS:
        value = value.item() if isinstance(value, np.generic) else value
        fits = not dtypes.is_integer(dtype) or type(value) is not float
        if fits and (type(value) is not complex or dtypes.is_complex(dtype)):
            made = scalar_array(value, dtype)
            return made if weak_type == made.weak_type else _strong_scalar(value, dtype)
    return convert(value, dtype, weak_type)


def _strong_scalar(value: Any, dtype: DType) -> Array:
    return Array.from_numpy(np.asarray(value, dtype))


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Array:
    """An array like another one, with all elements equal.

    Args:
        x: the array, or its type, whose shape, dtype and weak type are taken.
        fill_value: a scalar.
        dtype: another dtype.
        shape: another shape.

    >>> full_like(np.zeros(2, np.float32), 3)
    Array([3., 3.], dtype=float32)
    """
    aval: Any = canonicalize_aval(x) if isinstance(x, ShapedArray) else typeof(x)
    weak = dtype is None and aval.weak_type
    wanted = aval.dtype if dtype is None else dtypes.canonical_dtype(dtype)
    sizes = aval.shape if shape is None else shape_argument("full_like", shape)
    if wanted == float0:  # whose elements hold nothing
        return Array.from_numpy(np.zeros(sizes, float0))
    value = scalar(fill_value, wanted, weak)
    made = broadcast_in_dim_p.bind(value, shape=sizes, broadcast_dimensions=())
    return placed_as(laid_as(made, aval), x) if shape is None else made


def placed_as(made: Any, x: Any) -> Any:
    """An array on the devices that another one is bound to, where they are not the default ones.

    >>> placed_as(np.zeros(2), np.ones(2))
    array([0., 0.])
    """
    # A part on each device, so that no device must hold the whole; or where the array is.
    bound = isinstance(x, Array) and x.committed and x.sharding != default_sharding()
    return device_put(made, x.sharding) if bound else made


def empty(shape: Any, dtype: Any, *, out_sharding: Any = None) -> Array:
    """An array whose elements are to be written before they are read; here they are zeros.

    Args:
        shape: its shape.
        dtype: its dtype.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> empty((2,), "float32")
    Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(empty, out_sharding, (shape, dtype))
    return full(shape_argument("empty", shape), 0, dtype)


def zeros_like(x: Any, dtype: Any = None, shape: Any = None) -> Array:
    """Zeros of the shape, dtype and weak type of an array.

    >>> zeros_like(np.ones(2, np.float32))
    Array([0., 0.], dtype=float32)
    """
    return full_like(x, 0, dtype, shape)


def ones_like(x: Any, dtype: Any = None, shape: Any = None) -> Array:
    """Ones of the shape, dtype and weak type of an array.

    >>> ones_like(np.zeros(2, np.float32))
    Array([1., 1.], dtype=float32)
    """
    return full_like(x, 1, dtype, shape)


def shape_as_value(shape: Any) -> Array:
    """A shape as an array of int32.

    >>> shape_as_value((2, 3))
    Array([2, 3], dtype=int32)
    """
    return Array.from_numpy(np.asarray(static_ints("shape_as_value", "shape", shape), np.int32))


def filled(aval: ShapedArray, value: int) -> Any:
    """An array of a type with all elements equal to a small integer.

    >>> filled(ShapedArray((3,), np.int32), 7)
    Array([7, 7, 7], dtype=int32)
    """
    if aval.dtype == float0:
        return Array.from_numpy(np.zeros(aval.shape, float0))
    made = scalar(value, aval.dtype, aval.weak_type)
    if not aval.shape:
        return made
    made = broadcast_in_dim_p.bind(made, shape=aval.shape, broadcast_dimensions=())
    return made if aval.placement is None else laid_as(made, aval)
