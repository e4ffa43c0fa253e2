"""Shuffling, and choosing among given elements or categories."""

from __future__ import annotations

import math
import operator
from typing import Any

import ml_dtypes
import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import DType, axis_argument, default_dtype, is_integer, shape_argument
from bindax_numpy import argmax, cumsum, moveaxis, searchsorted, take, where
from bindax_random._compiled import compiled
from bindax_random._operands import (
    Shape,
    fitting_shape,
    float_dtype,
    in_dtype,
    parameter_dtype,
    shape_of,
)
from bindax_random.keys import single_key
from bindax_random.uniform_numbers import drawn_bits, integers_below, split_in, uniform_floats
from bindax_transforms.extend import decided

# ---------------------------------------------------------------------------------- shuffling


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Array:
    """Shuffle an array, or the numbers below one.

    Args:
        key: a random key.
        x: an array, or an integer n for the numbers 0, ..., n - 1.
        axis: the axis along which it is shuffled.
        independent: whether each vector along the axis is shuffled by itself.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError: when ``x`` is a scalar, but no integer.

    >>> from bindax_random import key, permutation
    >>> permutation(key(42), 5)
    Array([4, 2, 3, 0, 1], dtype=int32)
    """
    if out_sharding is not None:
        return decided(permutation, out_sharding, (key, x, axis, independent))
    return _permuted(single_key("permutation", key), x, axis, independent)


def _permuted(typed: Any, x: Any, axis: int, independent: bool = False) -> Any:
    aval = typeof(x)
    if not aval.shape:
        if not is_integer(aval.dtype):
            raise TypeError(
                f"permutation: x must be an integer or have an axis, but got {aval.str_short()}."
            )
        axis_argument("permutation", axis, 1)
        return _shuffled_below(typed, count=max(0, x.__index__()), dtype=default_dtype("int"))
    axis = axis_argument("permutation", axis, aval.ndim)
    if independent or aval.ndim == 1:
        return shuffled(typed, x, axis)
    order = shuffled(typed, lax.iota(default_dtype("int"), aval.shape[axis]), 0)
    return take(x, order, axis)


@compiled
def _shuffled_below(key: Any, *, count: int, dtype: DType) -> Any:
    return shuffled(key, lax.iota(dtype, count), 0)


def shuffled(typed: Any, x: Any, axis: int) -> Any:
    """An array sorted by random numbers, several times where equal ones are likely."""
    shape = shape_of(x)
    exponent = 3 * math.log(max(1, math.prod(shape))) / math.log((1 << 32) - 1)
    for _ in range(math.ceil(exponent)):
        typed, own = split_in(typed)
        _, x = lax.sort_key_val(drawn_bits(own, 32, shape), x, axis)
    return x


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Draw elements of an array, or numbers below one.

    Args:
        key: a random key.
        a: an array, or an integer n for the numbers 0, ..., n - 1.
        shape: the shape of the draws.
        replace: whether an element can be drawn more than once.
        p: the probability of each element; all are equally likely if omitted.
        axis: the axis of ``a`` along which slices are drawn.
        mode: as for ``gumbel``, which is used with ``p`` and without replacement.

    Raises:
        TypeError: when the shape is no sequence.
        ValueError: when there is nothing to draw, too much is drawn without replacement, or ``p``
            has another size.

    >>> from bindax_random import choice, key
    >>> choice(key(42), 10, (3,))
    Array([4, 4, 1], dtype=int32)
    """
    typed = single_key("choice", key)
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"choice: shape must be a sequence of integers, but got {shape!r}.")
    sizes = shape_argument("choice", shape)
    own = shape_of(a)
    if own:
        axis = axis_argument("choice", axis, len(own))
        count = own[axis]
    else:
        if not hasattr(a, "__index__"):
            raise TypeError(f"choice: a must be an array or an integer, but it is {a!r:.60}.")
        count = operator.index(a)
    draws = math.prod(sizes)
    if draws == 0:
        aval = typeof(a)
        dtype = default_dtype("int") if aval.weak_type else aval.dtype
        return lax.full(sizes, 0, dtype)
    if count <= 0:
        raise ValueError(f"choice: a must have elements to draw {draws} from, but has {count}.")
    if not replace and draws > count:
        raise ValueError(
            f"choice: {draws} elements cannot be drawn from {count} without replacement."
        )
    if p is None and not replace:
        mixed = _permuted(typed, a if own else count, axis if own else 0)
        out = lax.slice_in_dim(mixed, 0, draws, axis=axis)
    else:
        order = _drawn_places(typed, sizes, count, replace, p, mode)
        out = take(a, order, axis) if own else order
    return lax.reshape(out, (*own[:axis], *sizes, *own[axis + 1 :]) if own else sizes)


def _drawn_places(
    typed: Any, shape: Shape, count: int, replace: bool, p: Any, mode: str | None
) -> Any:
    if p is None:
        return integers_below(typed, count, shape)
    aval = typeof(p)
    if aval.shape != (count,):
        raise ValueError(
            f"choice: p must be a vector with a probability for each of {count} elements, but its "
            f"shape is {aval.shape}."
        )
    dtype = parameter_dtype(p)
    chances = in_dtype(p, dtype)
    if replace:
        sums = cumsum(chances)
        drawn = uniform_floats(typed, shape, dtype)
        places = searchsorted(sums, lax.index_in_dim(sums, -1, 0, False) * (1 - drawn))
    else:
        score = _noise(typed, (count,), dtype, mode) + lax.log(chances)
        _, places = lax.top_k(score, math.prod(shape))
    return lax.convert_element_type(places, int)


# --------------------------------------------------------------------------------- categories


def gumbel(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of the Gumbel distribution, with density exp(-(x + exp(-x))).

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        mode: how many bits are drawn: with ``"low"``, which is the default, the greatest float32 is
            about 16; ``"high"`` and ``"highest"`` draw twice as many.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when there is no such mode, or the dtype is no float dtype.

    >>> from bindax_random import gumbel, key
    >>> gumbel(key(42), (2,)).round(4)
    Array([0.3341, 0.952 ], dtype=float32)
    """
    if out_sharding is not None:
        return decided(gumbel, out_sharding, (key, shape, dtype, mode))
    typed = single_key("gumbel", key)
    return _noise(typed, shape_argument("gumbel", shape), float_dtype("gumbel", dtype), mode)


def _noise(typed: Any, shape: Shape, dtype: DType, mode: str | None) -> Any:
    chosen = "low" if mode is None else mode
    if chosen not in ("low", "high", "highest"):
        raise ValueError(f"gumbel: mode must be 'low', 'high' or 'highest', but got {mode!r}.")
    return _gumbel(typed, shape=shape, dtype=dtype, mode=chosen)


@compiled
def _gumbel(typed: Any, *, shape: Shape, dtype: DType, mode: str) -> Any:
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    tiny = np.asarray(info.tiny, dtype)
    if mode == "low":
        return -lax.log(-lax.log(uniform_floats(typed, shape, dtype, tiny, np.ones((), dtype))))
    if mode == "highest" and dtype == np.float32:
        return _gumbel_of_64_bits(typed, shape)
    pair = uniform_floats(typed, (2, *shape), dtype)
    high, low = [lax.index_in_dim(pair, i, 0, False) for i in (0, 1)]
    scale = np.array(2.0 ** -int(info.nmant)).astype(dtype)
    x = where(high >= np.array(0.5).astype(dtype), high, high + scale * low + tiny)
    return -lax.log(-lax.log1p(-x))


def _gumbel_of_64_bits(typed: Any, shape: Shape) -> Any:
    """Gumbel float32 numbers of 64 uniform bits each, with all bits that a float can hold."""
    pair = drawn_bits(typed, 32, (2, *shape))
    high, low = [lax.index_in_dim(pair, i, 0, False) for i in (0, 1)]
    is_below_half = high < np.uint32(1 << 31)
    # Above one half the distance to one is what has to be exact: the negative number.
    carry = lax.convert_element_type(low == np.uint32(0), np.uint32)
    fraction = _fraction(
        where(is_below_half, high, lax.bitwise_not(high) + carry),
        where(is_below_half, low, lax.bitwise_not(low) + np.uint32(1)),
    )
    return where(is_below_half, -lax.log(-lax.log1p(-fraction)), -lax.log(-lax.log(fraction)))


def _fraction(high: Any, low: Any) -> Any:
    """The float32 just below a number of 64 bits behind the binary point."""
    zeros_high, zeros_low = lax.clz(high), lax.clz(low)
    is_low = zeros_high == np.uint32(32)
    zeros = where(is_low, np.uint32(32) + zeros_low, zeros_high)
    filled = where(
        is_low,
        lax.shift_left(low, zeros_low),
        lax.shift_right_logical(low, np.uint32(32) - zeros_high),
    )
    leading = lax.bitwise_or(lax.shift_left(high, zeros_high), filled)
    mantissa = lax.bitwise_and(
        lax.shift_right_logical(leading, np.uint32(8)), np.uint32((1 << 23) - 1)
    )
    exponent = lax.shift_left(np.uint32(126) - zeros, np.uint32(23))
    return lax.bitcast_convert_type(lax.bitwise_or(exponent, mantissa), np.float32)


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw categories, by the greatest of their logarithmic weights with Gumbel noise.

    Args:
        key: a random key.
        logits: the logarithms of the weights, which need not be normalized.
        axis: the axis of the categories.
        shape: the shape of the result, which ends with the shape of ``logits`` without the axis;
            that is the default.
        replace: whether a category can be drawn more than once.
        mode: as for ``gumbel``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Returns:
        The numbers of categories, of the default integer dtype.

    Raises:
        ValueError: when the shape does not fit, or too many are drawn without replacement.

    >>> from bindax_random import categorical, key
    >>> categorical(key(42), np.zeros(4, np.float32), shape=(3,))
    Array([1, 3, 3], dtype=int32)
    """
    if out_sharding is not None:
        return decided(categorical, out_sharding, (key, logits, axis, shape, replace, mode))
    typed = single_key("categorical", key)
    own = shape_of(logits)
    axis = axis_argument("categorical", axis, len(own))
    batch = (*own[:axis], *own[axis + 1 :])
    sizes = fitting_shape("categorical", shape, logits=batch)
    lead = sizes[: len(sizes) - len(batch)]
    aval = typeof(logits)
    dtype = default_dtype("float") if aval.weak_type else aval.dtype
    weights = in_dtype(logits, dtype)
    if replace:
        full_batch = list(sizes[len(lead) :])
        full_batch.insert(axis, own[axis])
        noise = _noise(typed, (*lead, *full_batch), dtype, mode)
        score = noise + lax.expand_dims(weights, tuple(range(len(lead))))
        return argmax(score, axis - len(own))
    count = math.prod(lead)
    if count > own[axis]:
        raise ValueError(
            f"categorical: {count} categories cannot be drawn from {own[axis]} without replacement."
        )
    score = weights + _noise(typed, own, dtype, mode)
    _, places = lax.top_k(moveaxis(score, axis, -1), count)
    return lax.reshape(moveaxis(places, -1, 0), sizes)
