"""Parts of rules of matrix functions, on the last two axes, for any leading ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import ShapedArray, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import NumPyArray, broadcast_to, convert, operators
from bindax_lax_basic.extend import constant as constant
from bindax_lax_basic.extend import filled as filled
from bindax_lax_basic.extend import leading_batch as leading_batch

Function = Callable[..., Any]
Shape = tuple[int, ...]
_DTYPES = ("float32", "float64", "complex64", "complex128")
INT32: np.dtype[Any] = np.dtype(np.int32)
_FLOAT32: np.dtype[Any] = np.dtype(np.float32)

# -------------------------------------------------------------------------------------- types


def check_dtype(name: str, *avals: ShapedArray) -> None:
    """Raise unless the operands have one dtype, and LAPACK has it."""
    for aval in avals:
        if aval.dtype.name not in _DTYPES:
            raise TypeError(
                f"{name} takes arrays of one of the dtypes {', '.join(_DTYPES)}, but got "
                f"{aval.str_short()}; convert it first, for example with x.astype('float32')."
            )
        if aval.dtype != avals[0].dtype:
            raise TypeError(
                f"{name} takes arrays of equal dtypes, but got {avals[0].str_short()} and "
                f"{aval.str_short()}."
            )


def check_matrix(name: str, aval: ShapedArray, *, square: bool = False) -> None:
    """Raise unless an operand is a matrix or a stack of matrices, of a dtype LAPACK has."""
    check_dtype(name, aval)
    if aval.ndim < 2 or (square and aval.shape[-1] != aval.shape[-2]):
        what = "[..., n, n]" if square else "[..., m, n]"
        kind = "square matrices" if square else "matrices"
        raise ValueError(
            f"{name} takes {kind}, arrays of shape {what}, but got {aval.str_short()}."
        )


def real_aval(aval: ShapedArray, shape: Shape) -> ShapedArray:
    """A type of floats as wide as those of a matrix."""
    return ShapedArray(shape, dtypes.real_dtype(aval.dtype))


# --------------------------------------------------------------------------------- operations


def transposed(x: Any) -> Any:
    """The transposes of matrices."""
    n = typeof(x).ndim
    return lax.transpose_p.bind(x, permutation=(*range(n - 2), n - 1, n - 2))


def conjugated(x: Any) -> Any:
    """Complex conjugates; floats stay as they are."""
    dtype = typeof(x).dtype
    return lax.conj_p.bind(x, input_dtype=dtype) if dtypes.is_complex(dtype) else x


def adjoint(x: Any) -> Any:
    """The conjugate transposes of matrices."""
    return conjugated(transposed(x))


def matmul(*factors: Any) -> Any:
    """The product of stacks of matrices, at the highest precision."""
    out, *rest = factors
    for factor in rest:
        out = lax.batch_matmul(out, factor, precision="highest")
    return out


add, sub, mul = lax.add_p.bind, lax.sub_p.bind, lax.mul_p.bind
"""Elementwise, of arrays of one type."""


def scaled(x: Any, factor: float) -> Any:
    """An array times a Python number."""
    return lax.mul_p.bind(x, broadcast_to(constant(factor, x), typeof(x).shape))


def _indices(shape: Shape, axis: int) -> Any:
    return lax.iota_p.bind(dtype=INT32, shape=shape[-2:], dimension=axis)


def _masked(x: Any, mask: Any, other: Any) -> Any:
    shape = typeof(x).shape
    lead = len(shape) - 2
    mask = lax.broadcast_in_dim_p.bind(mask, shape=shape, broadcast_dimensions=(lead, lead + 1))
    return lax.select_n_p.bind(mask, other, x)


def lower_part(x: Any, k: int = 0) -> Any:
    """Elements on and below the diagonal number ``k`` of matrices; zero elsewhere."""
    rows, columns = _indices(typeof(x).shape, 0), _indices(typeof(x).shape, 1)
    shifted = lax.add_p.bind(rows, filled(typeof(rows), k))
    return _masked(x, lax.ge_p.bind(shifted, columns), filled(typeof(x), 0))


def upper_part(x: Any, k: int = 0) -> Any:
    """Elements on and above the diagonal number ``k`` of matrices; zero elsewhere."""
    return sub(x, lower_part(x, k - 1)) if k else transposed(lower_part(transposed(x)))


def _diagonal_mask(shape: Shape) -> Any:
    return lax.eq_p.bind(_indices(shape, 0), _indices(shape, 1))


def identity_like(x: Any) -> Any:
    """Identity matrices of the type of matrices."""
    aval = typeof(x)
    return _masked(filled(aval, 1), _diagonal_mask(aval.shape), filled(aval, 0))


def with_diagonal(x: Any, d: Any) -> Any:
    """Matrices with another diagonal."""
    columns = across_rows(d, typeof(x).shape)
    return _masked(columns, _diagonal_mask(typeof(x).shape), x)


def diagonal(x: Any) -> Any:
    """The diagonals of square matrices."""
    n = typeof(x).ndim
    kept = _masked(x, _diagonal_mask(typeof(x).shape), filled(typeof(x), 0))
    return lax.reduce_sum_p.bind(kept, axes=(n - 1,))


def sum_where(mask: Any, x: Any, axis: int) -> Any:
    """The sums of what a mask chooses along an axis that is counted from the end."""
    kept = lax.select_n_p.bind(mask, filled(typeof(x), 0), x)
    return lax.reduce_sum_p.bind(kept, axes=(typeof(x).ndim - axis,))


def across_rows(v: Any, shape: Shape) -> Any:
    """Vectors as the rows of matrices that are constant along columns: element i in column i."""
    n = len(shape)
    return lax.broadcast_in_dim_p.bind(v, shape=shape, broadcast_dimensions=(*range(n - 2), n - 1))


def along_rows(v: Any, shape: Shape) -> Any:
    """Vectors as the columns of matrices: element i in row i."""
    return lax.broadcast_in_dim_p.bind(
        v, shape=shape, broadcast_dimensions=tuple(range(len(shape) - 1))
    )


def scale_columns(x: Any, v: Any) -> Any:
    """Matrices with column i multiplied by element i of vectors."""
    return lax.mul_p.bind(x, across_rows(cast(v, x), typeof(x).shape))


def scale_rows(x: Any, v: Any) -> Any:
    """Matrices with row i multiplied by element i of vectors."""
    return lax.mul_p.bind(x, along_rows(cast(v, x), typeof(x).shape))


def cast(x: Any, like: Any) -> Any:
    """An array in the dtype of another."""
    dtype = typeof(like).dtype
    return x if typeof(x).dtype == dtype else convert(x, dtype, False)


def resized(x: Any, rows: int, columns: int) -> Any:
    """Matrices with rows and columns cut off behind, or zeros added there."""
    *lead, m, n = typeof(x).shape
    if (m, n) == (rows, columns):
        return x
    config = ((0, 0, 0),) * len(lead) + ((0, rows - m, 0), (0, columns - n, 0))
    return lax.pad_p.bind(x, constant(0, x), padding_config=config)


def take_rows(x: Any, index: Any) -> Any:
    """The rows of matrices that vectors of integers name."""
    *lead, _, columns = typeof(x).shape
    if typeof(index).size == 0:  # `gather` takes no window of something from nothing
        return filled(typeof(x).update(shape=(*lead, typeof(index).shape[-1], columns)), 0)
    n = len(lead)
    batch = tuple(range(n))
    numbers = lax.GatherDimensionNumbers((n + 1,), (n,), (n,), batch, batch)
    sizes = (*(1,) * n, 1, columns)
    vectors = lax.expand_dims(index, (typeof(index).ndim,))
    return lax.gather(x, vectors, numbers, sizes, mode="clip")


def mirrored(x: Any, *, lower: bool) -> Any:
    """The Hermitian matrices that one triangle of matrices stands for."""
    strict = lower_part(x, -1) if lower else upper_part(x, 1)
    main = cast(real_part(diagonal(x)), x)
    return with_diagonal(add(strict, adjoint(strict)), main)


def real_part(x: Any) -> Any:
    """The real parts of complex numbers; floats stay as they are."""
    return lax.real(x) if dtypes.is_complex(typeof(x).dtype) else x


def symmetrized(x: Any) -> Any:
    """The Hermitian part of matrices."""
    return scaled(add(x, adjoint(x)), 0.5)


def hermitian_part(name: str, x: Any, symmetrize_input: bool) -> Any:
    """Square matrices, or their means with their adjoints, which of integers are floats."""
    aval = typeof(x)
    whole = symmetrize_input and not dtypes.is_inexact(aval.dtype)
    check_matrix(name, aval.update(dtype=_FLOAT32) if whole else aval, square=True)
    if dtypes.is_integer(aval.dtype):
        x = operators.true_divide(x, 1)  # sums of floats do not overflow
    if whole:
        return operators.true_divide(operators.add(x, transposed(x)), 2)
    return symmetrized(x) if symmetrize_input else x


def are_narrow(*operands: Any) -> bool:
    """Test for floats of 16 bits or fewer, for which LAPACK has no functions."""
    found = [typeof(x).dtype for x in operands]
    return all(dtypes.kind_of(dtype) == "float" and dtype.itemsize < 4 for dtype in found)


def widened(function: Function, *operands: Any, **arguments: Any) -> Any:
    """A function of matrices computed in float32, and rounded to the dtype of the operands."""
    wide = [convert(x, _FLOAT32, False) for x in operands]
    return convert(function(*wide, **arguments), typeof(operands[0]).dtype, False)


def nan_unless(ok: Any, x: Any) -> Any:
    """Stacks of arrays, those replaced by NaN whose flag is false."""
    aval = typeof(x)
    lead = tuple(range(typeof(ok).ndim))
    mask = lax.broadcast_in_dim_p.bind(ok, shape=aval.shape, broadcast_dimensions=lead)
    fill = broadcast_to(constant(nan_of(aval.dtype), x), aval.shape)
    return lax.select_n_p.bind(mask, fill, x)


def nan_of(dtype: np.dtype[Any]) -> complex:
    """NaN, as numbers of a dtype have it."""
    return complex("nan+nanj") if dtypes.is_complex(dtype) else float("nan")


def succeeded(info: Any) -> Any:
    """Test that a routine of LAPACK returned no error."""
    return lax.eq_p.bind(info, filled(typeof(info), 0))


# ------------------------------------------------------------------------------------ values


def for_each_good(function: Function, x: NumPyArray) -> list[Any]:
    """Results of a function of NumPy for stacks of matrices, NaN where it does not converge.

    The function raises ``LinAlgError`` when one matrix of a stack fails.
    """
    try:
        return list(function(x))
    except np.linalg.LinAlgError:
        pass
    lead = x.shape[:-2]
    model = function(np.eye(*x.shape[-2:], dtype=x.dtype))
    outs = [np.full((*lead, *out.shape), nan_of(out.dtype), out.dtype) for out in model]
    for place in np.ndindex(*lead):
        try:
            found = function(x[place])
        except np.linalg.LinAlgError:
            continue
        for out, value in zip(outs, found, strict=True):
            out[place] = value
    return outs
