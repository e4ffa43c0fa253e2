"""Bits of values taken as values of another dtype, and floats rounded to fewer bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from bindax_core.extend import Array, LoweringContext, Primitive, ShapedArray, primitive, rules
from bindax_core.sharding import ambiguous
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import FLOAT, DType
from bindax_lax_basic.elementwise.bits import bit_width
from bindax_lax_basic.rules.batching import leading_batch
from bindax_lax_basic.rules.elementwise import elementwise
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import linear, no_derivative
from bindax_lax_basic.rules.lowering import as_one
from bindax_lax_basic.rules.sharding import entries
from bindax_lax_basic.rules.types import static_int

__all__ = [
    "bitcast_convert_type",
    "bitcast_convert_type_p",
    "reduce_precision",
    "reduce_precision_p",
]


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Array:
    """The bits of an array as values of another dtype.

    Args:
        operand: an array of integers or real floats. For a wider dtype its last axis holds the
            parts of one value, least significant first.
        new_dtype: a dtype of integers or real floats; or that of the operand, which may be any.

    Returns:
        An array of the operand's shape; for a narrower dtype with a last axis for the parts, for a
        wider one without the last axis.

    Raises:
        TypeError: when a dtype is bool or complex and the two are not equal.
        ValueError: when the last axis does not hold the parts of one value.

    >>> bitcast_convert_type(np.array([1.0], np.float32), "int32")
    Array([1065353216], dtype=int32)
    >>> bitcast_convert_type(np.array([258], np.int16), "uint8")
    Array([[2, 1]], dtype=uint8)
    """
    return bitcast_convert_type_p.bind(operand, new_dtype=dtypes.canonical_dtype(new_dtype))


def bits_of(dtype: DType) -> int:
    """The bits of an element of a dtype: 8 of a boolean, fewer of narrow numbers.

    >>> from bindax_lax_basic.extend import named_dtype
    >>> bits_of(np.dtype("float16")), bits_of(np.dtype("bool")), bits_of(named_dtype("int4"))
    (16, 8, 4)
    """
    if dtypes.is_integer(dtype):
        return bit_width(dtype)
    if dtypes.kind_of(dtype) == "float":
        info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        return int(info.bits)
    return dtype.itemsize * 8


def _bitcast_type(x: ShapedArray, *, new_dtype: DType) -> ShapedArray:
    if x.dtype == new_dtype:
        return x.strip_weak_type()
    for dtype in (x.dtype, new_dtype):
        if dtypes.kind_of(dtype) not in dtypes.INTEGER | FLOAT:
            raise TypeError(
                f"bitcast_convert_type: {x.str_short()} cannot become {new_dtype}: only the bits "
                f"of integers and real floats can be taken for another dtype's. Use "
                f"x.astype(...), or real and imag."
            )
    old, new = bits_of(x.dtype), bits_of(new_dtype)
    if old == new:
        return x.update(dtype=new_dtype, weak_type=False)
    if old > new:
        return x.update(shape=(*x.shape, old // new), dtype=new_dtype, weak_type=False)
    if not x.shape or x.shape[-1] * old != new:
        raise ValueError(
            f"bitcast_convert_type: {x.str_short()} cannot become {new_dtype.name}: a value of "
            f"{new} bits is made of {new // old} values of {old} bits, which must be the last axis."
        )
    return x.update(shape=x.shape[:-1], dtype=new_dtype, weak_type=False)


def _bitcast_impl(x: NumPyArray, *, new_dtype: DType) -> Any:
    old, new = bits_of(x.dtype), bits_of(new_dtype)
    x = np.ascontiguousarray(x).reshape(x.shape)  # which makes an axis for scalars
    if old < 8 or new < 8:
        return _repacked(x, old, new, new_dtype)
    if old == new:
        return x.view(new_dtype).copy()
    return x[..., None].view(new_dtype) if old > new else x.view(new_dtype)[..., 0]


def _repacked(x: NumPyArray, old: int, new: int, dtype: DType) -> NumPyArray:
    """The same for values of less than a byte, of which the low bits of a byte count."""
    bits = np.unpackbits(x[..., None].view(np.uint8), axis=-1, bitorder="little")[..., :old]
    shape = x.shape if old == new else (*x.shape, old // new) if old > new else x.shape[:-1]
    packed = np.packbits(bits.reshape(*shape, new), axis=-1, bitorder="little")
    if new >= 8:
        return packed.view(dtype)[..., 0]
    if dtypes.kind_of(dtype) == "signed integer":
        unused = 8 - new
        return ((packed << np.uint8(unused)).view(np.int8) >> np.int8(unused))[..., 0].astype(dtype)
    return packed[..., 0].astype(dtype) if dtypes.is_integer(dtype) else packed.view(dtype)[..., 0]


def _bitcast_lowering(ctx: LoweringContext, x: Any, *, new_dtype: DType) -> Any:
    if ctx.avals_in[0].dtype == new_dtype:
        return x
    return ctx.op("stablehlo.bitcast_convert", [x])[0]


def _bitcast_sharding(primitive: Primitive, x: ShapedArray, *, new_dtype: DType) -> tuple[Any, ...]:
    (out,) = primitive.out_avals((x.plain(),), {"new_dtype": new_dtype})
    found = entries(x)
    if out.ndim < x.ndim and found[-1] is not None:
        raise ambiguous(primitive, "joins the parts along a divided axis", [x])
    return (*found, None)[: out.ndim]


bitcast_convert_type_p: Primitive = primitive(
    "bitcast_convert_type",
    rules.impl(_bitcast_impl),
    rules.abstract_eval(_bitcast_type),
    no_derivative(),
    leading_batch(),  # for the last axis may be one of parts
    rules.transpose.absent("its derivative is zero by definition"),
    rules.lowering["stablehlo"](_bitcast_lowering),
    rules.sharding(_bitcast_sharding, takes_primitive=True),
)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Array:
    """Round floats to those of a format with fewer bits; they keep their dtype.

    Args:
        operand: an array of real floats.
        exponent_bits: the bits of the format's exponent, at least one.
        mantissa_bits: the bits of its mantissa, without the implicit one.

    Values are rounded to the nearest, halves to even; what is too large becomes infinite, what is
    below the least normal number zero. The derivative rounds the tangent likewise, as in JAX. As in
    XLA, floats narrower than float16 are rounded as numbers of float16, and float8_e8m0fnu as
    numbers of float32; the least normal number is that of a format with the usual bias.

    Raises:
        ValueError: when a number of bits is out of range.

    >>> reduce_precision(np.array([1.1, 70000.0], np.float32), 5, 10)
    Array([1.0996094,       inf], dtype=float32)
    """
    exponent = static_int("reduce_precision", "exponent_bits", exponent_bits)
    mantissa = static_int("reduce_precision", "mantissa_bits", mantissa_bits)
    if exponent < 1:
        raise ValueError(f"reduce_precision: exponent_bits must be positive, but is {exponent}.")
    if mantissa < 0:
        raise ValueError(
            f"reduce_precision: mantissa_bits must not be negative, but is {mantissa}."
        )
    return reduce_precision_p.bind(operand, exponent_bits=exponent, mantissa_bits=mantissa)


def _computed_in(dtype: DType) -> DType:
    """The dtype whose bits are reduced: of subnormal narrow floats, the normal ones of float16."""
    if dtype.itemsize > 1:
        return dtype
    return dtypes.float32 if dtype == ml_dtypes.float8_e8m0fnu else np.dtype(np.float16)


def _reduce_precision(x: NumPyArray, *, exponent_bits: int, mantissa_bits: int) -> Any:
    out = x.astype(_computed_in(x.dtype))
    info: Any = ml_dtypes.finfo(out.dtype)  # type: ignore[no-untyped-call]
    if mantissa_bits < info.nmant:
        out = _without_last_bits(out, int(info.nmant) - mantissa_bits)
    out = out.astype(np.float64)
    if exponent_bits < info.nexp:
        bias = (1 << (exponent_bits - 1)) - 1
        out = np.where(np.abs(out) >= 2.0 ** (bias + 1), np.copysign(np.inf, out), out)
        out = np.where(np.abs(out) < 2.0 ** (1 - bias), np.copysign(0.0, out), out)
    return np.where(np.isnan(x), x.astype(np.float64), out).astype(x.dtype)


def _without_last_bits(x: NumPyArray, count: int) -> NumPyArray:
    """Floats rounded so that their last bits are zero; of halves the even pattern of bits."""
    # Exponent and mantissa together count up, so that carrying from one to the other is right.
    bits = x.view(f"u{x.dtype.itemsize}")
    one, places = bits.dtype.type(1), bits.dtype.type(count)
    last = (bits >> places) & one
    half = (one << bits.dtype.type(count - 1)) - one
    kept = ((bits + half + last) >> places) << places
    return np.asarray(kept, bits.dtype).view(x.dtype)


def _int32(value: int) -> str:
    return f"{value} : i32"


reduce_precision_p: Primitive = primitive(
    "reduce_precision",
    *elementwise("reduce_precision", _reduce_precision, FLOAT, result=lambda d: d),
    linear(),
    rules.transpose(lambda p, ct, x, **params: [p.bind(ct, **params)], takes_primitive=True),
    rules.lowering["stablehlo"](
        as_one("stablehlo.reduce_precision", exponent_bits=_int32, mantissa_bits=_int32)
    ),
)
