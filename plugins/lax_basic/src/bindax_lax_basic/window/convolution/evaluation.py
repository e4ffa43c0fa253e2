"""Evaluation of a convolution by NumPy: gathered windows, and one product of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bindax_lax_basic import dtypes
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.shape.slice_and_pad import pad_array
from bindax_lax_basic.window.convolution.dimension_numbers import (
    ConvDimensionNumbers,
    Dims,
    Pads,
    dilated,
)


def conv_impl(
    lhs: NumPyArray,
    rhs: NumPyArray,
    *,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    preferred_element_type: Any,
    **params: Any,
) -> Any:
    """Products of the matrix of all windows with the matrix of the kernel, for each group."""
    dtype = lhs.dtype if preferred_element_type is None else preferred_element_type
    wide = dtypes.accumulator_dtype(dtype)
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    x = lhs.transpose(lhs_spec).astype(wide, copy=False)
    kernel = rhs.transpose(rhs_spec).astype(wide, copy=False)
    batch, features, *size = x.shape
    if batch_group_count > 1:
        groups, batch = batch_group_count, batch // batch_group_count
        x = x.reshape(groups, batch, features, *size)
    else:
        groups, features = feature_group_count, features // feature_group_count
        x = np.moveaxis(x.reshape(batch, groups, features, *size), 1, 0)
    windows = _windows(x, kernel.shape[2:], **params)  # groups, batch, features, *out, *window
    n = len(size)
    out_size = windows.shape[3 : 3 + n]
    order = (0, 1, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n))
    summed = math.prod(kernel.shape[1:])
    rows = windows.transpose(order).reshape(groups, batch * math.prod(out_size), summed)
    matrices = kernel.reshape(groups, len(kernel) // groups, summed)
    out = np.matmul(rows, matrices.transpose(0, 2, 1))
    out = out.reshape(groups, batch, *out_size, -1 if out.size else out.shape[-1])
    out = np.moveaxis(np.moveaxis(out, -1, 1), 2, 0)  # batch, groups, features, *out
    out = out.reshape(batch, len(kernel), *out_size).transpose(np.argsort(out_spec))
    return out.astype(dtype, copy=False)


def _windows(
    x: NumPyArray,
    window: Dims,
    *,
    window_strides: Dims,
    padding: Pads,
    lhs_dilation: Dims,
    rhs_dilation: Dims,
    precision: Any,
) -> NumPyArray:
    """A view of all windows: the leading axes, positions of windows, positions within them."""
    lead = x.ndim - len(window)
    config = [(low, high, d - 1) for (low, high), d in zip(padding, lhs_dilation, strict=True)]
    dims = zip(x.shape[lead:], config, window, rhs_dilation, window_strides, strict=True)
    out = [
        max(0, (dilated(n, holes + 1) + low + high - dilated(k, d)) // s + 1)
        for n, (low, high, holes), k, d, s in dims
    ]
    if 0 in out or 0 in x.shape[:lead]:
        return np.zeros((*x.shape[:lead], *out, *window), x.dtype)
    x = pad_array(x, np.zeros((), x.dtype), padding_config=((0, 0, 0),) * lead + tuple(config))
    steps = x.strides[lead:]
    strides = [step * s for step, s in zip(steps, window_strides, strict=True)]
    inner = [step * d for step, d in zip(steps, rhs_dilation, strict=True)]
    return np.lib.stride_tricks.as_strided(
        x, (*x.shape[:lead], *out, *window), (*x.strides[:lead], *strides, *inner), writeable=False
    )
