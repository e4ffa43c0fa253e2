"""The rules for the standard primitives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow import cond_p
from bindax_core import find_primitive
from bindax_core.extend import Extension, Primitive, extend, jaxpr_as_fun, typeof
from bindax_example_intervals.interval import (
    Interval,
    constant,
    contains_zero,
    exact,
    greatest,
    hull,
    least,
    unbounded,
)
from bindax_example_intervals.transformation import IntervalTrace, interval
from bindax_transforms import custom_jvp_call_p, custom_vjp_call_p, custom_vmap_call_p, jit_p

INCREASING = (
    "acosh",
    "add",
    "and",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "broadcast_in_dim",
    "cbrt",
    "ceil",
    "clamp",
    "concatenate",
    "convert_element_type",
    "copy",
    "cummax",
    "cummin",
    "cumsum",
    "erf",
    "erf_inv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "log",
    "log1p",
    "logistic",
    "max",
    "min",
    "or",
    "pad",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_sum",
    "reshape",
    "rev",
    "round",
    "sign",
    "sinh",
    "slice",
    "sort",
    "split",
    "sqrt",
    "squeeze",
    "stop_gradient",
    "tanh",
    "transpose",
)
"""Increasing in every operand: the bounds are the values at the bounds."""

DECREASING = ("acos", "erfc", "neg", "not", "rsqrt")
"""Decreasing, in one operand."""


def rules() -> Iterator[Extension]:
    """The rules of this package, each for a primitive of another."""
    for name in INCREASING:
        yield _extended(name, increasing)
    for name in DECREASING:
        yield _extended(name, decreasing)
    for name, rule in {
        "sub": lambda p, x, y: Interval(p(x.lower, y.upper), p(x.upper, y.lower)),
        "mul": lambda p, x, y: product(x, y),
        "div": lambda p, x, y: product(x, reciprocal(y)),
        "abs": lambda p, x: magnitude(x),
        "square": lambda p, x: even_power(x, 2),
        "integer_pow": integer_power,
        "sin": lambda p, x: wave(p, x, math.pi / 2),
        "cos": lambda p, x: wave(p, x, 0.0),
        "lt": lambda p, x, y: Interval(p(x.upper, y.lower), p(x.lower, y.upper)),
        "le": lambda p, x, y: Interval(p(x.upper, y.lower), p(x.lower, y.upper)),
        "gt": lambda p, x, y: Interval(p(x.lower, y.upper), p(x.upper, y.lower)),
        "ge": lambda p, x, y: Interval(p(x.lower, y.upper), p(x.upper, y.lower)),
        "select_n": selection,
        "dot_general": contraction,
        "gather": indexed,
        "dynamic_slice": indexed,
    }.items():
        yield _extended(name, rule)
    yield extend(jit_p, interval(_jit, with_trace=True))
    yield extend(cond_p, interval(_cond, with_trace=True))
    for primitive in (custom_jvp_call_p, custom_vjp_call_p, custom_vmap_call_p):
        yield extend(primitive, interval(_custom_call, with_trace=True))


def _extended(name: str, rule: Callable[..., Any]) -> Extension:
    """The rule for a primitive of that name, which is given the primitive's ``bind`` first."""
    primitive = find_primitive(name)
    return extend(
        primitive,
        interval(
            lambda *operands, **params: rule(_binding(primitive, params), *operands, **params)
        ),
    )


def _binding(primitive: Primitive, params: dict[str, Any]) -> Callable[..., Any]:
    return lambda *operands, **_: primitive.bind(*operands, **params)


def increasing(bind: Any, *operands: Interval, **params: Any) -> Any:
    """Bounds of a function that increases in every operand."""
    lower = bind(*[x.lower for x in operands])
    upper = bind(*[x.upper for x in operands])
    if isinstance(lower, list):
        return [Interval(*pair) for pair in zip(lower, upper, strict=True)]
    return Interval(lower, upper)


def decreasing(bind: Any, x: Interval, **params: Any) -> Interval:
    """Bounds of a function that decreases."""
    return Interval(bind(x.upper), bind(x.lower))


def _product(x: Any, y: Any) -> Any:
    """A product in which zero times infinity is zero, as limits of intervals want it."""
    out = lax.mul(x, y)
    vanishes = lax.bitwise_or(lax.eq(x, constant(0, x)), lax.eq(y, constant(0, y)))
    return lax.select(spread(vanishes, out), constant(0, out), out)


def spread(condition: Any, like: Any) -> Any:
    """A condition for all elements of an array, where it is a scalar."""
    shape = typeof(like).shape
    return (
        condition
        if typeof(condition).shape == shape
        else lax.full_like(like, 0, np.bool_) | condition
    )


def product(x: Interval, y: Interval) -> Interval:
    """The product: the extremes are at corners."""
    corners = [_product(a, b) for a in x for b in y]
    lower, upper = corners[0], corners[0]
    for corner in corners[1:]:
        lower, upper = least(lower, corner), greatest(upper, corner)
    return Interval(lower, upper)


def reciprocal(x: Interval) -> Interval:
    """One divided by an interval: everything, where the interval has a zero inside."""
    one = constant(1, x.lower)
    everything = unbounded(typeof(x.lower))
    singular = contains_zero(x)
    return Interval(
        lax.select(singular, everything.lower, lax.div(one, x.upper)),
        lax.select(singular, everything.upper, lax.div(one, x.lower)),
    )


def magnitude(x: Interval) -> Interval:
    """The absolute value: least at zero, where that is inside."""
    first, second = lax.abs(x.lower), lax.abs(x.upper)
    low = lax.select(contains_zero(x), constant(0, first), lax.min(first, second))
    return Interval(low, lax.max(first, second))


def even_power(x: Interval, exponent: int) -> Interval:
    """An even positive power: an increasing function of the magnitude."""
    low, high = magnitude(x)
    return Interval(lax.integer_pow(low, exponent), lax.integer_pow(high, exponent))


def integer_power(bind: Any, x: Interval, *, y: int) -> Interval:
    """A power with a whole exponent."""
    if y < 0:
        return reciprocal(integer_power(bind, x, y=-y))
    if y == 0:
        return exact(constant(1, x.lower))
    if y % 2 == 0:
        return even_power(x, y)
    return Interval(lax.integer_pow(x.lower, y), lax.integer_pow(x.upper, y))


def wave(bind: Any, x: Interval, peak: float) -> Interval:
    """Sine or cosine: 1 where a maximum is inside, -1 where a minimum is."""
    first, second = bind(x.lower), bind(x.upper)
    high = lax.select(_meets(x, peak), constant(1, first), lax.max(first, second))
    low = lax.select(_meets(x, peak + math.pi), constant(-1, first), lax.min(first, second))
    return Interval(low, high)


def _meets(x: Interval, point: float) -> Any:
    """Tell whether a point is inside, give or take whole turns."""
    turn, start = constant(2 * math.pi, x.lower), constant(point, x.lower)
    first = lax.ceil(lax.div(lax.sub(x.lower, start), turn))
    last = lax.floor(lax.div(lax.sub(x.upper, start), turn))
    return lax.le(first, last)


def selection(bind: Any, which: Interval, *cases: Interval) -> Interval:
    """A selection: of the bounds where the choice is known, else around all cases."""
    around = hull(list(cases))
    lower = bind(which.lower, *[case.lower for case in cases])
    upper = bind(which.lower, *[case.upper for case in cases])
    if which.is_exact:
        return Interval(lower, upper)
    known = lax.eq(which.lower, which.upper)
    known = spread(known, lower)
    return Interval(lax.select(known, lower, around.lower), lax.select(known, upper, around.upper))


def contraction(bind: Any, x: Interval, y: Interval, **params: Any) -> Interval:
    """A product of matrices, by midpoints and radii.

    The method is that of S. M. Rump, *Fast and parallel interval arithmetic*, BIT 39 (1999), which
    needs products of matrices alone. Both operands must be finite.
    """
    (x_mid, x_radius), (y_mid, y_radius) = _ball(x), _ball(y)
    middle = bind(x_mid, y_mid)
    reach = lax.add(
        bind(lax.abs(x_mid), y_radius), bind(x_radius, lax.add(lax.abs(y_mid), y_radius))
    )
    return Interval(lax.sub(middle, reach), lax.add(middle, reach))


def _ball(x: Interval) -> tuple[Any, Any]:
    half = constant(0.5, x.lower)
    return (
        lax.mul(half, lax.add(x.lower, x.upper)),
        lax.mul(half, lax.sub(x.upper, x.lower)),
    )


def indexed(bind: Any, x: Interval, *indices: Interval, **params: Any) -> Interval:
    """A choice of elements by known indices; by unknown ones, everything."""
    if all(one.is_exact for one in indices):
        places = [one.lower for one in indices]
        return Interval(bind(x.lower, *places), bind(x.upper, *places))
    return unbounded(typeof(bind(x.lower, *[one.lower for one in indices])))


# --------------------------------------------------------------------------------- programs


def _jit(trace: IntervalTrace, *operands: Interval, jaxpr: Any, **params: Any) -> list[Interval]:
    return trace.evaluate(jaxpr_as_fun(jaxpr), operands)


def _custom_call(trace: IntervalTrace, *operands: Interval, call: Any, jaxpr: Any) -> Any:
    """Bound a function with rules of its own by what it is made of: none speaks of bounds."""
    return trace.evaluate(call.function, operands)


def _cond(
    trace: IntervalTrace, index: Interval, *operands: Interval, branches: Any, **params: Any
) -> list[Interval]:
    """The branch that is taken, or the hull of all that may be, on whatever platform."""
    if index.is_exact and not hasattr(index.lower, "_trace"):
        return trace.evaluate(jaxpr_as_fun(branches[int(np.asarray(index.lower))]), operands)
    rows = [trace.evaluate(jaxpr_as_fun(branch), operands) for branch in branches]
    return [hull(list(row)) for row in zip(*rows, strict=True)]
