"""Operands of the functions: floats of one dtype, matrices where needed."""

from __future__ import annotations

from typing import Any

from ml_dtypes import finfo

import bindax_lax_basic as lax
from bindax_core.extend import ShapedArray, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert, promote_dtypes
from bindax_numpy._operands import strong_operand
from bindax_numpy.arithmetic import conj
from bindax_numpy.reshaping import matrix_transpose


def inexact_operands(name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands in the one float or complex dtype that they promote to."""
    promoted = promote_dtypes(*(strong_operand(name, x) for x in operands))
    return tuple([convert(x, dtypes.inexact_dtype(typeof(x).dtype), False) for x in promoted])


def matrix_operand(name: str, x: Any, *, square: bool = False) -> Any:
    """The operand as matrices of floats or complex numbers."""
    (x,) = inexact_operands(name, x)
    require_matrix(name, typeof(x), square=square)
    return x


def require_matrix(name: str, aval: ShapedArray, *, square: bool = False) -> None:
    """Raise for what has fewer than two axes, or is not square where it must be."""
    if aval.ndim < 2 or (square and aval.shape[-1] != aval.shape[-2]):
        kind = "square matrices, of shape [..., n, n]" if square else "matrices, [..., m, n]"
        raise ValueError(f"{name} takes {kind}, but got {aval.str_short()}.")


def rounding(x: Any) -> float:
    """The rounding error of the dtype of matrices."""
    info: Any = finfo(typeof(x).dtype)  # type: ignore[no-untyped-call]
    return float(info.eps)


def adjoint(x: Any) -> Any:
    """The conjugate transposes of matrices."""
    return conj(matrix_transpose(x))


def product(a: Any, b: Any) -> Any:
    """The product of stacks of matrices, at the highest precision."""
    return lax.batch_matmul(a, b, precision="highest")
