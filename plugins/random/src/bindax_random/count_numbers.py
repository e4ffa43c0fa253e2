"""Numbers of events: Poisson, binomial and multinomial ones.

Small expected counts are found by adding waiting times until they exceed what is given; large ones
by transformed rejection (W. Hörmann, The Transformed Rejection Method for Generating Poisson Random
Variables, 1993; The Generation of Binomial Random Variates, 1993).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow import scan, while_loop
from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import DType, broadcast_to, integer_limits
from bindax_numpy import clip, isinf, moveaxis, where
from bindax_random._compiled import compiled
from bindax_random._operands import (
    Shape,
    check_method,
    float_dtype,
    in_dtype,
    integer_dtype,
    parameter_dtype,
    promoted_floats,
    result_shape,
    shape_of,
)
from bindax_random.keys import random_split_p, single_key
from bindax_random.uniform_numbers import split_in, uniform_floats
from bindax_special import lgamma
from bindax_transforms.extend import decided

_FLOAT32 = np.dtype(np.float32)
_KNUTH_BELOW = 10.0
_TOO_MANY = 100000.0


def poisson(
    key: Any,
    lam: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "exact",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of events that come independently at a rate.

    Args:
        key: a random key.
        lam: the expected number, not negative; broadcast to the shape of the result. It is taken
            in float32, as in JAX.
        shape: the shape of the result; that of ``lam`` if omitted.
        dtype: an integer dtype; the default one if omitted.
        method: "exact", or "approximate", which permits numbers of a distribution close to it; both
            draw exact ones here.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError: when the dtype is no integer dtype.
        ValueError: when ``lam`` cannot be broadcast to the shape, or ``method`` is another.

    >>> from bindax_random import key, poisson
    >>> poisson(key(42), 4.0, (4,))
    Array([6, 3, 2, 2], dtype=int32)
    """
    if out_sharding is not None:
        return decided(poisson, out_sharding, (key, lam, shape, dtype, method))
    check_method("poisson", method)
    typed, found = single_key("poisson", key), integer_dtype("poisson", dtype)
    sizes = result_shape("poisson", shape, lam=lam)
    return _poisson(typed, in_dtype(lam, _FLOAT32), shape=sizes, dtype=found)


@compiled
def _poisson(key: Any, lam: Any, *, shape: Shape, dtype: DType) -> Any:
    lam = broadcast_to(lam, shape)
    is_small = lax.bitwise_or(lax.ne(lam, lam), lam < _KNUTH_BELOW)
    small = lax.select(is_small, lam, lax.full_like(lam, 0))
    large = lax.select(is_small, lax.full_like(lam, _TOO_MANY), lam)
    counts = lax.select(
        is_small,
        _poisson_by_waiting(key, small, dtype),
        _poisson_by_rejection(key, large, dtype),
    )
    return lax.select(lax.eq(lam, lax.full_like(lam, 0)), lax.full_like(counts, 0), counts)


def _rounds(dtype: DType) -> Any:
    """Return the limit of a loop: as many rounds as its results can count."""
    return np.array(min(integer_limits(dtype)[1], integer_limits(np.dtype(np.int32))[1]), np.int32)


def _is_any(x: Any) -> Any:
    return lax.reduce_or(x, tuple(range(len(shape_of(x)))))


def _poisson_by_waiting(key: Any, lam: Any, dtype: DType) -> Any:
    """Count uniform numbers until their product falls below exp(-lam)."""

    def is_unfinished(state: Any) -> Any:
        i, _, _, logarithm = state
        return lax.bitwise_and(_is_any(logarithm > -lam), i < _rounds(dtype))

    def step(state: Any) -> Any:
        i, count, key, logarithm = state
        key, own = split_in(key)
        count = lax.select(logarithm > -lam, count + 1, count)
        drawn = uniform_floats(own, shape_of(lam), _FLOAT32)
        return i + 1, count, key, logarithm + lax.log(drawn)

    start = np.int32(0), lax.full_like(lam, 0, dtype), key, lax.full_like(lam, 0)
    return while_loop(is_unfinished, step, start)[1] - 1


def _poisson_by_rejection(key: Any, lam: Any, dtype: DType) -> Any:
    """Hörmann's algorithm PTRS."""
    log_lam = lax.log(lam)
    b = 0.931 + 2.53 * lax.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inv_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)

    def propose(u: Any, v: Any, distance: Any) -> Any:
        k = lax.floor((2 * a / distance + b) * u + lam + 0.43)
        s = lax.log(v * inv_alpha / (a / (distance * distance) + b))
        density = -lam + k * log_lam - lgamma(k + 1)
        at_once = (distance >= 0.07) & (v <= v_r)
        never = (k < 0) | ((distance < 0.013) & (v > distance))
        return k, at_once | (~never & (s <= density))

    return _accepted(key, lam, dtype, _rounds(dtype), propose)


def _accepted(key: Any, like: Any, dtype: DType, rounds: Any, propose: Callable[..., Any]) -> Any:
    """Numbers that are proposed for two uniform ones each until all are accepted.

    The uniform ones have the type of ``like``, and lie on devices as it does.
    The proposal is made of the first number less a half, of the second one, and of the distance of
    the first from the nearer of 0 and 1; with it comes whether it is accepted.
    """
    drawn = typeof(like).dtype

    def is_unfinished(state: Any) -> Any:
        i, _, accepted, _ = state
        return lax.bitwise_and(_is_any(lax.bitwise_not(accepted)), i < rounds)

    def step(state: Any) -> Any:
        i, kept, accepted, key = state
        key, first, second = split_in(key, 3)
        u = uniform_floats(first, shape_of(like), drawn) - 0.5
        v = uniform_floats(second, shape_of(like), drawn)
        k, accept = propose(u, v, 0.5 - lax.abs(u))
        return i + 1, lax.select(accept, k, kept), accepted | accept, key

    start = np.int32(0), lax.full_like(like, -1), lax.full_like(like, False, bool), key
    return lax.convert_element_type(while_loop(is_unfinished, step, start)[1], dtype)


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Draw how many of a number of trials succeed.

    Args:
        key: a random key.
        n: the number of trials; broadcast to the shape of the result.
        p: the probability that a trial succeeds.
        shape: the shape of the result; that of the parameters together if omitted.
        dtype: a float dtype; the default one if omitted.

    Returns:
        Whole numbers as floats; nan where ``n`` is negative or ``p`` is no probability.

    >>> from bindax_random import binomial, key
    >>> binomial(key(42), 10, 0.5, (4,))
    Array([6., 4., 7., 5.], dtype=float32)
    """
    typed, found = single_key("binomial", key), float_dtype("binomial", dtype)
    sizes = result_shape("binomial", shape, n=n, p=p)
    n, p = [in_dtype(x, parameter_dtype(p)) for x in (n, p)]
    return _binomial(typed, n, p, shape=sizes, dtype=found)


@compiled
def _binomial(key: Any, n: Any, p: Any, *, shape: Shape, dtype: DType) -> Any:
    n, p = [broadcast_to(x, shape) for x in (n, p)]
    is_low = p < 0.5
    chance = lax.select(is_low, p, 1.0 - p)
    wrong_count = (n != n) | (n < 0)
    wrong_chance = (chance != chance) | (chance < 0)
    endless = isinf(n)
    chance = lax.select(wrong_chance, lax.full_like(chance, 0.01), chance)
    by_waiting = wrong_count | (n * chance <= 10.0)
    n = lax.floor(n)
    counts = lax.select(
        by_waiting,
        _binomial_by_waiting(key, lax.select(by_waiting, n, lax.full_like(n, 0)), chance, dtype),
        _binomial_by_rejection(
            key,
            lax.select(by_waiting, lax.full_like(n, 10000.0), n),
            lax.select(by_waiting, lax.full_like(chance, 0.5), chance),
            dtype,
        ),
    )
    invalid = wrong_chance | wrong_count
    counts = lax.select(invalid, lax.full_like(counts, np.nan), counts)
    counts = lax.select(endless & ~invalid, lax.full_like(counts, np.inf), counts)
    as_they_are = is_low | wrong_count | (chance != chance) | endless
    return lax.select(as_they_are, counts, lax.convert_element_type(n, dtype) - counts)


def _limit(dtype: DType) -> Any:
    """Return the limit of a loop: as many rounds as its results can count."""
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return np.int32(min(float(info.max), float(np.iinfo(np.int32).max)))


def _binomial_by_waiting(key: Any, n: Any, p: Any, dtype: DType) -> Any:
    """Count successes by the numbers of trials from each to the next."""
    scale = lax.log1p(-p)
    none = lax.full_like(n * p, 0)

    def is_unfinished(state: Any) -> Any:
        i, _, trials, _ = state
        return lax.bitwise_and(_is_any(trials <= n), i < _limit(dtype))

    def step(state: Any) -> Any:
        i, count, trials, key = state
        own, key = split_in(key)
        count = lax.select(trials <= n, count + 1, count)
        drawn = uniform_floats(own, shape_of(none), typeof(none).dtype)
        more = lax.ceil(lax.log(drawn) / scale)
        return i + 1, count, trials + more, key

    start = np.int32(0), none, none, key
    return lax.convert_element_type(while_loop(is_unfinished, step, start)[1] - 1, dtype)


_STIRLING_TAILS = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.010411265261972,
    0.00925546218271273,
    0.00833056343336287,
)
"""The error of Stirling's formula for the logarithm of k!, for k from 0 to 9."""


def _stirling_tail(k: Any) -> Any:
    """The error of Stirling's formula for the logarithm of k!."""
    k = lax.max(k, lax.full_like(k, 0))
    square = (k + 1) * (k + 1)
    error = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    for i, tail in enumerate(_STIRLING_TAILS):  # not a table, whose indices may be divided
        error = lax.select(lax.floor(k) == i, lax.full_like(error, tail), error)
    return error


def _binomial_by_rejection(key: Any, n: Any, p: Any, dtype: DType) -> Any:
    """Hörmann's algorithm BTRS."""
    deviation = lax.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    ratio = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    m = lax.floor((n + 1) * p)

    def density(k: Any) -> Any:
        return (
            (m + 0.5) * lax.log((m + 1) / (ratio * (n - m + 1)))
            + (n + 1) * lax.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * lax.log(ratio * (n - k + 1) / (k + 1))
            + _stirling_tail(m)
            + _stirling_tail(n - m)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )

    def propose(u: Any, v: Any, distance: Any) -> Any:
        at_once = (distance >= 0.07) & (v <= v_r)
        k = lax.floor((2 * a / distance + b) * u + c)
        never = (k < 0) | (k > n)
        v = lax.log(v * alpha / (a / (distance * distance) + b))
        return k, at_once | (~never & (v <= density(k)))

    return _accepted(key, c, dtype, _limit(dtype), propose)


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1
) -> Array:
    """Draw how often each of several outcomes comes in a number of trials.

    Args:
        key: a random key.
        n: the number of trials; broadcast to the shape of the draws.
        p: the probabilities of the outcomes, along the last axis.
        shape: the shape of the result with the axis of the outcomes, as in JAX; that of ``p`` if
            omitted.
        dtype: a float dtype; that of the parameters if omitted.
        unroll: as for ``lax.scan``, over the outcomes.

    >>> from bindax_random import key, multinomial
    >>> float(multinomial(key(42), 10, np.full(4, 0.25, np.float32)).sum())
    10.0
    """
    typed = single_key("multinomial", key)
    n, p = promoted_floats(n, p)
    if not shape_of(p):
        raise ValueError("multinomial: p must have an axis of outcomes, but is a scalar.")
    own = typeof(p).dtype
    sizes = shape_of(p) if shape is None else result_shape("multinomial", shape, p=p)
    found = own if dtype is None else float_dtype("multinomial", dtype)
    result_shape("multinomial", sizes[:-1], n=n)
    return _multinomial(typed, n, p, shape=sizes, dtype=found, unroll=unroll)


@compiled
def _multinomial(
    key: Any, n: Any, p: Any, *, shape: Shape, dtype: DType, unroll: int | bool
) -> Any:
    chances = moveaxis(broadcast_to(p, shape), -1, 0)
    remaining = lax.cumsum(chances, 0, reverse=True)
    ratios = chances / where(remaining == 0, 1, remaining)
    keys = random_split_p.bind(key, shape=(shape[-1],))
    drawn = typeof(chances).dtype

    def draw(left: Any, ratio_key: Any) -> Any:
        ratio, own = ratio_key
        count = _binomial(own, left, clip(ratio, 0, 1), shape=shape[:-1], dtype=drawn)
        return left - count, count

    _, counts = scan(draw, broadcast_to(n, shape[:-1]), (ratios, keys), unroll=unroll)
    return lax.convert_element_type(moveaxis(counts, 0, -1), dtype)
