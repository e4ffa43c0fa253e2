"""Bounds hold, compose with the transformations of bindax, and say what they cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bindax_example_intervals import Interval, bounds, interval
from hypothesis import given, settings
from hypothesis import strategies as st

import bindax_lax_basic as lax
from bindax_control_flow import cond
from bindax_core.errors import RuleOutputError
from bindax_core.extend import MissingRuleError, primitive, rules
from bindax_transforms import custom_jvp, grad, jit, make_jaxpr, vmap

FUNCTIONS = {
    "polynomial": lambda x: x * x * x - 2.0 * x + 1.0,
    "quotient": lambda x: x / (1.0 + x * x),
    "waves": lambda x: lax.sin(3.0 * x) - lax.cos(x),
    "powers": lambda x: lax.integer_pow(x, 4) - lax.integer_pow(x, 3) + lax.square(x),
    "inverse powers": lambda x: lax.integer_pow(x + 5.0, -2),
    "exponentials": lambda x: lax.exp(-lax.abs(x)) + lax.tanh(x) * lax.logistic(x),
    "error functions": lambda x: lax.erf(x) - lax.erfc(2 * x),
    "choice": lambda x: lax.select(x > 0.0, x, lax.exp(x) - 1.0),
    "extremes": lambda x: lax.max(x, 0.5) - lax.min(x, -0.5),
    "branches": lambda x: cond(x[0] > 0.0, lambda y: y, lambda y: -y * y, x),
    "compiled": jit(lambda x: x * x - lax.sqrt(lax.abs(x))),
    "indices": lambda x: x[1] * x[:2] + lax.rev(x, (0,))[0],
    "sums": lambda x: lax.reduce_sum(x * x, (0,)) - lax.reduce_max(x, (0,)),
    "matrix": lambda x: lax.dot(MATRIX, x) - lax.dot(x, MATRIX),
    "shapes": lambda x: lax.reshape(lax.concatenate([x, -x], 0), (2, 3)).T,
}
MATRIX = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0], [2.0, 2.0, -4.0]])

numbers = st.floats(-2.0, 2.0, allow_nan=False)
triples = st.lists(numbers, min_size=3, max_size=3)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=25, derandomize=True, deadline=None)
@given(a=triples, b=triples, fractions=st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3))
def test_values_are_inside(name: str, a: Any, b: Any, fractions: Any) -> None:
    function = FUNCTIONS[name]
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    inside = np.clip(lower + np.array(fractions) * (upper - lower), lower, upper)
    low, high = bounds(function)(Interval(lower, upper))
    value = np.asarray(function(inside))
    slack = 1e-12 * (1.0 + np.abs(value))
    assert np.all(np.asarray(low) <= value + slack)
    assert np.all(value - slack <= np.asarray(high))


def test_an_argument_that_occurs_twice_counts_as_two() -> None:
    # Moore's example: the range of x (1 - x) on [0, 1] is [0, 1/4].
    low, high = bounds(lambda x: x * (1.0 - x))(Interval(0.0, 1.0))
    assert (float(low), float(high)) == (0.0, 1.0)
    low, high = bounds(lambda x: 0.25 - lax.square(x - 0.5))(Interval(0.0, 1.0))
    assert (float(low), float(high)) == (0.0, 0.25)


def test_exact_arguments_stay_exact_and_may_steer_python() -> None:
    def function(x: Any, y: Any) -> Any:
        return x + y if y > 0.0 else x - y

    low, high = bounds(function)(Interval(1.0, 2.0), 3.0)
    assert (float(low), float(high)) == (4.0, 5.0)
    same = bounds(lambda x: x * 2.0)(3.0)
    assert same.is_exact


def test_a_reciprocal_of_an_interval_around_zero_is_everything() -> None:
    low, high = bounds(lambda x: 1.0 / x)(Interval(-1.0, 2.0))
    assert (float(low), float(high)) == (-np.inf, np.inf)


def test_it_composes_with_jit_vmap_and_grad() -> None:
    def function(x: Any) -> Any:
        return lax.reduce_sum(lax.tanh(lax.dot(MATRIX, x)), (0,))

    box = Interval(np.array([-0.1, 0.2, 0.3]), np.array([0.1, 0.4, 0.3]))
    wanted = bounds(function)(box)
    compiled = jit(bounds(function))(box)
    np.testing.assert_allclose(np.asarray(compiled), np.asarray(wanted), rtol=1e-12)
    boxes = Interval(np.stack([box.lower] * 2), np.stack([box.upper, box.upper + 0.5]))
    batched = vmap(bounds(function))(boxes)
    np.testing.assert_allclose(np.asarray(batched.upper)[0], float(wanted.upper), rtol=1e-12)
    assert "tanh" in str(make_jaxpr(bounds(function))(box))

    def width(radius: Any) -> Any:
        low, high = bounds(function)(Interval(box.lower - radius, box.upper + radius))
        return high - low

    slope = float(grad(width)(0.1))
    difference = (float(width(0.1 + 1e-6)) - float(width(0.1 - 1e-6))) / 2e-6
    assert slope == pytest.approx(difference, rel=1e-6)
    assert slope > 0


def unknown() -> Any:
    return primitive(
        "example.unknown",
        rules.impl(lambda x: 2 * x),
        rules.abstract_eval(lambda x: x),
        rules.jvp.absent("a test"),
        rules.vmap.absent("a test"),
        rules.transpose.absent("a test"),
        rules.lowering["stablehlo"].absent("a test"),
    )


def test_functions_with_rules_of_their_own_are_met_by_the_interpreter() -> None:
    squared = custom_jvp(lambda x: x * x)
    squared.defjvp(lambda primals, tangents: (squared(*primals), 10.0 * tangents[0]))
    seen = []

    def f(x: Any) -> Any:
        seen.append(type(x).__name__)
        return squared(x)

    for bounded in (bounds(f), jit(bounds(f)), bounds(jit(f))):
        low, high = bounded(Interval(1.0, 2.0))
        assert (float(low), float(high)) == (1.0, 4.0)
    assert "IntervalTracer" in seen
    low, high = bounds(grad(squared))(Interval(1.0, 2.0))
    assert (float(low), float(high)) == (10.0, 10.0)


def test_a_primitive_without_rule_is_an_error_or_unbounded() -> None:
    made = unknown()
    with pytest.raises(MissingRuleError) as caught:
        bounds(made.bind)(Interval(0.0, 1.0))
    text = str(caught.value)
    assert "example.unknown has no interval rule" in text
    assert "interval(...) with the signature (*intervals, **params) -> Interval" in text
    low, high = bounds(made.bind, fallback="unbounded")(Interval(0.0, 1.0))
    assert (float(low), float(high)) == (-np.inf, np.inf)
    assert interval.rule_of(made) is None


def test_wrong_rules_are_named() -> None:
    for rule, text in (
        (lambda x: (0.0, 1.0), "the result cannot be a tuple of 2"),
        (lambda x: None, "the result cannot be NoneType"),
        (lambda: None, "cannot be called with the one argument"),
    ):
        made = unknown()
        with (
            interval.scoped(made, interval(rule)),
            pytest.raises(RuleOutputError, match=rf"interval rule of example\.unknown.*{text}"),
        ):
            bounds(made.bind)(Interval(0.0, 1.0))


def test_bad_arguments_are_errors_that_say_what_to_do() -> None:
    with pytest.raises(ValueError, match="fallback must be 'error' or 'unbounded', but it is 'no'"):
        bounds(lambda x: x, fallback="no")
    with pytest.raises(TypeError, match=r"must have one type, but they are float64\[\] and"):
        bounds(lambda x: x)(Interval(0.0, np.zeros(2)))
