"""Blame falls on the rule that is wrong, once, with the values that show it."""

from __future__ import annotations

import cProfile
from typing import Any

import numpy as np
import pytest
from planted import declare

from bindax_core.extend import abstract_eval, impl, jvp, lowering, primitive, transpose, vmap
from bindax_core.tree_util import register_pytree_node
from bindax_testing import array, check_pytree, check_rules, elementwise, sample
from bindax_testing._blame import codes_called

pytestmark = pytest.mark.usefixtures("toy_operations")


def check(made: Any) -> Any:
    samples = [*elementwise(made), sample(made, array((2, 2), "float64"))]
    return check_rules(made, samples, budget=20.0, time_limit=5.0)


def causes(report: Any) -> set[str]:
    return {one.kind for one in report.failures if not one.follows}


def absolute_in_place(x: Any) -> Any:
    np.absolute(x, out=x)
    return x.copy()


@pytest.mark.parametrize("on_values", [False, True])
def test_an_impl_that_changes_its_operand_once_for_all(on_values: bool) -> None:
    def on_arrays(x: Any) -> Any:
        x = np.asarray(x)
        return [absolute_in_place(x)] if on_values else absolute_in_place(x)

    report = check(declare(impl=lambda bind: impl(on_arrays, on_values=on_values)))

    texts = [one.reason for one in report.failures if one.kind == "impl"]
    assert any("changes its operand 0 in place" in text for text in texts), texts


def test_failures_of_rules_that_do_not_meet_are_both_causes() -> None:
    report = check(
        declare(
            transpose=lambda bind: transpose(lambda ct, x: [bind(bind(ct))]),
            vmap=lambda bind: vmap(lambda size, xs, dims: (xs[0], dims[0])),
        )
    )

    assert causes(report) == {"transpose", "vmap"}


def test_a_rule_that_binds_with_wrong_shapes_is_blamed() -> None:
    def same_shapes(x: Any, y: Any) -> Any:
        if x.shape != y.shape:
            raise TypeError(f"add needs equal shapes, not {x.shape} and {y.shape}")
        return x

    def plus(x: Any, y: Any) -> Any:
        return made.bind(x, y)

    made = primitive(
        "planted.plus",
        impl(lambda x, y: x + y),
        abstract_eval(same_shapes),
        jvp(lambda p, t: (plus(*p), plus(*t))),
        vmap(lambda size, xs, dims: (plus(xs[0], xs[1][:1]), 0)),
        transpose(lambda ct, x, y: [ct, ct]),
        lowering["stablehlo"].absent("tested without a compiler"),
    )
    report = check_rules(made, [sample(made, array((3,)), array((3,)))], budget=20.0)

    assert causes(report) == {"vmap"}


def test_a_missing_sample_is_said_once() -> None:
    report = check_rules(declare(), [], budget=5.0)

    (failure,) = report.failures
    assert "no sample reaches planted.triple" in failure.reason


def test_the_message_is_that_of_the_shrunk_case() -> None:
    report = check(declare(vmap=lambda bind: vmap(lambda size, xs, dims: (xs[0], dims[0]))))
    (first, *_) = [one for one in report.failures if not one.follows]

    assert first.case == "planted.triple(float32[])"
    assert "(3 of 3 elements differ)" in first.reason  # one for each draw


class Dropping:
    def __init__(self, x: Any, name: str) -> None:
        self.x, self.name = x, name


def test_a_flatten_that_drops_a_field() -> None:
    def unflatten(_: Any, children: Any) -> Dropping:
        made = object.__new__(Dropping)
        (made.x,) = children
        return made

    register_pytree_node(Dropping, lambda node: ((node.x,), None), unflatten)

    report = check_pytree(Dropping(np.ones(2), "a name"))

    assert not report.ok
    assert "attribute 'name' is lost" in str(report)


def test_an_impl_that_reads_memory_in_its_order_is_blamed() -> None:
    def by_memory(x: Any) -> Any:
        return (3 * x.ravel(order="K").reshape(x.shape)).astype(x.dtype)

    report = check(declare(impl=impl(by_memory)))

    assert causes(report) == {"impl"}
    assert any("lie by columns in memory" in one.reason for one in report.failures)


def test_a_profiler_of_the_caller_goes_on_after_calls_are_followed() -> None:
    profiler = cProfile.Profile()

    def of_the_user() -> None:
        pass

    with profiler:
        followed = codes_called(of_the_user)
        of_the_user()

    assert of_the_user.__code__ in followed
    assert of_the_user.__code__ in {one.code for one in profiler.getstats()}
