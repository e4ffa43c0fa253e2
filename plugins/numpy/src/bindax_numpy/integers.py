"""Shifts, counts and packing of bits, and common divisors."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert, integer_limits, operators, static_int
from bindax_numpy._operands import array_operand, promoted
from bindax_numpy.arithmetic import abs
from bindax_numpy.comparison import choice
from bindax_numpy.concatenate import concatenate
from bindax_numpy.reductions import sum
from bindax_numpy.reshaping import along, moveaxis, reshape


def _integers(name: str, *operands: Any) -> tuple[Any, ...]:
    made = tuple([array_operand(name, x) for x in operands])
    for x in made:
        aval = typeof(x)
        if not dtypes.is_integer(aval.dtype) and aval.dtype != dtypes.bool_:
            raise TypeError(f"{name} takes integers, but got {aval.str_short()}.")
    return made


def left_shift(x: Any, y: Any, /) -> Array:
    """``x << y``: the bits moved up, which multiplies by powers of 2.

    >>> jnp.left_shift(jnp.array([1, 3]), 2)
    Array([ 4, 12], dtype=int32)
    """
    return operators.left_shift(*_integers("left_shift", x, y))


def right_shift(x: Any, y: Any, /) -> Array:
    """``x >> y``: the bits moved down, which keeps the sign.

    >>> jnp.right_shift(jnp.array([12, -8]), 2)
    Array([ 3, -2], dtype=int32)
    """
    return operators.right_shift(*_integers("right_shift", x, y))


bitwise_left_shift = left_shift
bitwise_right_shift = right_shift


def bitwise_count(x: Any, /) -> Array:
    """The numbers of bits that are set in the sizes of integers, uint8.

    >>> jnp.bitwise_count(jnp.array([7, -7]))
    Array([3, 3], dtype=uint8)
    """
    (v,) = _integers("bitwise_count", x)
    if typeof(v).dtype == dtypes.bool_:
        return convert(v, np.dtype(np.uint8), False)
    if dtypes.kind_of(typeof(v).dtype) == "signed integer":
        v = lax.abs(v)
    return convert(lax.population_count(v), np.dtype(np.uint8), False)


def gcd(x1: Any, x2: Any) -> Array:
    """The greatest common divisors of integers, by Euclid's algorithm.

    >>> jnp.gcd(jnp.array([12, 0]), jnp.array([18, -5]))
    Array([6, 5], dtype=int32)
    """
    x, y = promoted("gcd", *_integers("gcd", x1, x2))
    shape = lax.broadcast_shapes(typeof(x).shape, typeof(y).shape)
    x, y = (lax.broadcast(v, shape) if not typeof(v).shape else v for v in (abs(x), abs(y)))
    zero, one = lax.full_like(y, 0), lax.full_like(y, 1)
    bits = int(integer_limits(typeof(x).dtype)[1]).bit_length()
    # Neighbours in Fibonacci's sequence, which grows as powers of 1.618, take the most steps.
    for _ in range(3 * bits // 2 + 1):
        done = lax.eq(y, zero)
        x, y = lax.select(done, x, y), lax.rem(x, lax.select(done, one, y))
    # The least signed integer has no absolute value.
    return abs(x)


def lcm(x1: Any, x2: Any) -> Array:
    """The least common multiples of integers.

    >>> jnp.lcm(jnp.array([4, 0]), jnp.array([6, 5]))
    Array([12,  0], dtype=int32)
    """
    x, y = promoted("lcm", *_integers("lcm", x1, x2))
    divisor = gcd(x, y)
    return choice(divisor == 0, 0, abs(x) * (abs(y) // choice(divisor == 0, 1, divisor)))


def _bit_order(name: str, bitorder: str) -> Any:
    if bitorder not in ("big", "little"):
        raise ValueError(f"{name}: bitorder must be 'big' or 'little', but it is {bitorder!r}.")
    shifts = np.arange(8, dtype=np.uint8)
    return shifts[::-1].copy() if bitorder == "big" else shifts


def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements each, whether they are not zero, as the bits of one uint8.

    Args:
        a: an array of integers or booleans.
        axis: the axis, at whose end zeros are added; None packs all elements, in order.
        bitorder: whether the first of eight is the highest bit, "big", or the lowest, "little".

    >>> jnp.packbits(jnp.array([1, 0, 0, 0, 0, 0, 0, 1, 1]))
    Array([129, 128], dtype=uint8)
    """
    (x,) = _integers("packbits", a)
    shifts = _bit_order("packbits", bitorder)
    x, place = along("packbits", convert(x, dtypes.bool_, False), axis)
    bits = moveaxis(convert(x, np.dtype(np.uint8), False), place, -1)
    *lead, n = typeof(bits).shape
    bits = lax.pad(bits, np.uint8(0), [(0, 0, 0)] * len(lead) + [(0, -n % 8, 0)])
    groups = reshape(bits, (*lead, (n + 7) // 8, 8))
    shifts = reshape(shifts, (1,) * (typeof(groups).ndim - 1) + (8,))
    return moveaxis(sum(left_shift(groups, shifts), -1, "uint8"), -1, place)


def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The bits of uint8, each as an element.

    Args:
        a: an array of uint8.
        axis: the axis, which becomes eight times as long; None unpacks all elements, in order.
        count: how many bits are returned, by default all; a negative number leaves out as many.
        bitorder: as for ``packbits``.

    Raises:
        TypeError: for any other dtype.

    >>> jnp.unpackbits(jnp.array([129], "uint8"))
    Array([1, 0, 0, 0, 0, 0, 0, 1], dtype=uint8)
    """
    x = array_operand("unpackbits", a)
    if typeof(x).dtype != np.uint8:
        raise TypeError(f"unpackbits takes uint8, but got {typeof(x).str_short()}.")
    shifts = _bit_order("unpackbits", bitorder)
    x, place = along("unpackbits", x, axis)
    moved = moveaxis(x, place, -1)
    shifts = reshape(shifts, (1,) * typeof(moved).ndim + (8,))
    bits = right_shift(lax.expand_dims(moved, (typeof(moved).ndim,)), shifts) & np.uint8(1)
    *lead, n = typeof(moved).shape
    bits = reshape(bits, (*lead, 8 * n))
    if count is not None:
        wanted = static_int("unpackbits", "count", count)
        extra = max(0, wanted - 8 * n)
        bits = concatenate([bits[..., :wanted], lax.full((*lead, extra), 0, np.uint8)], -1)
    return moveaxis(bits, -1, place)
