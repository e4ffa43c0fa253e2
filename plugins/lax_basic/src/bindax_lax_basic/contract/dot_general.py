"""Contraction of two arrays: dot_general, and dot for vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    config,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.contract import precision as precisions
from bindax_lax_basic.contract.precision import DotAlgorithm, PrecisionLike, ProductPrecision
from bindax_lax_basic.contract.sharding import dot_sharding
from bindax_lax_basic.dtypes import ANY, DType
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import Batched, Values, multilinear
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.types import describe, require_kind, require_same_dtype, static_ints
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.transpose import moveaxis, transpose_p
from bindax_transforms.extend import decided
from bindax_transforms.zeros import UndefPrimal

__all__ = ["DotDimensionNumbers", "batch_matmul", "dot", "dot_general", "dot_general_p"]


Dims = tuple[int, ...]
DimensionNumbers = tuple[tuple[Dims, Dims], tuple[Dims, Dims]]
"""((contracting axes of lhs, of rhs), (batch axes of lhs, of rhs))."""

PLAIN: Final[dict[int, DimensionNumbers]] = {
    1: (((0,), (0,)), ((), ())),
    2: (((1,), (0,)), ((), ())),
}
"""The numbers of products of a vector or matrix by another one, in the order of ``numpy.dot``."""


DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
"""Legal ``dimension_numbers`` of ``dot_general``."""


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Contract two arrays over some axes, for each index of some batch axes.

    Args:
        lhs: an array.
        rhs: an array; where its dtype is another one, both are converted to the wider one.
        dimension_numbers: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``, the
            axes of each; paired axes have equal sizes. None for ``dot``.
        precision: None, a ``Precision`` (or its name), one for each operand, or the whole
            algorithm: a ``DotAlgorithm``, or a ``DotAlgorithmPreset`` (or its name).
        preferred_element_type: the dtype to compute in and return; by default the operands'.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Returns:
        An array whose axes are the batch axes, the other axes of ``lhs``, those of ``rhs``.

    Raises:
        TypeError: when dtypes, sizes or dimension numbers do not agree.

    >>> a, b = np.ones((2, 3)), np.ones((3, 4))
    >>> dot_general(a, b, (((1,), (0,)), ((), ()))).shape
    (2, 4)
    """
    if out_sharding is not None:
        return decided(
            dot_general,
            out_sharding,
            (lhs, rhs, dimension_numbers, precision, preferred_element_type),
        )
    if dimension_numbers is None:
        return dot(lhs, rhs, precision=precision, preferred_element_type=preferred_element_type)
    try:
        (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    except (TypeError, ValueError):
        raise TypeError(
            f"dot_general: dimension_numbers must be ((lhs_contracting, rhs_contracting), "
            f"(lhs_batch, rhs_batch)), but got {dimension_numbers!r}."
        ) from None

    def axes(values: Any, rank: int) -> Dims:
        numbers = static_ints("dot_general", "dimension_numbers", values)
        return tuple([axis + rank if -rank <= axis < 0 else axis for axis in numbers])

    left, right = len(typeof(lhs).shape), len(typeof(rhs).shape)
    contract = axes(lhs_contract, left), axes(rhs_contract, right)
    batch = axes(lhs_batch, left), axes(rhs_batch, right)
    return _contracted(lhs, rhs, (contract, batch), precision, preferred_element_type)


def _contracted(
    lhs: Any, rhs: Any, numbers: DimensionNumbers, precision: PrecisionLike, element_type: Any
) -> Any:
    """The product over axes that are counted from the start."""
    wanted = precisions.element_type_argument(element_type)
    lhs, rhs = adopt_dtype(lhs, rhs)
    lhs, rhs = precisions.of_one_dtype(lhs, rhs, wanted)
    how: ProductPrecision = None
    if precision is not None or config.default_matmul_precision is not None:
        types = typeof(lhs).dtype, typeof(rhs).dtype
        result = types[0] if wanted is None else wanted
        how = precisions.product_precision(precision, *types, result)
    return _product(lhs, rhs, numbers, how, wanted)


def _product(
    lhs: Any, rhs: Any, numbers: DimensionNumbers, how: ProductPrecision, wanted: DType | None
) -> Any:
    """Bind the primitive; what an algorithm rounds is rounded before and after."""
    if not isinstance(how, DotAlgorithm):
        return dot_general_p.bind(
            lhs, rhs, dimension_numbers=numbers, precision=how, preferred_element_type=wanted
        )
    avals = typeof(lhs), typeof(rhs)
    dtype = avals[0].dtype if wanted is None else wanted
    check_result_dtype("dot_general", avals[0].dtype, dtype)
    out = dot_general_p.bind(
        *precisions.rounded(lhs, rhs, how),
        dimension_numbers=numbers,
        precision=how,
        preferred_element_type=how.accumulation_type,
    )
    return convert(out, dtype, wanted is None and avals[0].weak_type and avals[1].weak_type)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Product of vectors and matrices: inner, matrix-vector or matrix product.

    Args:
        lhs: a vector or matrix.
        rhs: a vector or matrix, of any dtype as for ``dot_general``.
        dimension_numbers: when given, ``dot`` is ``dot_general``.
        precision: as for ``dot_general``.
        preferred_element_type: as for ``dot_general``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    Array(11., dtype=float64)
    """
    if out_sharding is not None:
        return decided(
            dot,
            out_sharding,
            (lhs, rhs),
            {
                "dimension_numbers": dimension_numbers,
                "precision": precision,
                "preferred_element_type": preferred_element_type,
            },
        )
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    avals = typeof(lhs), typeof(rhs)
    if not all(aval.ndim in (1, 2) for aval in avals):
        raise TypeError(
            f"dot takes vectors and matrices, but got {describe(avals)}; use dot_general, or x @ y "
            f"for stacks of matrices."
        )
    return _contracted(lhs, rhs, PLAIN[avals[0].ndim], precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: PrecisionLike = None) -> Array:
    """Matrix products of two stacks of matrices of equal length.

    Args:
        lhs: an array of shape ``[..., m, k]``.
        rhs: an array of shape ``[..., k, n]``, with the same leading axes.
        precision: as for ``dot_general``.

    Returns:
        An array of shape ``[..., m, n]``.

    >>> batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    ranks = typeof(lhs).ndim, typeof(rhs).ndim
    if min(ranks) < 2 or ranks[0] != ranks[1]:
        raise ValueError(
            f"batch_matmul takes two stacks of matrices with equally many axes, at least 2, but "
            f"got {describe((typeof(lhs), typeof(rhs)))}."
        )
    n = ranks[0]
    batch = tuple(range(n - 2))
    return dot_general(lhs, rhs, (((n - 1,), (n - 2,)), (batch, batch)), precision)


def _check_numbers(lhs: ShapedArray, rhs: ShapedArray, numbers: DimensionNumbers) -> None:
    for what, (left, right) in zip(("contracting", "batch"), numbers, strict=True):
        if len(left) != len(right):
            raise TypeError(
                f"dot_general: {len(left)} {what} axes of the left operand, {left}, cannot be "
                f"paired with {len(right)} of the right one, {right}."
            )
    for side, aval, position in (("left", lhs, 0), ("right", rhs, 1)):
        used = (*numbers[0][position], *numbers[1][position])
        if len(set(used)) < len(used) or any(not 0 <= axis < aval.ndim for axis in used):
            raise TypeError(
                f"dot_general: the contracting and batch axes {used} of the {side} operand "
                f"{aval.str_short()} must be distinct and within its {aval.ndim} axes."
            )
    for what, (left, right) in zip(("contracting", "batch"), numbers, strict=True):
        for i, j in zip(left, right, strict=True):
            if lhs.shape[i] != rhs.shape[j]:
                raise TypeError(
                    f"dot_general: the {what} axes {i} of {lhs.str_short()} and {j} of "
                    f"{rhs.str_short()} have different sizes, {lhs.shape[i]} and {rhs.shape[j]}."
                )


def _dot_type(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    dimension_numbers: DimensionNumbers,
    precision: ProductPrecision,
    preferred_element_type: DType | None,
) -> ShapedArray:
    require_kind("dot_general", lhs, ANY, 0)
    require_same_dtype("dot_general", (lhs, rhs))
    _check_numbers(lhs, rhs, dimension_numbers)
    batch, left, right = _parts(lhs.shape, rhs.shape, dimension_numbers)
    dtype = lhs.dtype if preferred_element_type is None else preferred_element_type
    check_result_dtype("dot_general", lhs.dtype, dtype)
    weak = preferred_element_type is None and lhs.weak_type and rhs.weak_type
    return ShapedArray((*batch, *left, *right), dtype, weak)


def check_result_dtype(name: str, dtype: DType, result: DType) -> None:
    """Raise when a product of one dtype cannot be returned in another."""
    if dtypes.is_complex(dtype) and not dtypes.is_complex(result):
        raise TypeError(
            f"{name}: a product of {dtype.name} cannot be returned as {result.name}, which "
            f"would drop its imaginary part; take the real part first."
        )
    if dtypes.is_inexact(dtype) and not dtypes.is_inexact(result):
        raise TypeError(
            f"{name}: a product of {dtype.name} cannot be returned as {result.name}, since "
            f"backends differ in what they do with fractions; convert the result instead."
        )
    if not dtypes.is_inexact(result) and result.itemsize < dtype.itemsize:
        raise TypeError(
            f"{name}: preferred_element_type {result.name} is narrower than the operands' "
            f"{dtype.name}; convert the result instead."
        )


def _parts(lhs: Dims, rhs: Dims, numbers: DimensionNumbers) -> tuple[Dims, Dims, Dims]:
    """The sizes of the batch axes, and of the other axes of either side that remain."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    left = tuple([lhs[i] for i in free(len(lhs), lhs_contract, lhs_batch)])
    right = tuple([rhs[i] for i in free(len(rhs), rhs_contract, rhs_batch)])
    return tuple([lhs[i] for i in lhs_batch]), left, right


def free(rank: int, contract: Dims, batch: Dims) -> Dims:
    """The axes of an operand that remain: neither contracted nor batch axes."""
    return tuple([i for i in range(rank) if i not in contract and i not in batch])


def _dot_impl(
    lhs: NumPyArray,
    rhs: NumPyArray,
    *,
    dimension_numbers: DimensionNumbers,
    precision: ProductPrecision,
    preferred_element_type: DType | None,
) -> Any:
    dtype = lhs.dtype if preferred_element_type is None else preferred_element_type
    wide = dtypes.accumulator_dtype(dtype)
    if lhs.dtype != wide:
        lhs, rhs = lhs.astype(wide), rhs.astype(wide)
    if rhs.ndim in PLAIN and dimension_numbers == PLAIN.get(lhs.ndim):
        out = lhs.dot(rhs)
    else:
        out = _contract(lhs, rhs, dimension_numbers)
    return out if wide == dtype else out.astype(dtype)


def _contract(lhs: NumPyArray, rhs: NumPyArray, numbers: DimensionNumbers) -> Any:
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    batch, left, right = _parts(lhs.shape, rhs.shape, numbers)
    summed = math.prod([lhs.shape[i] for i in lhs_contract])
    a = lhs.transpose(*lhs_batch, *free(lhs.ndim, lhs_contract, lhs_batch), *lhs_contract)
    b = rhs.transpose(*rhs_batch, *rhs_contract, *free(rhs.ndim, rhs_contract, rhs_batch))
    a = a.reshape(*batch, math.prod(left), summed)
    b = b.reshape(*batch, summed, math.prod(right))
    return np.matmul(a, b).reshape((*batch, *left, *right))


def _dot_vmap(
    size: int,
    operands: Values,
    dims: Sequence[int | None],
    *,
    dimension_numbers: DimensionNumbers,
    **params: Any,
) -> Batched:
    (lhs, rhs), (ld, rd) = operands, dims
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    lhs, rhs = (x if d is None else moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True))

    def shifted(axes: Dims, dim: int | None) -> Dims:
        return axes if dim is None else tuple([axis + 1 for axis in axes])

    contract = shifted(lhs_contract, ld), shifted(rhs_contract, rd)
    left_batch, right_batch = shifted(lhs_batch, ld), shifted(rhs_batch, rd)
    if ld is not None and rd is not None:
        numbers = contract, ((0, *left_batch), (0, *right_batch))
        return dot_general_p.bind(lhs, rhs, dimension_numbers=numbers, **params), 0
    # Only one side is batched: its batch axis is one of the axes that remain.
    numbers = contract, (left_batch, right_batch)
    out = dot_general_p.bind(lhs, rhs, dimension_numbers=numbers, **params)
    if ld is not None:
        return out, len(lhs_batch)
    lhs_free = typeof(lhs).ndim - len(lhs_contract) - len(lhs_batch)
    return out, len(lhs_batch) + lhs_free


def _dot_transpose(
    ct: Any,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DimensionNumbers,
    precision: ProductPrecision,
    preferred_element_type: DType | None,
) -> list[Any]:
    if type(lhs) is UndefPrimal and type(rhs) is UndefPrimal:
        raise TypeError("dot_general is linear in each operand by itself, not in both at once.")
    if type(lhs) is UndefPrimal:
        return [_transpose_to_lhs(ct, lhs.aval, rhs, dimension_numbers, precision), None]
    # The result's axes are batch, left, right; exchanging the sides exchanges the last two.
    (contract, batch) = dimension_numbers
    order = tuple(range(typeof(ct).ndim))
    left, right = len(batch[0]), typeof(lhs).ndim - len(contract[0])
    exchanged = (*order[:left], *order[right:], *order[left:right])
    ct = transpose_p.bind(ct, permutation=exchanged)
    turned = (contract[1], contract[0]), (batch[1], batch[0])
    return [None, _transpose_to_lhs(ct, rhs.aval, lhs, turned, precisions.swapped(precision))]


def _transpose_to_lhs(
    ct: Any, lhs: ShapedArray, rhs: Any, numbers: DimensionNumbers, precision: ProductPrecision
) -> Any:
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    lhs_free = free(lhs.ndim, lhs_contract, lhs_batch)
    rhs_free = free(typeof(rhs).ndim, rhs_contract, rhs_batch)
    start = len(lhs_batch) + len(lhs_free)
    ct_right = tuple(range(start, start + len(rhs_free)))
    ct_batch = tuple(range(len(lhs_batch)))
    rhs_converted = convert(rhs, typeof(ct).dtype, typeof(rhs).weak_type)
    numbers = (ct_right, rhs_free), (ct_batch, rhs_batch)
    out = _product(ct, rhs_converted, numbers, precision, lhs.dtype)
    # The result's axes: batch, free of lhs, contracted ones in the order that they have in rhs.
    by_rhs = sorted(range(len(rhs_contract)), key=rhs_contract.__getitem__)
    places = [*lhs_batch, *lhs_free, *(lhs_contract[i] for i in by_rhs)]
    order = tuple(sorted(range(lhs.ndim), key=places.__getitem__))
    return transpose_p.bind(out, permutation=order) if order != tuple(range(lhs.ndim)) else out


def _dot_lowering(
    ctx: LoweringContext,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DimensionNumbers,
    precision: ProductPrecision,
    preferred_element_type: DType | None,
) -> Any:
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    fields = {
        "lhs_batching_dimensions": lhs_batch,
        "rhs_batching_dimensions": rhs_batch,
        "lhs_contracting_dimensions": lhs_contract,
        "rhs_contracting_dimensions": rhs_contract,
    }
    texts = [f"{key} = [{', '.join(map(str, axes))}]" for key, axes in fields.items()]
    attributes = {
        "dot_dimension_numbers": f"#stablehlo.dot<{', '.join(texts)}>",
        **precisions.precision_attributes(precision),
    }
    return ctx.op("stablehlo.dot_general", [lhs, rhs], attributes=attributes)[0]


dot_general_p: Primitive = primitive(
    "dot_general",
    rules.impl(_dot_impl),
    rules.abstract_eval(_dot_type),
    multilinear(),
    rules.vmap(_dot_vmap),
    rules.transpose(_dot_transpose),
    in_wider(_dot_lowering),
    rules.sharding(dot_sharding, takes_primitive=True, linear="own", manual="each"),
)
