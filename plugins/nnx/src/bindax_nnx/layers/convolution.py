"""Convolutions, with features last."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array, typeof
from bindax_nnx._paths import layer_name
from bindax_nnx.layers._common import (
    Initializer,
    Layer,
    Metadata,
    PromoteDtype,
    array_of,
    check_features,
    default_kernel_init,
    of_products,
    parameter,
    promoted,
    zeros,
)
from bindax_nnx.rngs import Rngs
from bindax_nnx.variables import Param

Sizes = int | Sequence[int]
Padding = str | int | Sequence[Any]
_MODES = {"CIRCULAR": "wrap", "REFLECT": "reflect"}


def _check_axes(layer: Any, inputs: Any) -> None:
    """Raise unless an input has the spatial axes of a layer."""
    shape = typeof(array_of(inputs)).shape
    if len(shape) <= len(layer.kernel_size):
        raise ValueError(
            f"{layer_name(layer)} needs {len(layer.kernel_size)} spatial axes before the axis of "
            f"the features, but got the shape {shape}."
        )


def _each(value: Sizes | None, rank: int) -> tuple[int, ...]:
    """One number for each spatial axis."""
    if value is None:
        value = 1
    return (value,) * rank if isinstance(value, int) else tuple(value)


def _padding(given: Padding, rank: int) -> Any:
    if isinstance(given, str):
        return given
    if isinstance(given, int):
        return [(given, given)] * rank
    if len(given) != rank:
        raise ValueError(
            f"padding must have an entry for each of {rank} spatial axes, but is {given!r}."
        )
    return [(p, p) if isinstance(p, int) else tuple(p) for p in given]


def _dimensions(rank: int) -> lax.ConvDimensionNumbers:
    """Batch first, features last; kernels with their features last."""
    spatial = tuple(range(1, rank + 1))
    return lax.ConvDimensionNumbers(
        (0, rank + 1, *spatial), (rank + 1, rank, *range(rank)), (0, rank + 1, *spatial)
    )


class Conv(Layer):
    """A convolution over spatial axes between batch axes and features.

    Args:
        in_features: the number of features of inputs.
        out_features: the number of features of results.
        kernel_size: the sizes of the kernel along the spatial axes.
        strides: the distance between windows.
        padding: ``"SAME"``, ``"VALID"``, ``"CIRCULAR"``, ``"REFLECT"``, ``"CAUSAL"``, a number, or
            a pair of numbers for each spatial axis.
        input_dilation: the distance between elements of inputs.
        kernel_dilation: the distance between elements of the kernel.
        feature_group_count: in how many groups of features the convolution is divided.
        use_bias: whether to add a bias.
        mask: multiplied with the kernel.
        dtype: the dtype of the computation; by default that of inputs and parameters together.
        param_dtype: the dtype of the parameters.
        precision: of the multiplication.
        kernel_init: initial values of the kernel.
        bias_init: initial values of the bias.
        kernel_metadata: metadata of the variable of the kernel.
        bias_metadata: metadata of the variable of the bias.
        conv_general_dilated: convolves in place of ``bindax.lax.conv_general_dilated``.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        preferred_element_type: the dtype of the products.
        rngs: random streams.

    >>> import numpy as np
    >>> layer = Conv(3, 4, (3, 3), strides=2, rngs=Rngs(0))
    >>> layer(np.ones((1, 8, 8, 3), np.float32)).shape
    (1, 4, 4, 4)
    """

    in_features: int
    out_features: int
    kernel_size: tuple[int, ...]
    dtype: Any
    param_dtype: Any
    precision: Any
    conv_general_dilated: Callable[..., Any]
    promote_dtype: PromoteDtype

    def __init__(
        self,
        in_features: int,
        out_features: int,
        kernel_size: Sizes,
        strides: Sizes | None = 1,
        *,
        padding: Padding = "SAME",
        input_dilation: Sizes | None = 1,
        kernel_dilation: Sizes | None = 1,
        feature_group_count: int = 1,
        use_bias: bool = True,
        mask: Any = None,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        precision: Any = None,
        kernel_init: Initializer = default_kernel_init,
        bias_init: Initializer = zeros,
        kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        conv_general_dilated: Callable[..., Any] = lax.conv_general_dilated,
        promote_dtype: PromoteDtype = None,
        preferred_element_type: Any = None,
        rngs: Rngs,
    ) -> None:
        size = (kernel_size,) if isinstance(kernel_size, int) else tuple(kernel_size)
        if in_features % feature_group_count:
            raise ValueError(
                f"Conv cannot divide {in_features} features in {feature_group_count} groups."
            )
        shape = (*size, in_features // feature_group_count, out_features)
        self.kernel: Param[Any] = parameter(
            self, "kernel", kernel_init, rngs, shape, param_dtype, kernel_metadata
        )
        self.bias: Param[Any] | None = None
        if use_bias:
            bias = (out_features,)
            self.bias = parameter(self, "bias", bias_init, rngs, bias, param_dtype, bias_metadata)
        rank = len(size)
        self.in_features, self.out_features, self.kernel_size = in_features, out_features, size
        self.strides: tuple[int, ...] = _each(strides, rank)
        self.padding: Any = _frozen(_padding(padding, rank))
        self.input_dilation: tuple[int, ...] = _each(input_dilation, rank)
        self.kernel_dilation: tuple[int, ...] = _each(kernel_dilation, rank)
        self.feature_group_count = feature_group_count
        self.mask: Any | None = None if mask is None else _mask(mask, shape)
        self.dtype, self.param_dtype, self.precision = dtype, param_dtype, precision
        self.conv_general_dilated, self.promote_dtype = conv_general_dilated, promote_dtype
        self.preferred_element_type = preferred_element_type

    def __call__(self, inputs: Any, out_sharding: Any = None) -> Array:
        """Apply the layer to an array of batch axes, spatial axes and features."""
        _check_axes(self, inputs)
        check_features(self, inputs, self.in_features)
        x, kernel, bias = promoted(
            inputs, self.kernel, self.bias, dtype=self.dtype, by=self.promote_dtype
        )
        if self.mask is not None:
            kernel = kernel * np.asarray(self.mask, kernel.dtype)
        rank = len(self.kernel_size)
        batch = x.shape[: -rank - 1]
        x = jnp.reshape(x, (math.prod(batch), *x.shape[-rank - 1 :]))
        x, padding = self._padded(x)
        y = self.conv_general_dilated(
            x,
            kernel,
            self.strides,
            padding,
            lhs_dilation=self.input_dilation,
            rhs_dilation=self.kernel_dilation,
            dimension_numbers=_dimensions(rank),
            feature_group_count=self.feature_group_count,
            precision=self.precision,
            **of_products(self.preferred_element_type, out_sharding),
        )
        y = y if bias is None else y + bias
        return y if len(batch) == 1 else jnp.reshape(y, (*batch, *y.shape[1:]))

    def _padded(self, x: Any) -> tuple[Any, Any]:
        """The input with the padding that the convolution itself does not know."""
        if not isinstance(self.padding, str):
            return x, list(self.padding)
        sizes = [
            (k - 1) * d + 1 for k, d in zip(self.kernel_size, self.kernel_dilation, strict=True)
        ]
        if self.padding == "CAUSAL":
            if len(sizes) != 1:
                raise ValueError(
                    f"causal padding is for one spatial axis, but the kernel has {len(sizes)}."
                )
            return x, [(sizes[0] - 1, 0)]
        if self.padding not in _MODES:
            return x, self.padding
        widths = [(0, 0), *[((n - 1) // 2, n // 2) for n in sizes], (0, 0)]
        return jnp.pad(x, widths, mode=_MODES[self.padding]), "VALID"


def _frozen(padding: Any) -> Any:
    return padding if isinstance(padding, str) else tuple(padding)


def _mask(mask: Any, shape: tuple[int, ...]) -> Any:
    """A constant array of the shape of a kernel as nested tuples, which are hashable."""
    if np.shape(mask) != shape:
        raise ValueError(
            f"the mask of a convolution must have the shape of its kernel, {shape}, but has "
            f"{np.shape(mask)}."
        )

    def frozen(x: Any) -> Any:
        return tuple(map(frozen, x)) if isinstance(x, list) else x

    return frozen(np.asarray(mask).tolist())


class ConvTranspose(Layer):
    """A transposed convolution: its strides make results larger.

    The arguments are those of ``Conv``, without groups and dilation of inputs. With the padding
    ``"CIRCULAR"`` results are as large as inputs times strides, and what goes beyond an end is
    added at the other one.

    Args:
        transpose_kernel: whether the kernel is flipped and its features exchanged, so that the
            layer is the derivative of the convolution with that kernel.

    >>> import numpy as np
    >>> layer = ConvTranspose(3, 4, (3, 3), strides=(2, 2), rngs=Rngs(0))
    >>> layer(np.ones((1, 8, 8, 3), np.float32)).shape
    (1, 16, 16, 4)
    """

    in_features: int
    out_features: int
    kernel_size: tuple[int, ...]
    dtype: Any
    param_dtype: Any
    precision: Any
    transpose_kernel: bool
    promote_dtype: PromoteDtype

    def __init__(
        self,
        in_features: int,
        out_features: int,
        kernel_size: Sizes,
        strides: Sizes | None = 1,
        *,
        padding: Padding = "SAME",
        kernel_dilation: Sizes | None = 1,
        use_bias: bool = True,
        mask: Any = None,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        precision: Any = None,
        kernel_init: Initializer = default_kernel_init,
        bias_init: Initializer = zeros,
        transpose_kernel: bool = False,
        kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        promote_dtype: PromoteDtype = None,
        preferred_element_type: Any = None,
        rngs: Rngs,
    ) -> None:
        size = (kernel_size,) if isinstance(kernel_size, int) else tuple(kernel_size)
        features = (out_features, in_features) if transpose_kernel else (in_features, out_features)
        shape = (*size, *features)
        self.kernel: Param[Any] = parameter(
            self, "kernel", kernel_init, rngs, shape, param_dtype, kernel_metadata
        )
        self.bias: Param[Any] | None = None
        if use_bias:
            bias = (out_features,)
            self.bias = parameter(self, "bias", bias_init, rngs, bias, param_dtype, bias_metadata)
        rank = len(size)
        self.in_features, self.out_features, self.kernel_size = in_features, out_features, size
        self.strides: tuple[int, ...] = _each(strides, rank)
        self.padding: Any = _frozen(_padding(padding, rank))
        self.kernel_dilation: tuple[int, ...] = _each(kernel_dilation, rank)
        self.mask: Any | None = None if mask is None else _mask(mask, shape)
        self.dtype, self.param_dtype, self.precision = dtype, param_dtype, precision
        self.transpose_kernel, self.promote_dtype = transpose_kernel, promote_dtype
        self.preferred_element_type = preferred_element_type

    def __call__(self, inputs: Any) -> Array:
        """Apply the layer to an array of batch axes, spatial axes and features."""
        _check_axes(self, inputs)
        check_features(self, inputs, self.in_features)
        x, kernel, bias = promoted(
            inputs, self.kernel, self.bias, dtype=self.dtype, by=self.promote_dtype
        )
        if self.mask is not None:
            kernel = kernel * np.asarray(self.mask, kernel.dtype)
        rank = len(self.kernel_size)
        batch = x.shape[: -rank - 1]
        x = jnp.reshape(x, (math.prod(batch), *x.shape[-rank - 1 :]))
        is_circular = self.padding == "CIRCULAR"
        padding = "VALID" if is_circular else self.padding
        y = lax.conv_transpose(
            x,
            kernel,
            self.strides,
            padding if isinstance(padding, str) else list(padding),
            rhs_dilation=self.kernel_dilation,
            dimension_numbers=_dimensions(rank),
            transpose_kernel=self.transpose_kernel,
            precision=self.precision,
            **of_products(self.preferred_element_type),
        )
        if is_circular:
            sizes = [n * s for n, s in zip(x.shape[1:-1], self.strides, strict=True)]
            for axis, size in enumerate(sizes, 1):
                y = _wrapped(y, axis, size, larger_first=not self.transpose_kernel)
        y = jnp.reshape(y, (*batch, *y.shape[1:]))
        return y if bias is None else y + bias


def _wrapped(y: Any, axis: int, size: int, *, larger_first: bool) -> Any:
    """The sums of elements whose positions along an axis differ by multiples of a size.

    Position 0 is the middle of what is too much, the larger part of it ahead or behind.
    """
    missing = -(y.shape[axis] - size) % (2 * size)
    less, more = missing // 2, missing - missing // 2
    widths = [(0, 0)] * y.ndim
    widths[axis] = (more, less) if larger_first else (less, more)
    y = jnp.pad(y, widths)
    periods = (*y.shape[:axis], -1, size, *y.shape[axis + 1 :])
    return jnp.reshape(y, periods).sum(axis=axis)
