"""Steps that fold elements together: reductions, running and windowed ones, and sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from .operands import FLOATS, INTEGERS, Operands, Step, fit, tame

ORDERED = (*FLOATS, *INTEGERS)


def _axes(p: Operands, x: Any) -> tuple[int, ...]:
    return tuple(p.permutation(x.ndim)[: p.number(0, x.ndim)])


def summed(p: Operands) -> Any:
    x = p.pick((*FLOATS, "complex64", "complex128", "int32", "int8", "uint32"))
    if str(x.dtype).startswith("c") or p.flag():
        return p.ops.reduce_sum(x, _axes(p, x))
    axis = p.axis(x) if x.ndim else None
    return p.choice([x.sum, x.mean])(axis)


def multiplied(p: Operands) -> Any:
    x = p.inexact()
    return p.ops.reduce_prod(x * 0.3 + 0.9, _axes(p, x))


def extreme(p: Operands) -> Any:
    """The least or greatest, of at least one element."""
    x = p.spread(p.pick(ORDERED, empty=False))
    return getattr(p.ops, p.choice(["reduce_max", "reduce_min"]))(x, _axes(p, x))


def logical_fold(p: Operands) -> Any:
    x = p.pick((*INTEGERS, "bool"))
    return getattr(p.ops, p.choice(["reduce_and", "reduce_or", "reduce_xor"]))(x, _axes(p, x))


def position(p: Operands) -> Any:
    x = p.spread(p.pick(ORDERED, rank=1, empty=False))
    return getattr(p.ops, p.choice(["argmax", "argmin"]))(x, p.axis(x), np.int32)


def _compound(a: Any, b: Any) -> Any:
    """Associative, and zero changes nothing: rates of interest, one after the other."""
    return a + b + a * b * 0.1


def general_fold(p: Operands) -> Any:
    """``reduce`` with a function that no primitive stands for."""
    x = p.fixed(p.real())
    zero = np.zeros((), x.dtype)
    return p.ops.reduce(x, zero, _compound, _axes(p, x))


def place_of_least(p: Operands) -> Any:
    """``reduce`` of two operands together: the least element of each row and its position."""
    x = p.fixed(p.spread(p.real(rank=1, empty=False)))
    axis = p.axis(x)
    places = p.ops.broadcasted_iota(np.int32, x.shape, axis)

    def lesser(a: Any, b: Any) -> Any:
        first = a[0] <= b[0]
        return p.ops.select(first, a[0], b[0]), p.ops.select(first, a[1], b[1])

    start = (np.asarray(np.inf, x.dtype), np.int32(9))
    return tuple(p.ops.reduce((x, places), start, lesser, (axis,)))


def running(p: Operands) -> Any:
    name = p.choice(["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])
    plain = name in ("cummax", "cummin", "cumlogsumexp")
    x = p.spread(p.real(rank=1) if plain else p.inexact(rank=1))
    if name == "cumprod":
        x = x * 0.3 + 0.8
    return getattr(p.ops, name)(x, p.axis(x), p.flag())


def running_integers(p: Operands) -> Any:
    x = p.integer(rank=1)
    name = p.choice(["cumsum", "cumprod", "cummax", "cummin"])
    return getattr(p.ops, name)(x, p.axis(x), p.flag())


def associative(p: Operands) -> Any:
    """Products of pairs, as a recurrence of first order composes them."""
    x = p.real(rank=1, empty=False)

    def compose(a: Any, b: Any) -> Any:
        return a[0] * b[0], a[1] * b[0] + b[1]

    slope, offset = p.ops.tanh(x), p.like(x) * 0.5
    return p.ops.associative_scan(compose, (slope, offset), reverse=p.flag(), axis=p.axis(x))[1]


def _window(p: Operands, x: Any, dilated: bool) -> dict[str, Any]:
    return {
        "window_dimensions": tuple(min(size, p.number(1, 2)) for size in x.shape),
        "window_strides": tuple(p.number(1, 2) for _ in x.shape),
        "padding": p.choice(["SAME", "VALID"]),
        "window_dilation": tuple(1 + (dilated and size > 2 and p.flag()) for size in x.shape),
    }


def windowed(p: Operands) -> Any:
    x = p.spread(p.real(rank=1, empty=False))
    name, start = p.choice([("add", 0.0), ("max", -np.inf), ("min", np.inf)])
    options = _window(p, x, dilated=name == "add")  # JAX cannot run others backwards
    return p.ops.reduce_window(x, np.asarray(start, x.dtype), getattr(p.ops, name), **options)


def general_windows(p: Operands) -> Any:
    x = p.fixed(p.real(rank=1, empty=False))
    options = _window(p, x, dilated=True)
    return p.ops.reduce_window(x, np.zeros((), x.dtype), _compound, **options)


def ordered(p: Operands) -> Any:
    x = p.spread(p.pick((*ORDERED, "bool"), rank=1))
    return p.ops.sort(x, p.axis(x))


def ordered_together(p: Operands) -> Any:
    """Values in the order of keys."""
    x = p.spread(p.pick(ORDERED, rank=1))
    axis = p.axis(x)
    if p.flag():
        return tuple(p.ops.sort_key_val(x, p.like(x), axis))
    others = p.like(x), fit(p.ops, p.real(), x.shape)
    return tuple(p.ops.sort((x, *others), axis, num_keys=p.number(1, 2)))


def greatest(p: Operands) -> Any:
    x = p.spread(p.pick(ORDERED, rank=1))
    axis = p.axis(x)
    values, places = p.ops.top_k(x, p.number(0, x.shape[axis]), axis=axis)
    return values, places


def softmax(p: Operands) -> Any:
    x = p.real(rank=1, empty=False)
    axis = p.axis(x)
    high = p.ops.stop_gradient(x.max(axis, keepdims=True))
    powers = p.ops.exp(x - high)
    # Over one element the quotient is 1, and its derivative 0 but for roundings.
    return tame(p.ops, powers / p.rounded(powers.sum(axis, keepdims=True)))


STEPS: dict[str, Step] = {
    "sum": summed,
    "prod": multiplied,
    "extreme": extreme,
    "logical fold": logical_fold,
    "position": position,
    "general fold": general_fold,
    "place of least": place_of_least,
    "running": running,
    "running integers": running_integers,
    "associative_scan": associative,
    "windows": windowed,
    "general windows": general_windows,
    "sort": ordered,
    "sort together": ordered_together,
    "top_k": greatest,
    "softmax": softmax,
}
