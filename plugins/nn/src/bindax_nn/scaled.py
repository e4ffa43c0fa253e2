"""Products of arrays in few bits, with one scale for each block of elements."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from ml_dtypes import finfo

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array, warn_user
from bindax_transforms import custom_vjp


@dataclasses.dataclass(frozen=True, eq=False)
class BlockScaleConfig:
    """A format of few bits: one scale for each block along the contracted axis.

    Args:
        mode: ``"mxfp8"`` or ``"nvfp4"``.
        block_size: how many elements share a scale.
        data_type: the dtype of the elements.
        scale_type: the dtype of the scales.
        global_scale: a scale of the whole array, float32, or None.
        infer_only: accepted for JAX's programs.
    """

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any
    infer_only: bool


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
    """The format of a name, for ``scaled_dot_general``.

    Args:
        mode: ``"mxfp8"`` (blocks of 32 float8_e4m3fn with scales that are powers of two) or
            ``"nvfp4"`` (blocks of 16 float4_e2m1fn with float8_e4m3fn scales).
        global_scale: for ``"nvfp4"``, a scale of the whole array, float32; 1 by default.

    Raises:
        ValueError: for another mode.

    >>> nn.get_scaled_dot_general_config("mxfp8").block_size
    32
    """
    if mode == "nvfp4":
        scale = jnp.ones((1,), np.float32) if global_scale is None else global_scale
        return BlockScaleConfig(mode, 16, jnp.float4_e2m1fn, jnp.float8_e4m3fn, scale, False)
    if mode == "mxfp8":
        return BlockScaleConfig(mode, 32, jnp.float8_e4m3fn, jnp.float8_e8m0fnu, None, False)
    raise ValueError(
        f"get_scaled_dot_general_config: mode must be 'nvfp4' or 'mxfp8', but it is {mode!r:.60}."
    )


# ---------------------------------------------------------------------------- scaled_matmul


def scaled_matmul(
    lhs: Any,
    rhs: Any,
    lhs_scales: Any,
    rhs_scales: Any,
    preferred_element_type: Any = np.float32,
) -> Array:
    """``(lhs * lhs_scales) (rhs * rhs_scales)ᵀ`` with one scale for each block of either.

    Args:
        lhs: shape ``[B, M, K]``.
        rhs: shape ``[B, N, K]``.
        lhs_scales: shape ``[B, M, K / block]``.
        rhs_scales: shape ``[B, N, K / block]``.
        preferred_element_type: the dtype of the result.

    Returns:
        An array of shape ``[B, M, N]``; sums are in float32.

    Raises:
        ValueError: when shapes do not fit together.

    >>> x, scales = jnp.ones((1, 2, 4)), jnp.full((1, 2, 2), 3.0)
    >>> nn.scaled_matmul(x, x, scales, scales)[0]
    Array([[36., 36.],
           [36., 36.]], dtype=float32)
    """
    a, b, s, t = (jnp.asarray(x) for x in (lhs, rhs, lhs_scales, rhs_scales))
    shapes = f"lhs has shape {a.shape}, rhs {b.shape}, lhs_scales {s.shape}, rhs_scales {t.shape}"
    if any(x.ndim != 3 for x in (a, b, s, t)):
        raise ValueError(f"scaled_matmul: all arrays must have 3 axes, but {shapes}.")
    if (a.shape[0], a.shape[2]) != (b.shape[0], b.shape[2]):
        raise ValueError(
            f"scaled_matmul: lhs and rhs must agree in their first and last sizes, but {shapes}."
        )
    if s.shape[:2] != a.shape[:2] or t.shape != (*b.shape[:2], s.shape[2]):
        raise ValueError(
            f"scaled_matmul: scales must have the first two sizes of what they scale, and the "
            f"same last size, but {shapes}."
        )
    if s.shape[2] == 0 or a.shape[2] % s.shape[2]:
        raise ValueError(
            f"scaled_matmul: the last size of the arrays must be a multiple of that of their "
            f"scales, but {shapes}."
        )
    block = a.shape[2] // s.shape[2]
    left, right = (
        x.astype(np.float32) * jnp.repeat(scales.astype(np.float32), block, axis=2)
        for x, scales in ((a, s), (b, t))
    )
    product = jnp.matmul(left, jnp.matrix_transpose(right))
    return product.astype(preferred_element_type)


# ------------------------------------------------------------------------ quantization


def _power_of_two_above(x: Any) -> tuple[Any, Any]:
    """The next power of two from positive numbers upwards: as float8_e8m0fnu, and as float32."""
    bits: Any = lax.bitcast_convert_type(x.astype(np.float32), np.uint32)
    exponent, fraction = bits >> 23, bits & 0x7FFFFF
    up = (fraction > 0) & (exponent != 0xFE) & ~((exponent == 0) & (fraction <= 0x400000))
    exponent = jnp.where(up, exponent + 1, exponent)
    # The exponent 0 means 2**-127, which is a subnormal float32.
    values = lax.bitcast_convert_type(
        jnp.where(exponent == 0, 0x400000, exponent << 23).astype(np.uint32), np.float32
    )
    return lax.bitcast_convert_type(exponent.astype(np.uint8), jnp.float8_e8m0fnu), values


def _largest(dtype: Any) -> float:
    return float(finfo(dtype).max)  # type: ignore[no-untyped-call]


def _quantize(x: Any, config: BlockScaleConfig) -> tuple[Any, Any]:
    """Elements in few bits and their scales, of an array ``[B, M, K]``."""
    block = config.block_size
    if x.shape[-1] < block or x.shape[-1] % block:
        raise ValueError(
            f"scaled_dot_general: contracted sizes must be multiples of {block}, the block size of "
            f"{config.mode}, but there is one of {x.shape[-1]}."
        )
    blocks = jnp.reshape(x, (*x.shape[:-1], -1, block))
    largest = _largest(config.data_type)
    if config.mode == "mxfp8":
        wanted = jnp.max(jnp.abs(blocks), axis=-1, keepdims=True) / largest
        scales, values = _power_of_two_above(wanted)
        tiny = 2.0**-15 if x.dtype == np.float16 else 0.0
        scaled = blocks / jnp.maximum(values, tiny).astype(x.dtype)
    else:
        blocks = blocks / config.global_scale
        wanted = jnp.max(jnp.abs(blocks), axis=-1, keepdims=True) / largest
        limit = _largest(config.scale_type)
        scales = jnp.clip(wanted, 0, limit).astype(config.scale_type)
        scaled = blocks / scales.astype(np.float32)
    rounded = jnp.clip(scaled, -largest, largest).astype(config.data_type)
    return jnp.reshape(rounded, x.shape), scales[..., 0]


def _scaled_product(a: Any, b: Any, configs: Sequence[BlockScaleConfig], dtype: Any) -> Any:
    (a, scales), (b, other_scales) = _quantize(a, configs[0]), _quantize(b, configs[1])
    return scaled_matmul(a, b, scales, other_scales, dtype)


# ---------------------------------------------------------------------- scaled_dot_general


@functools.partial(custom_vjp, nondiff_argnums=(2, 3))
def _product(a: Any, b: Any, configs: tuple[BlockScaleConfig, ...], dtype: Any) -> Any:
    """The product of ``[B, M, K]`` and ``[B, N, K]``, both rounded to few bits."""
    if configs[0].mode == "mxfp8":
        return _scaled_product(a, b, configs, dtype)
    product = _scaled_product(a, b, configs, np.float32)
    return (product * (configs[0].global_scale * configs[1].global_scale)).astype(dtype)


def _product_forward(a: Any, b: Any, configs: Any, dtype: Any) -> tuple[Any, Any]:
    return _product(a, b, configs, dtype), (a, b)


def _product_backward(configs: Any, dtype: Any, saved: Any, g: Any) -> tuple[Any, Any]:
    """The derivative as if nothing were rounded; what was clipped has none."""
    a, b = saved
    flipped = jnp.matrix_transpose
    left, right, back = configs
    if back.mode == "mxfp8":
        d_a = _scaled_product(g, flipped(b), (back, right), dtype)
        d_b = _scaled_product(flipped(g), flipped(a), (back, left), dtype)
        return d_a.astype(a.dtype), d_b.astype(b.dtype)
    d_a, d_b = jnp.matmul(g, b), jnp.matmul(flipped(g), a)
    limits = [
        c.global_scale * _largest(c.data_type) * _largest(c.scale_type) for c in (left, right)
    ]
    d_a = jnp.where(jnp.abs(a) <= limits[0], d_a, 0)
    d_b = jnp.where(jnp.abs(b) <= limits[1], d_b, 0)
    return d_a.astype(a.dtype), d_b.astype(b.dtype)


_product.defvjp(_product_forward, _product_backward)


def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred_element_type: Any = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Array:
    """``dot_general`` of arrays that are rounded to a format of few bits.

    The derivative is that of the product without rounding, itself computed in few bits.

    Args:
        lhs: an array.
        rhs: an array.
        dimension_numbers: contracted and batch axes, as for ``dot_general``.
        preferred_element_type: the dtype of the result: float32, float16 or bfloat16.
        configs: formats for ``lhs``, ``rhs`` and the cotangent, from
            ``get_scaled_dot_general_config``; None rounds nothing.
        implementation: must be None; there is one implementation.

    Raises:
        ValueError: when contracted sizes are no multiples of the block size.
        TypeError: for another ``preferred_element_type``, with ``configs``.

    >>> x = jnp.ones((2, 32))
    >>> config = nn.get_scaled_dot_general_config("mxfp8")
    >>> nn.scaled_dot_general(x, x, (((1,), (1,)), ((), ())), configs=[config] * 3)
    Array([[32., 32.],
           [32., 32.]], dtype=float32)
    """
    if implementation is not None:
        warn_user(
            "scaled_dot_general: implementation is ignored, as there is only one.",
            DeprecationWarning,
        )
    if configs is None:
        return lax.dot_general(
            lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type
        )
    dtype = np.dtype(preferred_element_type)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float16), np.dtype(jnp.bfloat16)):
        raise TypeError(
            f"scaled_dot_general: preferred_element_type must be float32, float16 or bfloat16, "
            f"but it is {dtype}."
        )
    (contracted, batch) = dimension_numbers
    a, kept_a = _matrices(jnp.asarray(lhs), contracted[0], batch[0])
    b, kept_b = _matrices(jnp.asarray(rhs), contracted[1], batch[1])
    leading = tuple(jnp.shape(lhs)[i] for i in batch[0])
    out = _product(a, b, tuple(configs), dtype)
    return jnp.reshape(out, (*leading, *kept_a, *kept_b))


def _matrices(x: Any, contracted: Sequence[int], batch: Sequence[int]) -> tuple[Any, Any]:
    """An array as ``[batch, kept, contracted]``, and the sizes of the kept axes."""
    kept = [i for i in range(x.ndim) if i not in (*contracted, *batch)]
    sizes = [
        int(np.prod([x.shape[i] for i in axes], dtype=int)) for axes in (batch, kept, contracted)
    ]
    moved = jnp.transpose(x, (*batch, *kept, *contracted))
    return jnp.reshape(moved, sizes), tuple(x.shape[i] for i in kept)
