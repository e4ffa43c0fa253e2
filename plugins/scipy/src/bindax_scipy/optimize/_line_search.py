"""Steps along a direction that satisfy the strong conditions of Wolfe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import bindax_numpy as jnp
from bindax_control_flow import while_loop

# How much of the predicted decrease there must be, and of the slope that may be left.
_DECREASE, _SLOPE = 1e-4, 0.9


class _End(NamedTuple):
    """A step length, and the function and its slope there."""

    a: Any
    value: Any
    slope: Any


class Search(NamedTuple):
    """The result of a search."""

    failed: Any
    count: Any
    a: Any
    x: Any
    value: Any
    gradient: Any


class _State(NamedTuple):
    """A search so far: the interval, the next length to try, and the best end found."""

    count: Any
    done: Any
    bracketed: Any
    low: _End
    high: _End
    a: Any
    gradient: Any
    found: _End


def _chosen(condition: Any, first: _End, second: _End) -> _End:
    return _End(*(jnp.where(condition, x, y) for x, y in zip(first, second, strict=True)))


def _between(low: _End, high: _End) -> Any:
    """The minimum of the parabola through both ends, kept away from them."""
    width = high.a - low.a
    bend = high.value - low.value - low.slope * width
    part = jnp.where(bend > 0, -low.slope * width / (2 * jnp.where(bend > 0, bend, 1)), 0.5)
    part = jnp.where((part > 0.1) & (part < 0.9), part, 0.5)
    return low.a + part * width


def _step(state: _State, here: _End, gradient: Any, start: _End) -> _State:
    """Widen or narrow the interval by what was found at the length that was tried."""
    low, high = state.low, state.high
    least = start.value + _DECREASE * here.a * start.slope
    poor = ~(here.value <= least) | (here.value >= low.value) & (low.a != 0)
    flat = jnp.abs(here.slope) <= -_SLOPE * start.slope
    done = ~poor & flat
    # A rising end, or one that is not low enough, closes the interval.
    rising = here.slope * jnp.where(state.bracketed, high.a - low.a, 1.0) >= 0
    new_low = _chosen(poor, low, here)
    new_high = _chosen(poor, here, _chosen(rising, low, high))
    bracketed = state.bracketed | poor | rising
    better = ~poor & (here.value <= state.found.value)
    return _State(
        state.count + 1,
        done,
        bracketed,
        new_low,
        new_high,
        jnp.where(bracketed, _between(new_low, new_high), 2 * here.a),
        jnp.where(better | done, gradient, state.gradient),
        _chosen(better | done, here, state.found),
    )


def line_search(
    value_and_grad: Callable[[Any], Any],
    x: Any,
    direction: Any,
    value: Any,
    gradient: Any,
    first: Any,
    most: int,
) -> Search:
    """A step along a direction in which a function falls: the interval is widened, then narrowed.

    Nocedal and Wright, "Numerical optimization", 2006, algorithms 3.5 and 3.6. At most ``most``
    lengths are tried, beginning with ``first``.
    """
    start = _End(jnp.zeros_like(value), value, jnp.vdot(gradient, direction))

    def unfinished(state: _State) -> Any:
        return ~state.done & (state.count < most)

    def step(state: _State) -> _State:
        fresh, g = value_and_grad(x + state.a * direction)
        return _step(state, _End(state.a, fresh, jnp.vdot(g, direction)), g, start)

    no = jnp.zeros((), bool)
    first = jnp.asarray(first).astype(value.dtype)
    state = while_loop(
        unfinished,
        step,
        _State(jnp.zeros((), np.int32), no, no, start, start, first, gradient, start),
    )
    found = state.found
    # A decrease is worth a step, though the slope is not small yet.
    failed = ~state.done & ~(found.value < value)
    return Search(
        failed, state.count, found.a, x + found.a * direction, found.value, state.gradient
    )
