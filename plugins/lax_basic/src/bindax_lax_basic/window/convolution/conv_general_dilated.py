"""Convolutions of any number of spatial axes, with strides, dilations and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, ShapedArray, primitive, rules, typeof
from bindax_core.sharding import ambiguous
from bindax_lax_basic.contract.precision import element_type_argument, precision_argument
from bindax_lax_basic.rules.linear import multilinear
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.sharding import divides, entries
from bindax_lax_basic.rules.types import static_int, static_ints
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.rev import rev
from bindax_lax_basic.shape.transpose import transpose_p
from bindax_lax_basic.window.convolution.dimension_numbers import (
    NAME,
    ConvDimensionNumbers,
    Dims,
    Pads,
    check_count,
    conv_dimension_numbers,
    conv_type,
    dilated,
    padtype_to_pads,
    spatial_sizes,
)
from bindax_lax_basic.window.convolution.evaluation import conv_impl
from bindax_lax_basic.window.convolution.rules import conv_lowering, conv_transpose_rule, conv_vmap
from bindax_transforms.extend import decided

__all__ = [
    "conv",
    "conv_general_dilated",
    "conv_general_dilated_p",
    "conv_transpose",
    "conv_with_general_padding",
]


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Convolve an array with a kernel, which is not reversed (a cross-correlation).

    Args:
        lhs: the input, with a batch axis, a feature axis, and spatial axes.
        rhs: the kernel, of the same dtype, with two feature axes and as many spatial axes.
        window_strides: the step between windows, for each spatial axis.
        padding: a name, as for ``padtype_to_pads``, or for each spatial axis a pair of the zeros
            in front and behind; negative ones crop.
        lhs_dilation: one more than the zeros put between elements of the input; 1 by default.
        rhs_dilation: likewise for the kernel.
        dimension_numbers: which axis is which, as for ``conv_dimension_numbers``.
        feature_group_count: the number of groups of features that are convolved separately; the
            kernel takes the input features of one group.
        batch_group_count: the number of groups of the batch that are convolved separately, each
            giving its part of the output features.
        precision: as for ``dot_general``.
        preferred_element_type: the dtype to compute in and return; by default the operands'.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError, ValueError: when sizes, groups or dimension numbers do not fit.

    >>> x, kernel = np.arange(5.0).reshape(1, 1, 5), np.ones((1, 1, 3))
    >>> conv_general_dilated(x, kernel, (2,), "VALID")
    Array([[[3., 9.]]], dtype=float64)
    """
    first = lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation
    groups = feature_group_count, batch_group_count
    arguments = *first, dimension_numbers, *groups, precision, preferred_element_type
    if out_sharding is not None:
        return decided(conv_general_dilated, out_sharding, arguments)
    return _convolved(*arguments)


def _convolved(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    dimension_numbers: Any,
    feature_group_count: int,
    batch_group_count: int,
    precision: Any,
    preferred_element_type: Any,
) -> Array:
    lhs, rhs = adopt_dtype(lhs, rhs)
    shapes = typeof(lhs).shape, typeof(rhs).shape
    numbers = conv_dimension_numbers(*shapes, dimension_numbers)
    strides = static_ints(NAME, "window_strides", window_strides)
    inner = _dilation("lhs_dilation", lhs_dilation, len(shapes[0]) - 2)
    holes = _dilation("rhs_dilation", rhs_dilation, len(shapes[0]) - 2)
    if isinstance(padding, str):
        padding = _named_padding(padding, shapes, numbers, strides, inner, holes)
    return conv_general_dilated_p.bind(
        lhs,
        rhs,
        window_strides=strides,
        padding=_pairs(padding),
        lhs_dilation=inner,
        rhs_dilation=holes,
        dimension_numbers=numbers,
        feature_group_count=static_int(NAME, "feature_group_count", feature_group_count),
        batch_group_count=static_int(NAME, "batch_group_count", batch_group_count),
        precision=precision_argument(precision),
        preferred_element_type=element_type_argument(preferred_element_type),
    )


def _dilation(name: str, values: Any, count: int) -> Dims:
    return (1,) * count if values is None else static_ints(NAME, name, values)


def _named_padding(
    padding: str,
    shapes: tuple[Dims, Dims],
    numbers: ConvDimensionNumbers,
    strides: Dims,
    inner: Dims,
    holes: Dims,
) -> Pads:
    if any(d != 1 for d in inner):
        raise ValueError(
            f"{NAME}: padding {padding!r} is not defined for an input that is dilated, by "
            f"{inner}; give it as pairs, or use conv_transpose."
        )
    window = _window(shapes[1], numbers, holes)
    check_count("window_strides", strides, len(window))
    sizes = spatial_sizes(shapes[0], numbers.lhs_spec)
    positive = [max(stride, 1) for stride in strides]  # the type rule refuses others
    return tuple(padtype_to_pads(sizes, window, positive, padding))


def _window(shape: Dims, numbers: ConvDimensionNumbers, holes: Dims) -> Dims:
    sizes = spatial_sizes(shape, numbers.rhs_spec)
    check_count("rhs_dilation", holes, len(sizes))
    return tuple([dilated(k, d) for k, d in zip(sizes, holes, strict=True)])


def _pairs(padding: Any) -> Pads:
    given = padding if np.iterable(padding) else [()]
    pairs = [static_ints(NAME, "padding", pair) for pair in given]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"{NAME}: padding must be a name, or a pair (front, behind) for each spatial axis, "
            f"but is {padding!r}."
        )
    return tuple([(low, high) for low, high in pairs])


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Convolve with a named padding, batch and features in front of the spatial axes.

    Args:
        lhs: the input, of shape ``(batch, features, *spatial)``.
        rhs: the kernel, of shape ``(output features, input features, *spatial)``.
        window_strides: the step between windows, for each spatial axis.
        padding: a name, as for ``padtype_to_pads``.
        precision: as for ``dot_general``.
        preferred_element_type: as for ``conv_general_dilated``.

    >>> conv(np.ones((2, 3, 8, 8)), np.ones((4, 3, 3, 3)), (2, 2), "SAME").shape
    (2, 4, 4, 4)
    """
    arithmetic = {"precision": precision, "preferred_element_type": preferred_element_type}
    return conv_general_dilated(lhs, rhs, window_strides, padding, **arithmetic)


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Convolve with any padding and dilation, batch and features in front.

    Args:
        lhs: as for ``conv``.
        rhs: as for ``conv``.
        window_strides: the step between windows, for each spatial axis.
        padding: as for ``conv_general_dilated``.
        lhs_dilation: as for ``conv_general_dilated``.
        rhs_dilation: as for ``conv_general_dilated``.
        precision: as for ``dot_general``.
        preferred_element_type: as for ``conv_general_dilated``.

    >>> x, kernel = np.ones((1, 1, 4)), np.ones((1, 1, 2))
    >>> conv_with_general_padding(x, kernel, (1,), [(1, 0)], (2,), None).shape
    (1, 1, 7)
    """
    windows = window_strides, padding, lhs_dilation, rhs_dilation
    arithmetic = {"precision": precision, "preferred_element_type": preferred_element_type}
    return conv_general_dilated(lhs, rhs, *windows, **arithmetic)


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Any,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Array:
    """The "transposed convolution" of neural networks: a convolution of the dilated input.

    Args:
        lhs: the input.
        rhs: the kernel.
        strides: the factor by which each spatial axis grows.
        padding: ``"SAME"`` for results of size ``stride * size``, ``"VALID"`` for all windows that
            touch the input, or a pair for each spatial axis.
        rhs_dilation: as for ``conv_general_dilated``.
        dimension_numbers: as for ``conv_dimension_numbers``; by default features are last, as in
            ``("NHWC", "HWIO", "NHWC")``.
        transpose_kernel: whether the kernel is reversed and its feature axes are exchanged, which
            makes this the gradient of the convolution with that kernel.
        precision: as for ``dot_general``.
        preferred_element_type: as for ``conv_general_dilated``.
        use_consistent_padding: whether pairs mean the padding of the convolution that this is the
            gradient of, as names do, rather than the padding of the dilated input.

    >>> conv_transpose(np.ones((1, 4, 3)), np.ones((2, 3, 5)), (2,), "SAME").shape
    (1, 8, 5)
    """
    shapes = typeof(lhs).shape, typeof(rhs).shape
    n = len(shapes[0])
    if dimension_numbers is None:
        last = (0, n - 1, *range(1, n - 1))
        dimension_numbers = ConvDimensionNumbers(last, (n - 1, n - 2, *range(n - 2)), last)
    numbers = conv_dimension_numbers(*shapes, dimension_numbers)
    steps = static_ints("conv_transpose", "strides", strides)
    holes = _dilation("rhs_dilation", rhs_dilation, n - 2)
    window = _window(shapes[1], numbers, holes)
    check_count("strides", steps, len(window))
    pads = _padding_of_transpose(padding, window, steps, use_consistent_padding)
    if transpose_kernel:
        rhs = _transposed_kernel(rhs, numbers.rhs_spec)
    arithmetic = {"precision": precision, "preferred_element_type": preferred_element_type}
    return conv_general_dilated(lhs, rhs, (1,) * (n - 2), pads, steps, holes, numbers, **arithmetic)


def _transposed_kernel(rhs: Any, spec: Dims) -> Any:
    out, inputs, *spatial = spec
    order = list(range(len(spec)))
    order[out], order[inputs] = inputs, out
    return transpose_p.bind(rev(rhs, spatial), permutation=tuple(order))


def _padding_of_transpose(padding: Any, window: Dims, steps: Dims, consistent: bool) -> Pads:
    if isinstance(padding, str):
        both = zip(window, steps, strict=True)
        return tuple([_transposed_padding(k, s, padding) for k, s in both])
    pads = _pairs(padding)
    check_count("padding", pads, len(window))
    if not consistent:
        return pads
    return tuple([(k - 1 - a, k - 1 - b) for k, (a, b) in zip(window, pads, strict=True)])


def _transposed_padding(window: int, stride: int, padding: str) -> tuple[int, int]:
    name = padding.upper()
    if name == "SAME":
        total = window + stride - 2
        front = window - 1 if stride > window - 1 else -(-total // 2)
    elif name == "VALID":
        total = window + stride - 2 + max(window - stride, 0)
        front = window - 1
    else:
        raise ValueError(
            f"conv_transpose: padding must be 'SAME' or 'VALID', or a pair for each spatial axis, "
            f"but is {padding!r}."
        )
    return front, total - front


def _conv_sharding(
    primitive: Primitive, lhs: ShapedArray, rhs: ShapedArray, **params: Any
) -> tuple[Any, ...]:
    (out,) = primitive.out_avals((lhs.plain(), rhs.plain()), params)
    given, _, made = params["dimension_numbers"]
    own, found = entries(lhs), [None] * lhs.ndim
    if any(entries(rhs)) or own[given[1]] is not None:
        raise ambiguous(primitive, "has a divided kernel, or divided channels", [lhs, rhs])
    for i, (source, target) in enumerate(zip(given, made, strict=True)):
        if i == 1 or own[source] is None:
            continue
        grouped = i == 0 and params["batch_group_count"] > 1
        if grouped or not divides(lhs, own[source], out.shape[target]):
            problem = f"gives {out.str_short()}, of which axis {target} cannot be divided"
            raise ambiguous(primitive, problem, [lhs, rhs])
        found[target] = own[source]
    return tuple(found)


conv_general_dilated_p: Primitive = primitive(
    NAME,
    rules.impl(conv_impl, slow=True),
    rules.abstract_eval(conv_type),
    multilinear(),
    rules.vmap(conv_vmap, takes_primitive=True),
    rules.transpose(conv_transpose_rule, takes_primitive=True),
    in_wider(conv_lowering),
    rules.sharding(_conv_sharding, takes_primitive=True),
)
