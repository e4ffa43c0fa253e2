"""Random bits, and numbers that are equally likely: floats, integers, signs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, Primitive, ShapedArray, config, primitive, rules, typeof
from bindax_lax_basic.extend import (
    DType,
    broadcast_to,
    canonical_dtype,
    composition,
    default_dtype,
    integer_limits,
    kind_of,
    no_derivative,
    same_dims,
    shape_argument,
)
from bindax_numpy import clip
from bindax_random._compiled import compiled
from bindax_random._operands import Shape, float_dtype, in_dtype, integer_dtype, result_shape
from bindax_random.keys import random_bits_p, random_split_p, single_key
from bindax_random.quantiles import multiply_add
from bindax_transforms.extend import decided

NumPyArray = np.ndarray[Any, Any]


def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw random bits, as unsigned integers.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: an unsigned integer dtype; uint32 by default, or uint64 where the default dtypes
            have 64 bits.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the dtype is another.

    >>> from bindax_random import bits, key
    >>> bits(key(42), (3,))
    Array([2098992034, 2919706841, 2646866425], dtype=uint32)
    """
    if out_sharding is not None:
        return decided(bits, out_sharding, (key, shape, dtype))
    typed = single_key("bits", key)
    found = canonical_dtype(f"uint{config.dtype_bits}" if dtype is None else dtype)
    if kind_of(found) != "unsigned integer" or found.itemsize * 8 < 8:
        raise ValueError(f"bits: dtype must be an unsigned integer dtype, but got {found.name}.")
    sizes = shape_argument("bits", shape)
    return _bits(typed, bit_width=8 * found.itemsize, shape=sizes)


@compiled
def _bits(key: Any, *, bit_width: int, shape: Shape) -> Any:
    return drawn_bits(key, bit_width, shape)


def drawn_bits(typed: Any, bit_width: int, shape: Shape) -> Any:
    """Random bits of one typed key."""
    return random_bits_p.bind(typed, bit_width=bit_width, shape=shape)


def split_in(typed: Any, count: int = 2) -> list[Any]:
    """New keys of one typed key."""
    keys = random_split_p.bind(typed, shape=(count,))
    return [lax.index_in_dim(keys, i, 0, False) for i in range(count)]


# ----------------------------------------------------------------------------------- floats


def uniform(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats that are equally likely between two bounds.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        minval: the lower bound, which can be drawn; broadcast to the shape.
        maxval: the upper bound, which is not drawn unless rounding gives it.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the dtype is no float dtype, or a bound cannot be broadcast.

    >>> from bindax_random import key, uniform
    >>> uniform(key(42), (2,))
    Array([0.48870957, 0.6797972 ], dtype=float32)
    """
    if out_sharding is not None:
        return decided(uniform, out_sharding, (key, shape, dtype, minval, maxval))
    typed = single_key("uniform", key)
    sizes = shape_argument("uniform", shape)
    found = float_dtype("uniform", dtype)
    if _is_unit(minval, maxval):
        return _unit(typed, shape=sizes, dtype=found)
    result_shape("uniform", sizes, minval=minval, maxval=maxval)
    return _bounded(
        typed, in_dtype(minval, found), in_dtype(maxval, found), shape=sizes, dtype=found
    )


@compiled
def _unit(key: Any, *, shape: Shape, dtype: DType) -> Any:
    return uniform_floats(key, shape, dtype)


@compiled
def _bounded(key: Any, minval: Any, maxval: Any, *, shape: Shape, dtype: DType) -> Any:
    return uniform_floats(key, shape, dtype, minval, maxval)


def _is_unit(minval: Any, maxval: Any) -> bool:
    """Tell whether bounds are 0 and 1, between which numbers need not be scaled."""
    kinds = (int, float)
    return type(minval) in kinds and type(maxval) in kinds and minval == 0 and maxval == 1


def uniform_floats(
    typed: Any, shape: Shape, dtype: DType, minval: Any = 0.0, maxval: Any = 1.0
) -> Any:
    """Uniform floats of one typed key: random mantissas between 1 and 2, moved and scaled."""
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    if info.bits not in (8, 16, 32, 64):
        raise TypeError(f"uniform draws floats of 8, 16, 32 or 64 bits, but dtype is {dtype.name}.")
    # Of floats with few bits of mantissa no more are drawn than they need.
    drawn = 8 if info.nmant < 8 else int(info.bits)
    floats = unit_floats_p.bind(drawn_bits(typed, drawn, shape), dtype=dtype)
    if _is_unit(minval, maxval):
        return floats
    low, high = [_bound(x, dtype, shape) for x in (minval, maxval)]
    return lax.max(low, multiply_add(floats, high - low, low))


def _unit_type(bits: ShapedArray, *, dtype: DType) -> ShapedArray:
    if kind_of(bits.dtype) != "unsigned integer" or kind_of(dtype) != "float":
        raise TypeError(
            f"random.unit_floats makes floats of unsigned integers, but got {bits.str_short()} and "
            f"the dtype {dtype.name}."
        )
    return ShapedArray(bits.shape, dtype)


def _unit_parts(bits: DType, dtype: DType) -> tuple[DType, Any, Any]:
    """The integers that hold a float, the shift that leaves a mantissa, and the bits of one."""
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    held = np.dtype(f"uint{info.bits}")
    shift = held.type(8 * bits.itemsize - int(info.nmant))
    return held, shift, np.ones((), dtype).view(held)[()]


def _unit_impl(bits: NumPyArray, *, dtype: DType) -> NumPyArray:
    held, shift, one = _unit_parts(bits.dtype, dtype)
    made = np.right_shift(bits.astype(held, copy=False), shift)
    if not made.ndim:
        return (made | one).view(dtype) - np.ones((), dtype)
    np.bitwise_or(made, one, out=made)
    floats = made.view(dtype)
    np.subtract(floats, np.ones((), dtype), out=floats)
    return floats


def _unit_floats(bits: Any, *, dtype: DType) -> Any:
    held, shift, one = _unit_parts(typeof(bits).dtype, dtype)
    made = lax.shift_right_logical(lax.convert_element_type(bits, held), shift)
    return lax.bitcast_convert_type(lax.bitwise_or(made, one), dtype) - np.ones((), dtype)


unit_floats_p: Primitive = primitive(
    "random.unit_floats",
    rules.impl(_unit_impl),
    rules.abstract_eval(_unit_type),
    no_derivative(),
    same_dims(),
    rules.transpose.absent("its operand is discrete"),
    rules.lowering["stablehlo"](composition(_unit_floats)),
    rules.sharding("elementwise"),
)
"""Floats from 0 to below 1: the high bits of random integers are mantissas of floats from 1 to
below 2, of which 1 is taken. Parameter: ``dtype``."""


def _bound(x: Any, dtype: DType, shape: Shape) -> Any:
    own = lax.convert_element_type(x, dtype)
    return broadcast_to(own, shape) if typeof(x).shape else own


# --------------------------------------------------------------------------------- integers


def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw integers that are equally likely between two bounds.

    Twice as many bits as a number has are taken modulo the number of possible results, so the
    likelihoods differ by less than one in the square root of all possible bits.

    Args:
        key: a random key.
        shape: the shape of the result.
        minval: the lower bound, which can be drawn; broadcast to the shape.
        maxval: the upper bound, which is not drawn. Where it is not above ``minval``, the result
            is ``minval``.
        dtype: an integer dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError: when the dtype is no integer dtype.
        ValueError: when a bound cannot be broadcast to the shape.

    >>> from bindax_random import key, randint
    >>> randint(key(42), (4,), 0, 10)
    Array([4, 4, 1, 9], dtype=int32)
    """
    if out_sharding is not None:
        return decided(randint, out_sharding, (key, shape, minval, maxval, dtype))
    typed = single_key("randint", key)
    found = integer_dtype("randint", dtype)
    sizes = shape_argument("randint", shape)
    bounds = [_integer_bound(x) for x in (minval, maxval)]
    if any(np.ndim(x) for x in bounds):
        result_shape("randint", sizes, minval=bounds[0], maxval=bounds[1])
    return _randint(typed, *bounds, shape=sizes, dtype=found)


def integers_below(typed: Any, limit: int, shape: Shape) -> Any:
    """Integers of the default dtype from 0 to below a limit, of one typed key."""
    bounds = [_integer_bound(x) for x in (0, limit)]
    return _randint(typed, *bounds, shape=shape, dtype=default_dtype("int"))


@compiled
def _randint(key: Any, minval: Any, maxval: Any, *, shape: Shape, dtype: DType) -> Any:
    if dtype.itemsize >= 4:
        return _integers(key, minval, maxval, shape, dtype)
    least, greatest = integer_limits(dtype)
    low, high = [lax.convert_element_type(x, np.int32) for x in (minval, maxval)]
    low, high = clip(low, least, greatest), clip(high, least, greatest + 1)
    return lax.convert_element_type(_integers(key, low, high, shape, np.dtype(np.int32)), dtype)


def _integer_bound(x: Any) -> Any:
    """A bound as integers: of their own dtype, or of the default one."""
    if type(x) is int and -(1 << 31) <= x < 1 << 31:
        return in_dtype(x, default_dtype("int"))
    aval = typeof(x)
    is_integer = kind_of(aval.dtype) in ("signed integer", "unsigned integer")
    if is_integer and not aval.weak_type:
        return x
    if type(x) is int and not -(1 << 31) <= x < 1 << 31 and config.dtype_bits == 32:
        raise OverflowError(
            f"randint: the bound {x} does not fit into int32; give it as a NumPy array of a wider "
            f"dtype."
        )
    return in_dtype(x, default_dtype("int"))


def _clipped(x: Any, dtype: DType) -> Any:
    """Integers in another dtype; those beyond its limits become the limits."""
    own, other = integer_limits(typeof(x).dtype), integer_limits(dtype)
    limits = max(own[0], other[0]), min(own[1], other[1])
    return lax.convert_element_type(clip(x, *limits), dtype)


def _integers(typed: Any, minval: Any, maxval: Any, shape: Shape, dtype: DType) -> Any:
    limit = np.array(min(integer_limits(dtype)[1], integer_limits(typeof(maxval).dtype)[1]))
    above = lax.gt(maxval, limit.astype(typeof(maxval).dtype)[()])
    low, high = _clipped(minval, dtype), _clipped(maxval, dtype)
    nbits = 8 * dtype.itemsize
    unsigned = np.dtype(f"uint{nbits}")
    # A compiler makes bits many at a time, but not in one loop with divisions.
    upper, lower = lax.optimization_barrier(
        [drawn_bits(one, nbits, shape) for one in split_in(typed)]
    )
    one = unsigned.type(1)
    span = lax.convert_element_type(high - low, unsigned)
    span = _where(high <= low, one, span)
    # A bound beyond the dtype is one more than can be said in it; all 2**nbits become 0, of which
    # the remainder is the number itself.
    span = _where(lax.bitwise_and(above, high > low), span + one, span)
    # 2**nbits modulo the span, without a number of more bits; once for all numbers of a span.
    half = lax.rem(lax.full(typeof(span).shape, 1 << (nbits // 2), unsigned), span)
    factor = lax.rem(lax.mul(half, half), span)
    span, factor = [broadcast_to(x, shape) for x in (span, factor)]
    offset = lax.rem(lax.mul(lax.rem(upper, span), factor) + lax.rem(lower, span), span)
    return low + lax.convert_element_type(offset, dtype)


def _where(condition: Any, x: Any, y: Any) -> Any:
    """A choice among broadcast operands."""
    shape = typeof(y).shape
    if typeof(condition).shape != shape:
        condition = condition if not shape else broadcast_to(condition, shape)
        y = broadcast_to(y, typeof(condition).shape)
    return lax.select(condition, broadcast_to(x, typeof(condition).shape), y)


# ------------------------------------------------------------------------------ two outcomes


def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Array:
    """Draw truth values that are true with a probability.

    Args:
        key: a random key.
        p: the probability of True, broadcast to the shape.
        shape: the shape of the result; that of ``p`` if omitted.
        mode: ``"high"`` draws twice as many bits, for probabilities below one in ten million.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError: when ``p`` is no float.
        ValueError: when there is no such mode, or ``p`` cannot be broadcast to the shape.

    >>> from bindax_random import bernoulli, key
    >>> bernoulli(key(42), 0.5, (4,))
    Array([ True, False, False, False], dtype=bool)
    """
    if out_sharding is not None:
        return decided(bernoulli, out_sharding, (key, p, shape, mode))
    if mode not in ("high", "low"):
        raise ValueError(f"bernoulli: mode must be 'high' or 'low', but got {mode!r}.")
    typed = single_key("bernoulli", key)
    aval = typeof(p)
    if kind_of(aval.dtype) != "float":
        raise TypeError(f"bernoulli: p must be a float, but got {aval.str_short()}.")
    sizes = result_shape("bernoulli", shape, p=p)
    dtype = canonical_dtype(float) if aval.weak_type else aval.dtype
    return _bernoulli(typed, in_dtype(p, dtype), shape=sizes, mode=mode)


@compiled
def _bernoulli(key: Any, p: Any, *, shape: Shape, mode: str) -> Any:
    dtype, chance = typeof(p).dtype, broadcast_to(p, shape)
    if mode == "low":
        return lax.lt(uniform_floats(key, shape, dtype), chance)
    pair = uniform_floats(key, (2, *shape), dtype)
    coarse, fine = [lax.index_in_dim(pair, i, 0, False) for i in (0, 1)]
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    scale = np.array(2.0 ** -int(info.nmant)).astype(dtype)
    return lax.lt(fine * scale, chance - coarse)


def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw -1 and 1, equally likely.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: the dtype of the result; the default integer dtype if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, rademacher
    >>> rademacher(key(42), (4,))
    Array([ 1, -1, -1, -1], dtype=int32)
    """
    if out_sharding is not None:
        return decided(rademacher, out_sharding, (key, shape, dtype))
    found = canonical_dtype(int if dtype is None else dtype)
    typed = single_key("rademacher", key)
    return signs_of(typed, shape=shape_argument("rademacher", shape), dtype=found)


@compiled
def signs_of(key: Any, *, shape: Shape, dtype: DType) -> Any:
    """Signs of one typed key."""
    truth = lax.lt(uniform_floats(key, shape, canonical_dtype(float)), 0.5)
    return lax.convert_element_type(truth, dtype) * np.array(2).astype(dtype) - np.array(1).astype(
        dtype
    )
