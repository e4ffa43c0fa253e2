"""Complex numbers: their parts, putting them together, and conjugation.

Differentiation treats a complex function as linear over the reals where it is not holomorphic;
transposition is with respect to the bilinear (not the Hermitian) pairing, as in JAX.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import COMPLEX, FLOAT, DType
from bindax_lax_basic.elementwise.arithmetic import neg_p, unbroadcast
from bindax_lax_basic.elementwise.conversion import same_dims
from bindax_lax_basic.rules.batching import elementwise_batch
from bindax_lax_basic.rules.elementwise import elementwise
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import jointly_linear, linear
from bindax_lax_basic.rules.lowering import full, operation
from bindax_lax_basic.rules.operands import adopt_type, constant
from bindax_lax_basic.rules.types import elementwise_type
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_transforms.zeros import UndefPrimal

__all__ = ["complex", "complex_p", "conj", "conj_p", "imag", "imag_p", "real", "real_p"]


def real(x: Any) -> Array:
    """Elementwise real part of an array of complex numbers.

    >>> real(np.array([1 + 2j]))
    Array([1.], dtype=float64)
    """
    return real_p.bind(x)


def _zero_like(x: Any) -> Any:
    return broadcast_to(constant(0.0, x), typeof(x).shape)


real_p: Primitive = primitive(
    "real",
    *elementwise("real", np.real, COMPLEX, result=dtypes.real_dtype, linear=True),
    linear(),
    rules.transpose(lambda ct, x: [complex_p.bind(ct, _zero_like(ct))]),
    rules.lowering["stablehlo"](operation("stablehlo.real")),
)


def imag(x: Any) -> Array:
    """Elementwise imaginary part of an array of complex numbers.

    >>> imag(np.array([1 + 2j]))
    Array([2.], dtype=float64)
    """
    return imag_p.bind(x)


imag_p: Primitive = primitive(
    "imag",
    *elementwise("imag", np.imag, COMPLEX, result=dtypes.real_dtype, linear=True),
    linear(),
    rules.transpose(lambda ct, x: [complex_p.bind(_zero_like(ct), neg_p.bind(ct))]),
    rules.lowering["stablehlo"](operation("stablehlo.imag")),
)


def complex(x: Any, y: Any) -> Array:
    """Elementwise complex number from its real and imaginary parts.

    Args:
        x: an array of float32 or float64, the real parts.
        y: an array of the same dtype, the imaginary parts.

    >>> complex(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    Array([1.+3.j, 2.+4.j], dtype=complex128)
    """
    return complex_p.bind(*adopt_type(x, y))


def _complex_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    out = elementwise_type("complex", FLOAT, FLOAT, result=dtypes.complex_dtype)(x, y)
    if x.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"complex takes parts of dtype float32 or float64, but got {x.str_short()}; convert "
            f"them with .astype('float32')."
        )
    return out


def _complex_impl(x: NumPyArray, y: NumPyArray) -> Any:
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), dtypes.complex_dtype(x.dtype))
    out.real = x
    out.imag = y
    return out


def _complex_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    return [
        unbroadcast(real_p.bind(ct), x) if type(x) is UndefPrimal else None,
        neg_p.bind(unbroadcast(imag_p.bind(ct), y)) if type(y) is UndefPrimal else None,
    ]


complex_p: Primitive = primitive(
    "complex",
    rules.impl(_complex_impl),
    rules.abstract_eval(_complex_type),
    jointly_linear(),
    elementwise_batch(),
    rules.transpose(_complex_transpose),
    rules.lowering["stablehlo"](operation("stablehlo.complex")),
    rules.sharding("elementwise", linear=True),
)


def conj(x: Any) -> Array:
    """Elementwise complex conjugate; a real float becomes complex.

    >>> conj(np.array([1 + 2j]))
    Array([1.-2.j], dtype=complex128)
    """
    return conj_p.bind(x, input_dtype=typeof(x).dtype)


def _conj_type(x: ShapedArray, *, input_dtype: DType) -> ShapedArray:
    out = elementwise_type("conj", COMPLEX | FLOAT)(x)
    if dtypes.is_complex(x.dtype):
        return out
    if x.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"conj takes complex numbers, or real ones of dtype float32 or float64, but got "
            f"{x.str_short()}."
        )
    return out.update(dtype=dtypes.complex_dtype(x.dtype))


def _conj_impl(x: NumPyArray, *, input_dtype: DType) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x.astype(dtypes.complex_dtype(x.dtype))


def _conj_transpose(ct: Any, x: UndefPrimal, *, input_dtype: DType) -> list[Any]:
    if dtypes.is_complex(input_dtype):
        return [conj_p.bind(ct, input_dtype=input_dtype)]
    return [real_p.bind(ct)]


def _conj_lowering(ctx: LoweringContext, x: Any, *, input_dtype: DType) -> Any:
    aval = ctx.avals_in[0]
    if not dtypes.is_complex(aval.dtype):
        return ctx.op("stablehlo.complex", [x, full(ctx, aval, 0)])[0]
    return ctx.op("chlo.conj", [x])[0]


conj_p: Primitive = primitive(
    "conj",
    rules.impl(_conj_impl),
    rules.abstract_eval(_conj_type),
    linear(),
    same_dims(),
    rules.transpose(_conj_transpose),
    rules.lowering["stablehlo"](_conj_lowering),
    rules.sharding("elementwise", linear=True),
)
