"""The windows of a convolution as an array, kernels that differ by place, and shapes of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bindax_core.extend import Array, DebugInfo, ShapedArray, typeof
from bindax_lax_basic.contract.dot_general import dot_general
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.types import static_ints
from bindax_lax_basic.shape.transpose import transpose
from bindax_lax_basic.window.convolution.conv_general_dilated import (
    conv_general_dilated,
    conv_transpose,
)
from bindax_lax_basic.window.convolution.dimension_numbers import (
    ConvDimensionNumbers,
    conv_dimension_numbers,
)
from bindax_transforms import trace_to_jaxpr

__all__ = [
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_general_shape_tuple",
    "conv_shape_tuple",
    "conv_transpose_shape_tuple",
]

Shape = tuple[int, ...]


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The windows that a convolution sees, each as a vector along the feature axis.

    Args:
        lhs: the input, as for ``conv_general_dilated``.
        filter_shape: the size of a window on each spatial axis.
        window_strides: as for ``conv_general_dilated``, like all that follow.
        padding: a name or pairs.
        lhs_dilation: the dilation of the input.
        rhs_dilation: the dilation of the windows.
        dimension_numbers: which axis is which; the spatial axes of the kernel are in the order of
            ``filter_shape``.
        precision: of the products, which are with 0 and 1.
        preferred_element_type: the dtype of the result.

    Returns:
        An array like the result of the convolution, with ``features * prod(filter_shape)``
        features: those of the input vary slowest, the last axis of the window fastest.

    >>> conv_general_dilated_patches(np.array([[[1.0, 2.0, 3.0]]]), (2,), (1,), "VALID")
    Array([[[1., 2.],
            [2., 3.]]], dtype=float64)
    """
    aval = typeof(lhs)
    window = static_ints("conv_general_dilated_patches", "filter_shape", filter_shape)
    if len(window) != aval.ndim - 2 or any(size < 1 for size in window):
        raise ValueError(
            f"conv_general_dilated_patches: filter_shape {window} must have a positive size for "
            f"each of the {aval.ndim - 2} spatial axes of {aval.str_short()}."
        )
    numbers = conv_dimension_numbers(aval.shape, (1, 1, *window), dimension_numbers)
    features = aval.shape[numbers.lhs_spec[1]]
    if not features:
        raise ValueError(
            f"conv_general_dilated_patches takes at least one feature, but got {aval.str_short()}."
        )
    return conv_general_dilated(
        lhs,
        _one_of_each(window, features, numbers.rhs_spec, aval.dtype),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _one_of_each(window: Shape, features: int, spec: Shape, dtype: DType) -> Any:
    """The kernel whose output features are the elements of a window."""
    size = math.prod(window)
    kernel = np.eye(size).reshape(size, 1, *window)
    kernel = np.tile(kernel, (features, *(1 for _ in kernel.shape[1:])))
    return np.moveaxis(kernel, range(kernel.ndim), spec).astype(dtype)


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Array:
    """Convolve with a kernel of its own for each place of the result (a locally connected layer).

    Args:
        lhs: the input, as for ``conv_general_dilated``.
        rhs: the kernels. Their spatial axes are those of the result; their input features are the
            features of ``conv_general_dilated_patches``.
        window_strides: as for ``conv_general_dilated``.
        padding: as for ``conv_general_dilated``.
        filter_shape: the size of a window on each spatial axis.
        lhs_dilation: as for ``conv_general_dilated``.
        rhs_dilation: as for ``conv_general_dilated``.
        dimension_numbers: as for ``conv_general_dilated``.
        precision: as for ``dot_general``.

    Raises:
        TypeError: when the kernels do not fit the windows.

    >>> x, kernels = np.array([[[1.0, 2.0, 3.0]]]), np.array([[[1.0, 10.0], [1.0, 10.0]]])
    >>> conv_general_dilated_local(x, kernels, (1,), "VALID", (2,))
    Array([[[ 3., 50.]]], dtype=float64)
    """
    lhs, rhs = adopt_dtype(lhs, rhs)
    numbers = conv_dimension_numbers(typeof(lhs).shape, typeof(rhs).shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, numbers, precision
    )
    _, inputs, *places = numbers.rhs_spec
    batch, features, *spatial = numbers.out_spec
    _check_kernels(typeof(rhs), numbers, typeof(patches).shape)
    out = dot_general(patches, rhs, (([features], [inputs]), (spatial, places)), precision)
    order = np.argsort([*spatial, batch, features])  # of the axes: places, batch, features
    return transpose(out, [int(axis) for axis in order])


def _check_kernels(rhs: ShapedArray, numbers: ConvDimensionNumbers, patches: Shape) -> None:
    found = [rhs.shape[axis] for axis in numbers.rhs_spec[1:]]
    wanted = [patches[axis] for axis in numbers.out_spec[1:]]
    if found != wanted:
        raise TypeError(
            f"conv_general_dilated_local: the kernels {rhs.str_short()} have {found[0]} input "
            f"features at the places {tuple(found[1:])}, but the windows have {wanted[0]} elements "
            f"at the places {tuple(wanted[1:])}."
        )


def _shape_of(function: Callable[..., Any], *shapes: Sequence[int]) -> Shape:
    avals = [ShapedArray(static_ints("conv", "shape", s), np.dtype(np.float32)) for s in shapes]
    traced = trace_to_jaxpr(lambda *xs: [function(*xs)], avals, DebugInfo("shape", function))
    return traced.out_avals[0].shape


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: Any,
    batch_group_count: int = 1,
) -> Shape:
    """The shape of a convolution with batch and features in front of the spatial axes.

    Args:
        lhs_shape: the shape of the input.
        rhs_shape: the shape of the kernel.
        strides: as ``window_strides`` of ``conv_general_dilated``.
        pads: as ``padding`` of ``conv_general_dilated``.
        batch_group_count: as for ``conv_general_dilated``.

    >>> conv_shape_tuple((1, 4, 8), (6, 4, 3), (2,), "SAME")
    (1, 6, 4)
    """
    arguments = {"window_strides": strides, "padding": pads, "batch_group_count": batch_group_count}
    return _shape_of(partial(conv_general_dilated, **arguments), lhs_shape, rhs_shape)


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> Shape:
    """The shape of a convolution; arguments as for ``conv_general_dilated``.

    >>> conv_general_shape_tuple((1, 8, 4), (3, 4, 6), (2,), "SAME", ("NHC", "HIO", "NHC"))
    (1, 4, 6)
    """
    arguments = {"padding": padding, "dimension_numbers": dimension_numbers}
    function = partial(conv_general_dilated, window_strides=window_strides, **arguments)
    return _shape_of(function, lhs_shape, rhs_shape)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> Shape:
    """The shape of a transposed convolution; arguments as for ``conv_transpose``.

    >>> conv_transpose_shape_tuple((1, 8, 4), (3, 4, 6), (2,), "SAME", ("NHC", "HIO", "NHC"))
    (1, 16, 6)
    """
    arguments = {"padding": padding, "dimension_numbers": dimension_numbers}
    function = partial(conv_transpose, strides=window_strides, **arguments)
    return _shape_of(function, lhs_shape, rhs_shape)
