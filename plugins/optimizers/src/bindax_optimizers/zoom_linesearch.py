"""A line search for the strong Wolfe conditions (Nocedal and Wright, 2006, algorithms 3.5, 3.6).

Near a minimum, where values differ by rounding alone, a condition on slopes takes the place of
that on values (Hager and Zhang, 2006).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_control_flow import cond, while_loop
from bindax_optimizers.linesearch import report_if, scalar_dtype, slope_along, with_arguments
from bindax_optimizers.transformation import GradientTransformationExtraArgs
from bindax_optimizers.tree_utils import (
    tree_add_scale,
    tree_cast_like,
    tree_scale,
    tree_where,
    tree_zeros_like,
)
from bindax_transforms import value_and_grad

__all__ = [
    "ScaleByZoomLinesearchState",
    "ZoomLinesearchInfo",
    "scale_by_zoom_linesearch",
]


class ZoomLinesearchInfo(NamedTuple):
    """The number of values that were computed, and what the last one lacks of both conditions.

    >>> ZoomLinesearchInfo._fields
    ('num_linesearch_steps', 'decrease_error', 'curvature_error')
    """

    num_linesearch_steps: Any
    decrease_error: Any
    curvature_error: Any


class ScaleByZoomLinesearchState(NamedTuple):
    """The rate that was found, the value and the gradient there, and how the search went.

    >>> ScaleByZoomLinesearchState._fields
    ('learning_rate', 'value', 'grad', 'info')
    """

    learning_rate: Any
    value: Any
    grad: Any
    info: Any


class _Point(NamedTuple):
    """A rate, and value and slope there."""

    rate: Any
    value: Any
    slope: Any


class _Trial(NamedTuple):
    """A rate, value and gradient there, and what it lacks of both conditions."""

    point: _Point
    grad: Any
    decrease_error: Any
    curvature_error: Any

    @property
    def error(self) -> Any:
        return jnp.maximum(self.decrease_error, self.curvature_error)


class _Search(NamedTuple):
    """The state of a search.

    Attributes:
        count: the number of trials.
        trial: the last one.
        low: the end of the interval with the lower value.
        high: the other end.
        former: the end that was left last, for the cubic interpolation.
        safe: the best trial that falls enough; its rate is 0 before there is one.
        has_interval: whether an interval that has a solution is known.
        is_done: whether the trial meets the conditions, or no larger rate is allowed.
        has_failed: whether the search has to end without.
    """

    count: Any
    trial: _Trial
    low: _Point
    high: _Point
    former: _Point
    safe: _Trial
    has_interval: Any
    is_done: Any
    has_failed: Any


class _Options(NamedTuple):
    """The arguments of ``scale_by_zoom_linesearch`` that a search needs."""

    max_linesearch_steps: Any
    max_learning_rate: Any
    tol: Any
    increase_factor: Any
    slope_rtol: Any
    curv_rtol: Any
    approx_dec_rtol: Any
    stepsize_precision: Any
    initial_guess_strategy: str
    verbose: bool


class _Rules(NamedTuple):
    """The function on the line, the first rate, and the limits of a search."""

    evaluate: Callable[[Any], _Trial]
    first_rate: Any
    options: _Options


def _widened(search: _Search, rules: _Rules) -> _Search:
    """Try a larger rate, until an interval is found."""
    last = search.trial.point
    rate = jnp.where(search.count == 0, rules.first_rate, rules.options.increase_factor * last.rate)
    is_largest: Any = False
    if rules.options.max_learning_rate is not None:
        is_largest, rate = (
            rate >= rules.options.max_learning_rate,
            jnp.minimum(rate, rules.options.max_learning_rate),
        )
    trial = rules.evaluate(rate.astype(last.rate.dtype))
    new = trial.point
    rises = (trial.decrease_error > 0) | ((new.value >= last.value) & (search.count > 0))
    turns = (new.slope >= 0) & ~rises
    low, high = tree_where(turns, (new, last), (last, new))
    is_good = trial.error <= rules.options.tol
    has_interval = rises | turns | is_good
    is_done = is_good | (is_largest & ~has_interval)
    return _Search(
        count=search.count + 1,
        trial=trial,
        low=low,
        high=high,
        former=low,
        safe=tree_where(trial.decrease_error <= rules.options.tol, trial, search.safe),
        has_interval=has_interval,
        is_done=is_done,
        has_failed=(search.count + 1 >= rules.options.max_linesearch_steps) & ~is_done,
    )


def _narrowed(search: _Search, rules: _Rules) -> _Search:
    """Try a rate in the interval, and keep the part that has a solution."""
    low, high = search.low, search.high
    trial = rules.evaluate(_rate_between(low, high, search.former))
    middle = trial.point
    is_good = trial.error <= rules.options.tol
    is_safe = (trial.decrease_error <= rules.options.tol) & (middle.value < search.safe.point.value)
    safe = tree_where(is_safe, trial, search.safe)
    rises = (trial.decrease_error > 0) | (middle.value >= low.value)
    turns = (middle.slope * (high.rate - low.rate) >= 0) & ~rises
    is_short = (jnp.abs(high.rate - low.rate) <= rules.options.stepsize_precision) & (
        safe.point.rate > 0
    )
    return _Search(
        count=search.count + 1,
        trial=trial,
        low=tree_where(rises, low, middle),
        high=tree_where(rises, middle, tree_where(turns, low, high)),
        former=tree_where(rises | turns, high, low),
        safe=safe,
        has_interval=search.has_interval,
        is_done=is_good,
        has_failed=((search.count + 1 >= rules.options.max_linesearch_steps) | is_short) & ~is_good,
    )


def _rate_between(low: _Point, high: _Point, former: _Point) -> Any:
    """The minimum of a cubic, or of a parabola, or the middle: the first well inside."""
    length = jnp.abs(high.rate - low.rate)
    left, right = jnp.minimum(low.rate, high.rate), jnp.maximum(low.rate, high.rate)

    def is_inside(rate: Any, share: float) -> Any:
        return (rate > left + share * length) & (rate < right - share * length)

    cubic, quadratic = _cubic_minimum(low, high, former), _quadratic_minimum(low, high)
    middle = (low.rate + high.rate) / 2
    middle = jnp.where(is_inside(quadratic, 0.1), quadratic, middle)
    return jnp.where(is_inside(cubic, 0.2), cubic, middle)


def _quotient(x: Any, y: Any) -> Any:
    """A quotient, infinite where it is none, which is inside of no interval."""
    return jnp.where(y == 0, jnp.inf, x / jnp.where(y == 0, 1, y))


def _quadratic_minimum(a: _Point, b: _Point) -> Any:
    """The minimum of the parabola through two values, with the slope at the first one."""
    width = b.rate - a.rate
    return a.rate - _quotient(a.slope * width**2, 2 * (b.value - a.value - a.slope * width))


def _cubic_minimum(a: _Point, b: _Point, c: _Point) -> Any:
    """The minimum of the cubic through three values, with the slope at the first one."""
    to_b, to_c = b.rate - a.rate, c.rate - a.rate
    at_b = b.value - a.value - a.slope * to_b
    at_c = c.value - a.value - a.slope * to_c
    divisor = (to_b * to_c) ** 2 * (to_b - to_c)
    third = _quotient(to_c**2 * at_b - to_b**2 * at_c, divisor)
    second = _quotient(to_b**3 * at_c - to_c**3 * at_b, divisor)
    inside = second**2 - 3 * third * a.slope
    step = _quotient(-second + jnp.sqrt(jnp.maximum(inside, 0)), 3 * third)
    return jnp.where((divisor == 0) | ~(inside >= 0), jnp.inf, a.rate + step)


def scale_by_zoom_linesearch(
    max_linesearch_steps: int,
    max_learning_rate: Any = None,
    tol: Any = 0.0,
    increase_factor: Any = 2.0,
    slope_rtol: Any = 0.0001,
    curv_rtol: Any = 0.9,
    approx_dec_rtol: Any = 1e-06,
    stepsize_precision: Any = 1e-05,
    initial_guess_strategy: str = "keep",
    verbose: bool = False,
) -> GradientTransformationExtraArgs:
    """A rate with which a function falls enough and its slope is small enough.

    The update takes ``value`` and ``grad`` at the parameters, the function as ``value_fn``, and
    more arguments of that; a ``TypeError`` names those that it does not take.

    Args:
        max_linesearch_steps: how many rates are tried at most.
        max_learning_rate: the largest rate.
        tol: what a rate may lack of the conditions.
        increase_factor: what the rate is multiplied by until an interval is found.
        slope_rtol: the share of the slope that the function must fall by.
        curv_rtol: the share of the slope that may remain.
        approx_dec_rtol: by which share of the value it may rise where the slope says it falls.
        stepsize_precision: the length of an interval that is searched no further.
        initial_guess_strategy: the first rate: ``"keep"`` for the last one, ``"one"`` for 1.
        verbose: whether a search that fails is printed.

    Raises:
        ValueError: the strategy is another one.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> optimizer = optimizers.chain(optimizers.sgd(1.0), scale_by_zoom_linesearch(15))
    >>> x, loss = np.float32(1.0), lambda x: 2 * x**2
    >>> known = {"value": loss(x), "grad": 4 * x, "value_fn": loss}
    >>> updates, state = optimizer.update(4 * x, optimizer.init(x), x, **known)
    >>> bool(abs(x + updates) < 1e-3)
    True
    """
    if initial_guess_strategy not in ("keep", "one"):
        raise ValueError(
            f"scale_by_zoom_linesearch: initial_guess_strategy must be 'keep' or 'one', but is "
            f"{initial_guess_strategy!r}."
        )
    limits = (max_linesearch_steps, max_learning_rate, tol, increase_factor, slope_rtol, curv_rtol)
    how = (approx_dec_rtol, stepsize_precision, initial_guess_strategy, verbose)
    options = _Options(*limits, *how)
    return GradientTransformationExtraArgs(_first_state, functools.partial(_updated, options))


def _first_state(params: Any) -> ScaleByZoomLinesearchState:
    one = jnp.ones((), scalar_dtype(params))
    info = ZoomLinesearchInfo(jnp.zeros((), "int32"), one * jnp.inf, one * jnp.inf)
    return ScaleByZoomLinesearchState(one, one * jnp.inf, tree_zeros_like(params), info)


def _updated(
    options: _Options,
    updates: Any,
    state: Any,
    params: Any,
    *,
    value: Any,
    grad: Any,
    value_fn: Callable[..., Any],
    **extra: Any,
) -> tuple[Any, Any]:
    """Updates and the next state."""
    function = value_and_grad(with_arguments("scale_by_zoom_linesearch", value_fn, extra))
    dtype = state.learning_rate.dtype

    def number(x: Any) -> Any:
        return jnp.asarray(x).astype(dtype)

    def evaluate(rate: Any) -> _Trial:
        new_value, new_grad = function(tree_add_scale(params, rate, updates))
        point = _Point(rate, number(new_value), number(slope_along(updates, new_grad)))
        curvature = jnp.abs(point.slope) - options.curv_rtol * jnp.abs(start.slope)
        errors = _decrease_error(options, point, start), _positive_part(curvature)
        return _Trial(point, tree_cast_like(new_grad, grad), *map(number, errors))

    start = _Point(number(0), number(value), number(slope_along(updates, grad)))
    guess = number(1) if options.initial_guess_strategy == "one" else state.learning_rate
    found = _run(_Rules(evaluate, guess, options), _Trial(start, grad, *[number(jnp.inf)] * 2))
    trial, point = found.trial, found.trial.point
    if options.verbose:
        text = "zoom line search failed: rate {rate}, value {value}, slope at first {slope}"
        failed = found.has_failed
        report_if(failed, text, rate=point.rate, value=point.value, slope=start.slope)
    info = ZoomLinesearchInfo(found.count, trial.decrease_error, trial.curvature_error)
    new = ScaleByZoomLinesearchState(point.rate, point.value, trial.grad, info)
    return tree_scale(point.rate, updates), tree_cast_like(new, state)


def _decrease_error(options: _Options, new: _Point, start: _Point) -> Any:
    """By how much a value is too large."""
    error = new.value - start.value - options.slope_rtol * new.rate * start.slope
    if options.approx_dec_rtol is not None:
        by_slope = new.slope - (2 * options.slope_rtol - 1) * start.slope
        risen = new.value - start.value - options.approx_dec_rtol * jnp.abs(start.value)
        error = jnp.minimum(jnp.maximum(by_slope, risen), error)
    return _positive_part(error)


def _positive_part(error: Any) -> Any:
    return jnp.where(jnp.isnan(error), jnp.inf, jnp.maximum(error, 0))


def _run(rules: _Rules, start: _Trial) -> _Search:
    """The search, whose last trial is the one to take."""
    no = jnp.asarray(False)
    point = start.point
    search = _Search(jnp.zeros((), "int32"), start, point, point, point, start, no, no, no)

    def step(search: _Search) -> _Search:
        new = cond(
            search.has_interval,
            lambda: _narrowed(search, rules),
            lambda: _widened(search, rules),
        )
        # Where the search fails, a trial that falls enough is taken, or none outside of the domain.
        is_safe = (new.safe.point.rate > 0) | jnp.isinf(new.trial.decrease_error)
        safe = new.safe._replace(
            decrease_error=new.trial.decrease_error, curvature_error=new.trial.curvature_error
        )
        trial = tree_where(new.has_failed & is_safe, safe, new.trial)
        result: _Search = new._replace(trial=trial)
        return result

    result: _Search = while_loop(lambda s: ~(s.is_done | s.has_failed), step, search)
    return result
