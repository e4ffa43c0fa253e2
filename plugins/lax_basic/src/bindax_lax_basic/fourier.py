"""Discrete Fourier transforms of the last one to three axes.

The transform of ``x`` along an axis of size ``n`` is ``sum_j x[j] exp(-2 pi i j k / n)``. Its
matrix is symmetric, so that FFT and IFFT are their own transposes. RFFT gives the first
``n // 2 + 1`` frequencies of a real array, which determine the others, and IRFFT takes them.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
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
from bindax_core.sharding import ambiguous
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import mul_p
from bindax_lax_basic.elementwise.complex_numbers import conj, real
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.batching import leading_batch
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import linear
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.rules.sharding import entries
from bindax_lax_basic.rules.types import static_ints
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_in_dim_p
from bindax_lax_basic.shape.creation import filled
from bindax_lax_basic.shape.slice_and_pad import pad_p
from bindax_transforms.zeros import UndefPrimal

__all__ = ["FftType", "fft", "fft_p"]


Lengths = tuple[int, ...]


class FftType(enum.IntEnum):
    """The kinds of Fourier transforms."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x: Any, fft_type: Any, fft_lengths: Sequence[int]) -> Array:
    """Fourier transform of the last axes.

    Args:
        x: an array; real for RFFT, otherwise it becomes complex.
        fft_type: a ``FftType``, or its name.
        fft_lengths: the sizes of the one to three last axes that are transformed; for RFFT and
            IRFFT those of the real array.

    Returns:
        An array of complex numbers, or for IRFFT of floats. The inverse transforms divide by the
        number of elements.

    Raises:
        ValueError: when the lengths do not fit the array.

    >>> from bindax_lax_basic import fft
    >>> fft(np.array([1.0, 0.0, 0.0, 0.0]), "RFFT", (4,))
    Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    kind = _kind(fft_type)
    lengths = static_ints("fft", "fft_lengths", fft_lengths)
    dtype = dtypes.inexact_dtype(typeof(x).dtype)
    if kind is FftType.RFFT:
        if dtypes.is_complex(dtype):
            raise ValueError(f"fft: RFFT takes real arrays, but got {typeof(x).str_short()}.")
    elif not dtypes.is_complex(dtype):
        dtype = dtypes.complex_dtype(dtype)
    if dtype != typeof(x).dtype:
        x = convert(x, dtype, False)
    if not lengths:
        return x
    return fft_p.bind(x, fft_type=kind, fft_lengths=lengths)


def _kind(value: Any) -> FftType:
    if isinstance(value, FftType):
        return value
    name = value.upper() if isinstance(value, str) else ""
    if name not in FftType.__members__:
        raise ValueError(
            f"fft_type must be a FftType or one of {list(FftType.__members__)}, but is {value!r}."
        )
    return FftType[name]


def _fft_type(x: ShapedArray, *, fft_type: FftType, fft_lengths: Lengths) -> ShapedArray:
    count = len(fft_lengths)
    if not 1 <= count <= 3:
        raise ValueError(f"fft transforms one to three axes, but fft_lengths are {fft_lengths}.")
    if x.ndim < count:
        raise ValueError(
            f"fft: {x.str_short()} has fewer axes than there are fft_lengths {fft_lengths}."
        )
    wanted = "float32 or float64" if fft_type is FftType.RFFT else "complex64 or complex128"
    if x.dtype.name not in wanted:
        raise TypeError(f"fft: {fft_type.name} takes {wanted}, but got {x.str_short()}.")
    half = (*fft_lengths[:-1], fft_lengths[-1] // 2 + 1 if fft_lengths[-1] else 0)
    inner = half if fft_type is FftType.IRFFT else fft_lengths
    if x.shape[-count:] != inner:
        raise ValueError(
            f"fft: {fft_type.name} with fft_lengths {fft_lengths} takes arrays whose last axes "
            f"have the sizes {inner}, but got {x.str_short()}."
        )
    outer = half if fft_type is FftType.RFFT else fft_lengths
    if fft_type is FftType.RFFT:
        dtype = dtypes.complex_dtype(x.dtype)
    else:
        dtype = dtypes.real_dtype(x.dtype) if fft_type is FftType.IRFFT else x.dtype
    return ShapedArray((*x.shape[:-count], *outer), dtype)


def _fft_impl(x: NumPyArray, *, fft_type: FftType, fft_lengths: Lengths) -> Any:
    aval = _fft_type(ShapedArray(x.shape, x.dtype), fft_type=fft_type, fft_lengths=fft_lengths)
    if 0 in x.shape or 0 in aval.shape:
        return np.zeros(aval.shape, aval.dtype)
    axes = tuple(range(-len(fft_lengths), 0))
    # numpy.fft is loaded when one of its functions is called.
    out = getattr(np.fft, f"{fft_type.name.lower()}n")(x, s=fft_lengths, axes=axes)
    return out.astype(aval.dtype, copy=False)


def _fft_transpose(
    ct: Any, x: UndefPrimal, *, fft_type: FftType, fft_lengths: Lengths
) -> list[Any]:
    """The transposed map: real arrays have real cotangents, the others no conjugation."""
    if fft_type in (FftType.FFT, FftType.IFFT):
        return [fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)]
    if 0 in x.aval.shape:
        return [filled(x.aval, 0)]
    if fft_type is FftType.RFFT:
        # The frequencies that were left out had no cotangent.
        missing = fft_lengths[-1] - typeof(ct).shape[-1]
        config = ((0, 0, 0),) * (x.aval.ndim - 1) + ((0, missing, 0),)
        ct = pad_p.bind(ct, constant(0, ct), padding_config=config)
        return [real(fft_p.bind(ct, fft_type=FftType.FFT, fft_lengths=fft_lengths))]
    # Each frequency counts for its mirror image too, unless it is its own.
    last = x.aval.shape[-1]
    weight = np.full(last, 2.0 / math.prod(fft_lengths), dtypes.real_dtype(x.aval.dtype))
    weight[0] /= 2
    if fft_lengths[-1] % 2 == 0:
        weight[-1] /= 2
    out = conj(fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=fft_lengths))
    weights = broadcast_in_dim_p.bind(
        weight.astype(x.aval.dtype), shape=x.aval.shape, broadcast_dimensions=(x.aval.ndim - 1,)
    )
    return [mul_p.bind(out, weights)]


def _fft_lowering(ctx: LoweringContext, x: Any, *, fft_type: FftType, fft_lengths: Lengths) -> Any:
    if 0 in ctx.avals_in[0].shape or 0 in ctx.avals_out[0].shape:
        return lower.full(ctx, ctx.avals_out[0], 0)
    attributes = {
        "fft_type": f"#stablehlo<fft_type {fft_type.name}>",
        "fft_length": lower.integers(fft_lengths),
    }
    return ctx.op("stablehlo.fft", [x], attributes=attributes)[0]


def _fft_sharding(
    primitive: Primitive, x: ShapedArray, *, fft_type: FftType, fft_lengths: Lengths
) -> tuple[Any, ...]:
    if any(entries(x)[x.ndim - len(fft_lengths) :]):
        raise ambiguous(primitive, "transforms along a divided axis", [x])
    return entries(x)


fft_p: Primitive = primitive(
    "fft",
    rules.impl(_fft_impl),
    rules.abstract_eval(_fft_type),
    linear(),
    leading_batch(),
    rules.transpose(_fft_transpose),
    rules.lowering["stablehlo"](_fft_lowering),
    rules.sharding(_fft_sharding, takes_primitive=True),
)
