"""Contraction of two arrays with a scale for each block of either."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Array, ShapedArray, typeof
from bindax_lax_basic.contract.dot_general import DotDimensionNumbers, dot_general
from bindax_lax_basic.dtypes import bfloat16
from bindax_lax_basic.elementwise.arithmetic import mul_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules.types import describe
from bindax_lax_basic.shape.broadcast_and_reduce_sum import Dims, broadcast_in_dim_p
from bindax_lax_basic.shape.reshape import reshape_p

__all__ = ["scaled_dot"]


def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: Any = None,
) -> Array:
    """Contract ``lhs * lhs_scale`` with ``rhs * rhs_scale``, a scale for each block.

    Operands and scales are rounded to bfloat16, and so is each scaled operand.

    Args:
        lhs: an array of any float dtype.
        rhs: an array of as many axes.
        lhs_scale: an array of the sizes of ``lhs``, but smaller along contracted axes: each of its
            elements scales a block of at least two elements. By default the scale is 1.
        rhs_scale: the same for ``rhs``.
        dimension_numbers: as for ``dot_general``; by default matrix products, all leading axes
            being batch axes.
        preferred_element_type: the dtype of the result; bfloat16 by default.

    Raises:
        TypeError: when sizes or dimension numbers do not agree.

    >>> x = np.ones((2, 4), np.float32)
    >>> scale = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    >>> scaled_dot(x, x.T, lhs_scale=scale, preferred_element_type=np.float32)
    Array([[ 6.,  6.],
           [14., 14.]], dtype=float32)
    """
    avals = typeof(lhs), typeof(rhs)
    if avals[0].ndim != avals[1].ndim or (dimension_numbers is None and avals[0].ndim < 2):
        raise TypeError(
            f"scaled_dot takes arrays of equally many axes, at least 2 without dimension_numbers, "
            f"but got {describe(avals)}."
        )
    if dimension_numbers is None:
        n = avals[0].ndim
        batch = tuple(range(n - 2))
        dimension_numbers = (((n - 1,), (n - 2,)), (batch, batch))
    (left, right), _ = dimension_numbers
    a = _scaled("lhs", lhs, lhs_scale, tuple(left))
    b = _scaled("rhs", rhs, rhs_scale, tuple(right))
    result = bfloat16 if preferred_element_type is None else preferred_element_type
    return dot_general(a, b, dimension_numbers, preferred_element_type=result)


def _scaled(name: str, x: Any, scale: Any, contracted: Dims) -> Any:
    narrow = convert(x, bfloat16, False)
    if scale is None:
        return narrow
    aval = typeof(x)
    blocks = _block_sizes(name, aval, typeof(scale), contracted)
    return mul_p.bind(narrow, _repeated(convert(scale, bfloat16, False), aval.shape, blocks))


def _block_sizes(name: str, x: ShapedArray, scale: ShapedArray, contracted: Dims) -> Dims:
    """Numbers of elements along each axis that share a scale."""
    blocks = []
    for axis, size in enumerate(x.shape if scale.ndim == x.ndim else ()):
        own = scale.shape[axis]
        if axis in contracted and own and size % own == 0 and size // own >= 2:
            blocks.append(size // own)
        elif axis not in contracted and own == size:
            blocks.append(1)
    if len(blocks) < x.ndim or scale.ndim != x.ndim:
        raise TypeError(
            f"scaled_dot: {name}_scale must have the sizes of {name} {x.str_short()}, but along "
            f"the contracted axes {contracted} a half of them or another divisor; it is "
            f"{scale.str_short()}."
        )
    return tuple(blocks)


def _repeated(scale: Any, shape: Dims, blocks: Dims) -> Any:
    """A scale for each element."""
    own = typeof(scale).shape
    split = tuple([n for pair in zip(own, blocks, strict=True) for n in pair])
    places = tuple(range(0, 2 * len(own), 2))
    each = broadcast_in_dim_p.bind(scale, shape=split, broadcast_dimensions=places)
    return reshape_p.bind(each, new_sizes=shape, dimensions=None)
