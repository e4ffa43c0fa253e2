"""Arguments of a convolution: dimension numbers, paddings, sizes; and its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bindax_core.extend import ShapedArray
from bindax_lax_basic.contract.dot_general import check_result_dtype
from bindax_lax_basic.contract.precision import PrecisionPair
from bindax_lax_basic.dtypes import ANY, DType
from bindax_lax_basic.rules.types import describe, larger, require_kind, require_same_dtype

__all__ = [
    "ConvDimensionNumbers",
    "ConvGeneralDilatedDimensionNumbers",
    "conv_dimension_numbers",
    "conv_general_permutations",
    "padtype_to_pads",
]


Dims = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


class ConvDimensionNumbers(NamedTuple):
    """Roles of the axes of the operands of a convolution, and of its result.

    Attributes:
        lhs_spec: the axes of the input: batch, feature, then the spatial axes.
        rhs_spec: the axes of the kernel: output feature, input feature, then the spatial axes.
        out_spec: the axes of the result: batch, feature, then the spatial axes.

    >>> from bindax_lax_basic import conv_dimension_numbers
    >>> numbers = conv_dimension_numbers((1, 3, 8), (4, 3, 2), ("NCW", "OIW", "NCW"))
    >>> isinstance(numbers, ConvDimensionNumbers), numbers.lhs_spec
    (True, (0, 1, 2))
    """

    lhs_spec: Dims
    rhs_spec: Dims
    out_spec: Dims


ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ConvDimensionNumbers | None
"""Legal ``dimension_numbers`` of convolutions."""


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Dimension numbers from what users write.

    Args:
        lhs_shape: the shape of the input.
        rhs_shape: the shape of the kernel.
        dimension_numbers: None for batch and features in front of the spatial axes; or three
            strings that name the axes, such as ``("NHWC", "HWIO", "NHWC")``, where N is batch, C
            feature, I and O input and output feature, and any other letter a spatial axis; or a
            ``ConvDimensionNumbers``.

    Raises:
        TypeError: when ranks differ or names do not fit.

    >>> conv_dimension_numbers((1, 8, 8, 3), (2, 2, 3, 4), ("NHWC", "HWIO", "NHWC")).rhs_spec
    (3, 2, 0, 1)
    """
    rank = len(lhs_shape)
    if len(rhs_shape) != rank:
        raise TypeError(
            f"a convolution needs an input and a kernel with equally many axes, but got the "
            f"shapes {tuple(lhs_shape)} and {tuple(rhs_shape)}."
        )
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        order = tuple(range(rank))
        return ConvDimensionNumbers(order, order, order)
    if not isinstance(dimension_numbers, (tuple, list)) or len(dimension_numbers) != 3:
        raise TypeError(
            f"dimension_numbers must be None, a ConvDimensionNumbers, or three strings for input, "
            f"kernel and result, but got {dimension_numbers!r}."
        )
    spatial = [c for c in dimension_numbers[1] if c not in "OI"]
    specs = []
    for i, (text, leading) in enumerate(zip(dimension_numbers, ("NC", "OI", "NC"), strict=True)):
        if sorted(text) != sorted([*leading, *spatial]) or len(set(text)) != rank:
            raise TypeError(
                f"dimension_numbers[{i}] is {text!r}; it must name each of the {rank} axes once: "
                f"{leading[0]}, {leading[1]}, and the same spatial axes as the others, "
                f"{spatial}."
            )
        specs.append(tuple([text.index(c) for c in (*leading, *spatial)]))
    return ConvDimensionNumbers(*specs)


def conv_general_permutations(dimension_numbers: tuple[str, str, str]) -> tuple[Dims, Dims, Dims]:
    """The axes of input, kernel and result, batch and features in front, from three strings.

    >>> conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    given: Any = dimension_numbers
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        raise TypeError(
            f"conv_general_permutations: dimension_numbers must be three strings, but it is "
            f"{dimension_numbers!r:.60}."
        )
    anything = (0,) * len(dimension_numbers[0])
    lhs, rhs, out = conv_dimension_numbers(anything, anything, tuple(dimension_numbers))
    return lhs, rhs, out


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """Explicit paddings for a name.

    Args:
        in_shape: the sizes of the spatial axes.
        window_shape: the sizes of the window.
        window_strides: its strides.
        padding: ``"VALID"`` for none; ``"SAME"`` for results of size ``ceil(size / stride)``, an
            odd rest behind; ``"SAME_LOWER"`` likewise, with an odd rest in front.

    Raises:
        ValueError: for another name.

    >>> padtype_to_pads((5, 6), (2, 3), (2, 1), "SAME")
    [(0, 1), (1, 1)]
    """
    name = str(padding).upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise ValueError(
            f"padding must be 'VALID', 'SAME' or 'SAME_LOWER', or a sequence of pairs, but got "
            f"{padding!r}."
        )
    pads = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = larger((-(-size // stride) - 1) * stride + window - size, 0)
        small, large = total // 2, total - total // 2
        pads.append((small, large) if name == "SAME" else (large, small))
    return pads


def dilated(size: int, dilation: int) -> int:
    """The size of an axis with ``dilation - 1`` holes between any two elements.

    >>> dilated(3, 2), dilated(0, 2)
    (5, 0)
    """
    return (size - 1) * dilation + 1 if size else 0


def spatial_sizes(shape: Sequence[int], spec: Dims) -> Dims:
    """The sizes of the spatial axes, in the order of a specification."""
    return tuple([shape[axis] for axis in spec[2:]])


NAME = "conv_general_dilated"


def conv_type(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    window_strides: Dims,
    padding: Pads,
    lhs_dilation: Dims,
    rhs_dilation: Dims,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    precision: PrecisionPair,
    preferred_element_type: DType | None,
) -> ShapedArray:
    """The ``abstract_eval`` rule of a convolution."""
    require_kind(NAME, lhs, ANY, 0)
    require_same_dtype(NAME, (lhs, rhs))
    if lhs.ndim != rhs.ndim or lhs.ndim < 2:
        raise TypeError(
            f"{NAME} needs an input and a kernel with equally many axes, at least 2, but got "
            f"{describe((lhs, rhs))}."
        )
    _check_numbers(lhs.ndim, dimension_numbers)
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    windows = window_strides, padding, lhs_dilation, rhs_dilation
    kernel = spatial_sizes(rhs.shape, rhs_spec)
    _check_windows(len(kernel), *windows)
    if 0 in kernel:
        raise ValueError(
            f"{NAME}: the kernel {rhs.str_short()} must have positive spatial sizes, but they are "
            f"{kernel}."
        )
    _check_features(lhs, rhs, dimension_numbers, feature_group_count, batch_group_count)
    dtype = lhs.dtype if preferred_element_type is None else preferred_element_type
    check_result_dtype(NAME, lhs.dtype, dtype)
    shape = [0] * lhs.ndim
    shape[out_spec[0]] = lhs.shape[lhs_spec[0]] // batch_group_count
    shape[out_spec[1]] = rhs.shape[rhs_spec[0]]
    sizes = zip(spatial_sizes(lhs.shape, lhs_spec), kernel, strict=True)
    for axis, (size, window), stride, (low, high), inner, holes in zip(
        out_spec[2:], sizes, *windows, strict=True
    ):
        padded = dilated(size, inner) + low + high
        if padded < 0:
            raise ValueError(
                f"{NAME}: the padding {(low, high)} cuts more off than the {dilated(size, inner)} "
                f"elements of the spatial axis of {lhs.str_short()}."
            )
        room = padded - dilated(window, holes)
        shape[axis] = larger(room // stride + 1, 0)
    weak = preferred_element_type is None and lhs.weak_type and rhs.weak_type
    return ShapedArray(tuple(shape), dtype, weak)


def _check_numbers(rank: int, numbers: ConvDimensionNumbers) -> None:
    for name, spec in zip(numbers._fields, numbers, strict=True):
        if sorted(spec) != list(range(rank)):
            raise TypeError(
                f"{NAME}: {name} of dimension_numbers is {spec}, but it must name each of the "
                f"{rank} axes once."
            )


def check_count(name: str, values: Sequence[Any], count: int) -> None:
    """Raise unless there is one value for each spatial axis."""
    if len(values) != count:
        raise TypeError(
            f"{NAME}: {name} {tuple(values)} must have one entry for each of the {count} spatial "
            f"axes."
        )


def _check_windows(count: int, *windows: Any) -> None:
    names = ("window_strides", "padding", "lhs_dilation", "rhs_dilation")
    for name, values in zip(names, windows, strict=True):
        check_count(name, values, count)
        if name != "padding" and any(v < 1 for v in values):
            raise ValueError(f"{NAME}: {name} must be positive, but is {values}.")


def _check_features(
    lhs: ShapedArray,
    rhs: ShapedArray,
    numbers: ConvDimensionNumbers,
    feature_groups: int,
    batch_groups: int,
) -> None:
    if feature_groups < 1 or batch_groups < 1:
        raise ValueError(
            f"{NAME}: feature_group_count and batch_group_count must be positive, but are "
            f"{feature_groups} and {batch_groups}."
        )
    if feature_groups > 1 and batch_groups > 1:
        raise ValueError(
            f"{NAME}: only one of feature_group_count, {feature_groups}, and batch_group_count, "
            f"{batch_groups}, can be more than 1."
        )
    batch, features = (lhs.shape[axis] for axis in numbers.lhs_spec[:2])
    out, inputs = (rhs.shape[axis] for axis in numbers.rhs_spec[:2])
    divided = (
        ("feature_group_count", feature_groups, "input features", features),
        ("feature_group_count", feature_groups, "output features", out),
        ("batch_group_count", batch_groups, "batch elements", batch),
        ("batch_group_count", batch_groups, "output features", out),
    )
    for name, groups, what, size in divided:
        if size % groups:
            raise ValueError(f"{NAME}: {name} {groups} does not divide the {size} {what}.")
    if features // feature_groups != inputs:
        raise ValueError(
            f"{NAME}: the kernel {rhs.str_short()} takes {inputs} input features, but the input "
            f"{lhs.str_short()} has {features} in {feature_groups} groups."
        )
