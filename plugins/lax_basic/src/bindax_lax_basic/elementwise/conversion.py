"""Changing the dtype of an array, copying it, and cutting it out of differentiation."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Rule,
    ShapedArray,
    Tracer,
    dtype_name,
    full_raise,
    is_extended,
    primitive,
    rules,
    trace_state,
    tree_map,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import (
    BatchDims,
    Batched,
    Dual,
    Values,
    linear,
    no_derivative,
    zero_tangent,
)
from bindax_transforms.zeros import UndefPrimal, Zero

T = TypeVar("T")

_NUMBERS = (bool, int, float, complex, np.generic)

__all__ = [
    "convert_element_type",
    "convert_element_type_p",
    "copy",
    "copy_p",
    "dtype",
    "stop_gradient",
    "stop_gradient_p",
]


def same_dims() -> Rule:
    """The ``vmap`` rule of an elementwise primitive of one operand."""

    def rule(
        primitive: Primitive, size: int, operands: Values, dims: BatchDims, **params: Any
    ) -> Batched:
        return primitive.bind(operands[0], **params), dims[0]

    return rules.vmap(rule, takes_primitive=True)


def convert_element_type(operand: Any, new_dtype: Any) -> Array:
    """Convert the elements of an array to another dtype.

    Args:
        operand: an array of any dtype.
        new_dtype: the dtype of the result; Python's ``float`` means the default float dtype.

    Floats become integers by dropping the fraction; what does not fit becomes the nearest
    integer that does, and nan becomes zero. Complex numbers lose their imaginary part.

    >>> convert_element_type(np.array([1.7, -1e9, np.nan]), "int8")
    Array([   1, -128,    0], dtype=int8)
    """
    wanted = dtypes.canonical_dtype(new_dtype)
    if type(operand) is complex and not dtypes.is_complex(wanted):
        raise TypeError(
            f"convert_element_type: {operand!r} cannot become {dtype_name(wanted)}, which has no "
            f"imaginary part; take the real part first."
        )
    return convert(operand, wanted, False)


def convert(operand: Any, dtype: DType, weak_type: bool) -> Any:
    """Convert to a dtype and weak type; an operand that has both is returned as it is."""
    if type(operand) is int and not weak_type:
        operand = _wide_integer(operand, dtype)
    aval = typeof(operand)
    is_same = aval.dtype == dtype and aval.weak_type == weak_type
    if is_same and hasattr(operand, "aval"):
        return operand
    staging = trace_state.dynamic
    if staging is not None and not isinstance(operand, Tracer):
        if is_same:
            return full_raise(staging.trace, operand)
        if isinstance(operand, _NUMBERS) and not weak_type:
            return full_raise(staging.trace, _number(operand, aval, dtype))
    return convert_element_type_p.bind(operand, new_dtype=dtype, weak_type=weak_type)


def _wide_integer(x: int, dtype: DType) -> Any:
    """An integer that its own dtype does not hold in the dtype that it goes to; others as they are.

    >>> _wide_integer(2**63, np.dtype("uint64")), _wide_integer(3, np.dtype("uint64"))
    (array(9223372036854775808, dtype=uint64), 3)
    """
    least, greatest = dtypes.integer_limits(typeof(x).dtype)
    if least <= x <= greatest or not -(1 << 63) <= x < 1 << 64 or is_extended(dtype):
        return x
    return np.asarray(_convert_impl(np.asarray(x), new_dtype=dtype, weak_type=False))


def _number(x: Any, aval: ShapedArray, dtype: DType) -> Any:
    """A number that is converted before it becomes part of a program."""
    _convert_type(aval, new_dtype=dtype, weak_type=False)  # checks the dtypes
    return _convert_impl(np.asarray(x, aval.dtype), new_dtype=dtype, weak_type=False)


def _convert_type(x: ShapedArray, *, new_dtype: DType, weak_type: bool) -> ShapedArray:
    kinds = dtypes.kind_of(x.dtype), dtypes.kind_of(new_dtype)
    if "float0" in kinds:
        raise TypeError(
            f"convert_element_type: {x.str_short()} cannot become {new_dtype}: float0 is the type "
            f"of tangents that do not exist, and has no values to convert."
        )
    if x.dtype != new_dtype and "extended" in kinds:
        raise TypeError(
            f"convert_element_type: {x.str_short()} cannot become {dtype_name(new_dtype)}: "
            f"elements of an extended dtype are no numbers."
        )
    return x.update(dtype=new_dtype, weak_type=weak_type and new_dtype != dtypes.bool_)


def _convert_impl(x: NumPyArray, *, new_dtype: DType, weak_type: bool) -> Any:
    if x.dtype == new_dtype:
        return x
    if new_dtype == dtypes.bool_:
        return x != np.zeros((), x.dtype)
    if x.dtype.kind == "c" and new_dtype.kind != "c":
        x = x.real
    if dtypes.is_integer(new_dtype) and dtypes.kind_of(x.dtype) == "float":
        return _saturate(x, new_dtype)
    # The narrow types of ml_dtypes do not convert to each other; wider ones hold all their values.
    return x.astype(dtypes.accumulator_dtype(x.dtype), copy=False).astype(new_dtype)


def _saturate(x: NumPyArray, dtype: DType) -> Any:
    """Floats to integers as the hardware does it: to the nearest that fits, nan to zero."""
    least, greatest = dtypes.integer_limits(dtype)
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    # Powers of two are exact in every float dtype, where the greatest integer is not.
    lower, upper = float(least), float(greatest + 1)
    fits = (x >= lower) & (x < upper)  # nan does not
    if fits.all():
        return x.astype(dtype)
    out = np.where(fits, x, x.dtype.type(0)).astype(dtype)
    out[x >= upper] = greatest
    out[x < lower] = least
    return out


def _convert_jvp(primals: Values, tangents: Values, *, new_dtype: DType, weak_type: bool) -> Dual:
    (x,), (t,) = primals, tangents
    out = convert_element_type_p.bind(x, new_dtype=new_dtype, weak_type=weak_type)
    if type(t) is Zero or not dtypes.is_inexact(new_dtype):
        return out, zero_tangent(out)
    return out, convert_element_type_p.bind(t, new_dtype=new_dtype, weak_type=weak_type)


def _convert_transpose(ct: Any, x: UndefPrimal, *, new_dtype: DType, weak_type: bool) -> list[Any]:
    return [convert(ct, x.aval.dtype, x.aval.weak_type)]


def _convert_lowering(ctx: LoweringContext, x: Any, *, new_dtype: DType, weak_type: bool) -> Any:
    aval = ctx.avals_in[0]
    if aval.dtype == new_dtype:
        return x
    if new_dtype == dtypes.bool_:
        return compare(ctx, "NE", x, lower.full(ctx, aval, 0), aval)
    if aval.dtype.kind == "c" and new_dtype.kind != "c":
        real = aval.update(dtype=dtypes.real_dtype(aval.dtype))
        (x,) = ctx.op("stablehlo.real", [x], result_avals=[real])
    elif dtypes.is_inexact(aval.dtype) and aval.dtype != dtypes.byte_dtype(aval.dtype):
        # XLA takes the greatest float4 for infinite where it converts it to integers.
        (x,) = ctx.op("stablehlo.convert", [x], [aval.update(dtype=dtypes.byte_dtype(aval.dtype))])
    return ctx.op("stablehlo.convert", [x])[0]


def compare(
    ctx: LoweringContext, direction: str, x: Any, y: Any, aval: ShapedArray, floats: str = "FLOAT"
) -> Any:
    """``stablehlo.compare`` of two values of one type, floats in an order of this name."""
    kind = dtypes.kind_of(aval.dtype)
    integers = "SIGNED" if kind == "signed integer" else "UNSIGNED"
    compare_type = floats if kind in dtypes.INEXACT else integers
    attributes = {
        "comparison_direction": f"#stablehlo<comparison_direction {direction}>",
        "compare_type": f"#stablehlo<comparison_type {compare_type}>",
    }
    out = ShapedArray(aval.shape, dtypes.bool_)
    return ctx.op("stablehlo.compare", [x, y], result_avals=[out], attributes=attributes)[0]


def _is_linear(x: ShapedArray, *, new_dtype: DType, **params: Any) -> bool:
    """Tell whether a conversion may come before a sum: it does not round to integers."""
    integers = dtypes.is_integer(new_dtype) and dtypes.is_integer(x.dtype)
    return integers or dtypes.is_inexact(new_dtype)


convert_element_type_p: Primitive = primitive(
    "convert_element_type",
    rules.impl(_convert_impl),
    rules.abstract_eval(_convert_type),
    rules.jvp(_convert_jvp, symbolic_zeros=True),
    same_dims(),
    rules.transpose(_convert_transpose),
    rules.lowering["stablehlo"](_convert_lowering),
    rules.sharding("elementwise", linear=_is_linear),
)


def dtype(x: Any) -> DType:
    """The dtype of an array, or what a dtype, a scalar type or a name of one means.

    >>> dtype(1.0), dtype(np.int16(1)), dtype("bfloat16")
    (dtype('float32'), dtype('int16'), dtype(bfloat16))
    """
    if type(x) in (bool, int, float, complex):
        x = type(x)
    if isinstance(x, ShapedArray):
        return x.dtype
    return dtypes.canonical_dtype(x) if isinstance(x, (str, type, np.dtype)) else typeof(x).dtype


def copy(operand: Any) -> Array:
    """A copy of an array, with bytes of its own.

    >>> copy(np.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    return copy_p.bind(operand)


copy_p: Primitive = primitive(
    "copy",
    rules.impl(np.copy),
    rules.abstract_eval(lambda x: x),
    linear(),
    same_dims(),
    rules.transpose(lambda ct, x: [copy_p.bind(ct)]),
    rules.lowering["stablehlo"](lambda ctx, x: x),
    rules.sharding("elementwise", linear=True),
)


def stop_gradient(x: T) -> T:
    """The same values, cut out of differentiation: their derivative is zero.

    Args:
        x: an array, or a pytree of arrays.

    >>> from bindax_transforms import jvp
    >>> float(jvp(lambda x: stop_gradient(x) * x, (3.0,), (1.0,))[1])
    3.0
    """
    return tree_map(_stop_gradient, x)


def _stop_gradient(x: Any) -> Any:
    return stop_gradient_p.bind(x) if dtypes.is_inexact(typeof(x).dtype) else x


stop_gradient_p: Primitive = primitive(
    "stop_gradient",
    rules.impl(lambda x: x),
    rules.abstract_eval(lambda x: x),
    no_derivative(),
    same_dims(),
    rules.transpose.absent("its derivative is zero, so nothing linear is left to transpose"),
    rules.lowering["stablehlo"](lambda ctx, x: x),
    rules.sharding("elementwise", linear=True),
)
