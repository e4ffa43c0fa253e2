"""Reductions over axes: sums, products, extrema, logic, and where the extrema are.

A reduction of Python scalars has the default dtype, and no reduction is weakly typed.
"""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axes_argument, convert, reductions
from bindax_numpy._operands import array_operand, checked, strong_operand
from bindax_numpy.arithmetic import subtract
from bindax_transforms import evaluated


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """The sum over axes.

    Args:
        a: an array.
        axis: an axis, several, or None for all.
        dtype: the dtype in which is summed; by default that of ``a``, for integers at least the
            default one.
        out: None.
        keepdims: whether the axes stay, with size 1.
        initial: what the sum starts from.
        where: booleans, which broadcast: the elements that count.
        promote_integers: whether narrow integers are summed in the default dtype.

    >>> jnp.sum(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([4, 6], dtype=int32)
    """
    x = checked("sum", a)
    return reductions.sum(x, axis, dtype, out, keepdims, initial, where, promote_integers)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """The product over axes; arguments as for ``sum``.

    >>> jnp.prod(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([3, 8], dtype=int32)
    """
    x = checked("prod", a)
    return reductions.prod(x, axis, dtype, out, keepdims, initial, where, promote_integers)


def max(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The largest element over axes; nan if one is.

    Args:
        a: an array of real numbers or booleans.
        axis: an axis, several, or None for all.
        out: None.
        keepdims: whether the axes stay, with size 1.
        initial: the least that the result is; empty axes need it.
        where: booleans, which broadcast: the elements that count; needs ``initial``.

    Raises:
        ValueError: when an axis is empty, or ``where`` is given, without ``initial``.

    >>> jnp.max(jnp.array([[1, 5], [3, 4]]), axis=1)
    Array([5, 4], dtype=int32)
    """
    return reductions.max(checked("max", a), axis, out, keepdims, initial, where)


def min(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The smallest element over axes; nan if one is. Arguments as for ``max``.

    >>> jnp.min(jnp.array([[1, 5], [3, 4]]), axis=1)
    Array([1, 3], dtype=int32)
    """
    return reductions.min(checked("min", a), axis, out, keepdims, initial, where)


def minmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> tuple[Array, Array]:
    """The smallest and the largest element over axes. Arguments as for ``max``.

    Of ``initial``, a tuple has one for the smallest and one for the largest element.

    >>> jnp.minmax(jnp.array([[1, 5], [3, 4]]), axis=1)
    (Array([1, 3], dtype=int32), Array([5, 4], dtype=int32))
    """
    above, below = initial if isinstance(initial, tuple) else (initial, initial)
    return min(a, axis, out, keepdims, above, where), max(a, axis, out, keepdims, below, where)


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
    """The range of the elements over axes: the largest minus the smallest.

    >>> jnp.ptp(jnp.array([3.0, 1.0, 7.0]))
    Array(6., dtype=float32)
    """
    reductions.refuse_out("ptp", out)
    x = strong_operand("ptp", a)
    axes = axes_argument("ptp", axis, typeof(x).ndim, "axis")
    return subtract(max(x, axes, keepdims=keepdims), min(x, axes, keepdims=keepdims))


def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Tell whether all elements over axes are true, that is, not zero.

    >>> jnp.all(jnp.array([[True, False], [True, True]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    return reductions.all(checked("all", a), axis, out, keepdims, where)


def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Tell whether any element over axes is true, that is, not zero.

    >>> jnp.any(jnp.array([[True, False], [False, False]]), axis=1)
    Array([ True, False], dtype=bool)
    """
    return reductions.any(checked("any", a), axis, out, keepdims, where)


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Array:
    """The number of elements over axes that are not zero.

    >>> jnp.count_nonzero(jnp.array([1, 0, 2]))
    Array(2, dtype=int32)
    """
    x = convert(array_operand("count_nonzero", a), dtypes.bool_, False)
    axes = axes_argument("count_nonzero", axis, typeof(x).ndim, "axis")
    return sum(x, axes, keepdims=keepdims)


@evaluated
def argmax(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """The index of the first largest element along an axis.

    Args:
        a: an array of real numbers or booleans.
        axis: the axis; None searches all elements, in order.
        out: None.
        keepdims: whether the axis stays, with size 1.

    Raises:
        ValueError: when there is no element to choose.

    >>> jnp.argmax(jnp.array([1, 5, 5]))
    Array(1, dtype=int32)
    """
    return reductions.argmax(checked("argmax", a), axis, out, keepdims)


@evaluated
def argmin(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """The index of the first smallest element along an axis; arguments as for ``argmax``.

    >>> jnp.argmin(jnp.array([[3, 1], [0, 5]]), axis=1)
    Array([1, 0], dtype=int32)
    """
    return reductions.argmin(checked("argmin", a), axis, out, keepdims)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The sums up to and including each element.

    Args:
        a: an array.
        axis: the axis along which is summed; None sums all elements, in order.
        dtype: the dtype of the result; by default that of ``a``, for booleans the default integer.
        out: None.

    >>> jnp.cumsum(jnp.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    return reductions.cumsum(checked("cumsum", a), axis, dtype, out)


amax = max
amin = min
