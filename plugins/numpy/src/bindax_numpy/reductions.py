"""Reductions over axes: sums, products, extrema, logic, and where the extrema are.

A reduction of Python scalars has the default dtype, and no reduction is weakly typed.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import canonical_dtype, largest, smallest, summed_dtype
from bindax_lax_basic.extend import axes_argument, axis_argument, broadcast_to, convert
from bindax_numpy._operands import array_operand, strong_operand
from bindax_numpy.arithmetic import add as elementwise_add
from bindax_numpy.arithmetic import maximum, minimum, multiply, subtract


def refuse_out(name: str, out: Any) -> None:
    """Raise where a result is to be written into an array."""
    if out is not None:
        raise TypeError(f"{name}: arrays are immutable, so out must be None; use the result.")


def mask_operand(name: str, where: Any) -> Any:
    """The argument ``where`` of a reduction: booleans."""
    mask = array_operand(name, where)
    if typeof(mask).dtype != dtypes.bool_:
        raise ValueError(
            f"{name}: where must be None or booleans, but it is {typeof(mask).str_short()}; "
            f"compare it, for example with where != 0."
        )
    return mask


def initial_operand(name: str, initial: Any) -> Any:
    """The argument ``initial`` of a reduction: a scalar."""
    start = array_operand(name, initial)
    if typeof(start).shape:
        raise ValueError(
            f"{name}: initial must be a scalar, but it is {typeof(start).str_short()}."
        )
    return start


def selected(name: str, x: Any, where: Any, neutral: Any) -> Any:
    """The operand with a neutral element where it is not to be reduced."""
    if where is None:
        return x
    aval = typeof(x)
    mask = mask_operand(name, where)
    filler = lax.full_like(x, neutral, shape=())
    shape = lax.broadcast_shapes(aval.shape, typeof(mask).shape)
    return lax.select(*(broadcast_to(v, shape) for v in (mask, x, filler)))


def reduced(name: str, reduce: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    """A reduction over axes, which are kept with size 1 where asked for."""
    axes = axes_argument(name, axis, typeof(x).ndim, "axis")
    out = reduce(x, axes)
    return lax.expand_dims(out, axes) if keepdims and axes else out


def _summands(name: str, a: Any, dtype: Any, promote_integers: bool) -> Any:
    x = strong_operand(name, a)
    if dtype is not None:
        return convert(x, canonical_dtype(dtype), False)
    own = typeof(x).dtype
    if promote_integers or own == dtypes.bool_:
        return convert(x, summed_dtype(own), False)
    return x


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
    refuse_out("sum", out)
    x = selected("sum", _summands("sum", a, dtype, promote_integers), where, 0)
    # Booleans, where they are asked for, are joined by "or".
    add = lax.reduce_or if typeof(x).dtype == dtypes.bool_ else lax.reduce_sum
    total = reduced("sum", add, x, axis, keepdims)
    return total if initial is None else elementwise_add(total, initial_operand("sum", initial))


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
    refuse_out("prod", out)
    x = selected("prod", _summands("prod", a, dtype, promote_integers), where, 1)
    combine = lax.reduce_and if typeof(x).dtype == dtypes.bool_ else lax.reduce_prod
    product = reduced("prod", combine, x, axis, keepdims)
    return product if initial is None else multiply(product, initial_operand("prod", initial))


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
    return _extremum(
        "max", (lax.reduce_max, maximum, smallest), a, axis, out, keepdims, initial, where
    )


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
    return _extremum(
        "min", (lax.reduce_min, minimum, largest), a, axis, out, keepdims, initial, where
    )


def _extremum(
    name: str,
    functions: tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]],
    a: Any,
    axis: Any,
    out: None,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Any:
    refuse_out(name, out)
    reduce, combine, neutral = functions
    x = strong_operand(name, a)
    aval = typeof(x)
    axes = axes_argument(name, axis, aval.ndim, "axis")
    if initial is None and (where is not None or builtins.any(aval.shape[i] == 0 for i in axes)):
        why = "with where" if where is not None else f"over axes {axes} of {aval.str_short()}"
        raise ValueError(
            f"{name} {why} may have no elements to choose from; give initial, which it is then."
        )
    if where is not None and not dtypes.is_complex(aval.dtype):
        x = selected(name, x, where, neutral(aval.dtype))
    result = reduced(name, reduce, x, axes, keepdims)
    if initial is None:
        return result
    return convert(combine(result, initial_operand(name, initial)), aval.dtype, False)


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
    """The range of the elements over axes: the largest minus the smallest.

    >>> jnp.ptp(jnp.array([3.0, 1.0, 7.0]))
    Array(6., dtype=float32)
    """
    refuse_out("ptp", out)
    x = strong_operand("ptp", a)
    axes = axes_argument("ptp", axis, typeof(x).ndim, "axis")
    return subtract(max(x, axes, keepdims=keepdims), min(x, axes, keepdims=keepdims))


# --------------------------------------------------------------------------------------- logic


def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Tell whether all elements over axes are true, that is, not zero.

    >>> jnp.all(jnp.array([[True, False], [True, True]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    refuse_out("all", out)
    x = convert(array_operand("all", a), dtypes.bool_, False)
    return reduced("all", lax.reduce_and, selected("all", x, where, True), axis, keepdims)


def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Tell whether any element over axes is true, that is, not zero.

    >>> jnp.any(jnp.array([[True, False], [False, False]]), axis=1)
    Array([ True, False], dtype=bool)
    """
    refuse_out("any", out)
    x = convert(array_operand("any", a), dtypes.bool_, False)
    return reduced("any", lax.reduce_or, selected("any", x, where, False), axis, keepdims)


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Array:
    """The number of elements over axes that are not zero.

    >>> jnp.count_nonzero(jnp.array([1, 0, 2]))
    Array(2, dtype=int32)
    """
    x = convert(array_operand("count_nonzero", a), dtypes.bool_, False)
    axes = axes_argument("count_nonzero", axis, typeof(x).ndim, "axis")
    return sum(x, axes, keepdims=keepdims)


# ----------------------------------------------------------------------------- where, cumulative


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
    return _position("argmax", lax.argmax, a, axis, out, keepdims)


def argmin(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """The index of the first smallest element along an axis; arguments as for ``argmax``.

    >>> jnp.argmin(jnp.array([[3, 1], [0, 5]]), axis=1)
    Array([1, 0], dtype=int32)
    """
    return _position("argmin", lax.argmin, a, axis, out, keepdims)


def _position(
    name: str, search: Callable[..., Any], a: Any, axis: int | None, out: None, keepdims: Any
) -> Any:
    refuse_out(name, out)
    x = array_operand(name, a)
    ndim = typeof(x).ndim
    place = 0 if axis is None else axis_argument(name, axis, ndim)
    operand = lax.reshape(x, (typeof(x).size,)) if axis is None else x
    found = search(operand, place, dtypes.default_dtype("int"))
    if not keepdims:
        return found
    return lax.expand_dims(found, tuple(range(ndim)) if axis is None else (place,))


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
    refuse_out("cumsum", out)
    x = _summands("cumsum", a, dtype, promote_integers=False)
    if axis is None:
        x, axis = lax.reshape(x, (typeof(x).size,)), 0
    return running("cumsum", lax.cumsum, x, axis)


def running(name: str, function: Callable[..., Any], x: Any, axis: int) -> Any:
    """Sums or products up to each element; of booleans, whether any or all of them hold."""
    if not typeof(x).shape:
        x = lax.reshape(x, (1,))  # as in NumPy, where a scalar has one element along axis 0
    place = axis_argument(name, axis, typeof(x).ndim)
    if typeof(x).dtype != dtypes.bool_:
        return function(x, place)
    return convert(
        function(convert(x, dtypes.default_dtype("int"), False), place), dtypes.bool_, False
    )


amax = max
amin = min
