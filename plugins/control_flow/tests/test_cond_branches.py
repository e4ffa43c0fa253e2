"""Conditionals whose branches differ once transformed, and all forms of calling them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import cond, cond_p, switch
from bindax_control_flow.cond.branches import agreeing
from bindax_core.extend import typeof
from bindax_lax_basic import exp, log, sin

ONE = np.ones(())


@pytest.fixture(autouse=True, params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param, check_jaxprs=True):
        yield


def three_deep(x: Any, y: Any) -> Any:
    """Branches with other residuals, without tangents, with other conditionals in them."""

    def second(x: Any, y: Any) -> Any:
        return cond(y > 1.0, lambda x, y: (exp(x) * y, y), third, x, y)

    def third(x: Any, y: Any) -> Any:
        return cond(x > 1.0, lambda x, y: (sin(x) * sin(y) * x, 2.0), lambda x, y: (y, x), x, y)

    return cond(x > 0.0, second, lambda x, y: (3.0, x * x * x), x, y)


def by_hand(x: float, y: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The sum of the results differentiated by x and by y, and the results."""
    if x <= 0.0:
        return (3 * x * x, 0.0), (3.0, x**3)
    if y > 1.0:
        return (np.exp(x) * y, np.exp(x) + 1.0), (np.exp(x) * y, y)
    if x > 1.0:
        by_x = (np.cos(x) * x + np.sin(x)) * np.sin(y)
        return (by_x, np.sin(x) * np.cos(y) * x), (np.sin(x) * np.sin(y) * x, 2.0)
    return (1.0, 1.0), (y, x)


POINTS = [(-0.5, 0.3), (0.5, 1.5), (1.5, 0.5), (0.5, 0.5)]


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_nested_branches_that_differ(wrap: Callable[..., Any]) -> None:
    total = lambda x, y: sum(three_deep(x, y), np.zeros(()))  # noqa: E731
    slopes, values = zip(*[by_hand(*point) for point in POINTS], strict=True)
    gradient = wrap(bt.grad(wrap(total), argnums=(0, 1)))
    for point, slope, value in zip(POINTS, slopes, values, strict=True):
        x, y = np.float64(point[0]), np.float64(point[1])
        np.testing.assert_allclose(wrap(three_deep)(x, y), value, rtol=1e-12)
        np.testing.assert_allclose(gradient(x, y), slope, rtol=1e-12)
        np.testing.assert_allclose(bt.jvp(total, (x, y), (ONE, ONE))[1], sum(slope), rtol=1e-12)
    xs, ys = np.array(POINTS).T
    np.testing.assert_allclose(np.transpose(bt.vmap(three_deep)(xs, ys)), values, rtol=1e-12)
    found = wrap(bt.vmap(bt.grad(total, argnums=(0, 1))))(xs, ys)
    np.testing.assert_allclose(np.transpose(found), slopes, rtol=1e-12)


def test_programs_that_differ_in_weakness_agree_in_either_order() -> None:
    weak, strong = [bt.make_jaxpr(lambda x: x)(x) for x in (1.0, ONE)]
    for programs in ([weak, strong], [strong, weak]):
        (first,), (second,) = [made.out_avals for made in agreeing(programs)]
        assert first == second == typeof(ONE)


def test_results_are_weakly_typed_where_all_branches_are() -> None:
    x = np.float32(2.0)
    f = lambda p, x: cond(p, lambda x: x * 3.0, lambda x: 3.0, x)  # noqa: E731
    for p in (True, False):
        for transformed in (f, lambda p, x: bt.jvp(lambda x: f(p, x), (x,), (np.float32(1.0),))[1]):
            eager, jitted = transformed(p, x), bt.jit(transformed)(p, x)
            assert (eager.dtype, eager.weak_type) == (jitted.dtype, jitted.weak_type)
            assert float(eager) == float(jitted)


def test_a_gradient_that_is_undefined_in_the_other_branch() -> None:
    safe = lambda x: cond(x > 0.0, log, lambda x: 0.0 * x, x)  # noqa: E731
    for f in (bt.grad(safe), bt.jit(bt.grad(safe)), bt.grad(bt.jit(safe))):
        assert float(f(2.0)) == 0.5
        assert float(f(0.0)) == 0.0
    # With a mapped predicate both branches run and one is selected: nothing is disturbed either.
    xs = np.array([0.0, 2.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_allclose(bt.vmap(safe)(xs), [0.0, np.log(2.0)])
        np.testing.assert_allclose(bt.vmap(bt.grad(safe))(xs), [0.0, 0.5])
        mapped = bt.grad(lambda xs: bt.vmap(safe)(xs).sum())
        np.testing.assert_allclose(mapped(xs), [0.0, 0.5])


def test_loop_invariant_residuals_are_forwarded() -> None:
    weights = np.arange(6.0).reshape(2, 3)
    f = lambda p, w, x: cond(p, lambda w, x: w * x, lambda w, x: w * sin(x), w, x)  # noqa: E731
    closed = bt.make_jaxpr(f)(True, weights, weights)
    split = bt.partial_eval_jaxpr(closed, [False, False, True])
    assert 1 in split.forwarded  # the weights are an argument, and no result of the known part
    assert all(
        aval.shape == ()
        for aval, s in zip(split.residual_avals, split.forwarded, strict=True)
        if s is None
    )


def test_forms_of_calling() -> None:
    for stage in (lambda f: f, bt.jit):
        assert float(stage(lambda p: cond(p, 3.0, lambda x: x, 4.0, lambda x: -x))(True)) == 3.0
        assert float(stage(lambda p: cond(p, 3.0, lambda x: x, 4.0, lambda x: -x))(False)) == -4.0
        assert (
            float(stage(lambda p: cond(p, lambda x: 1.0, lambda x: 2.0, operand=None))(False))
            == 2.0
        )
        assert (
            float(stage(lambda i: switch(i, [lambda _: 1.0, lambda _: 2.0], operand=None))(1))
            == 2.0
        )
        assert float(stage(lambda i: switch(i, [lambda x: x + 1.0], 2.0))(9)) == 3.0


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint32, np.int64, np.uint64])
def test_indices_of_all_types_are_clamped(dtype: Any) -> None:
    branches = [lambda k=k: k for k in range(200)]
    pick = bt.jit(lambda i: switch(i, branches))
    limits = np.iinfo(dtype)
    for index in (100, int(limits.max), int(limits.min)):
        expected = min(max(index, 0), 199)
        assert int(pick(dtype(index))) == int(switch(dtype(index), branches)) == expected


def test_messages() -> None:
    with pytest.raises(TypeError, match=r"output\['b'\] is missing; output\['c'\] is new\."):
        cond(True, lambda: {"a": 1, "c": 2}, lambda: {"a": 1, "b": 2})
    with pytest.raises(TypeError, match=r"switch takes operands by position or operand="):
        switch(0, [lambda x: x], 1.0, operand=2.0)
    with pytest.raises(TypeError, match=r"branches of switch must be a sequence of functions"):
        switch(0, sin)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"index of switch must be an integer, but it is bool\[\]"):
        switch(True, [lambda: 1])
    with pytest.raises(
        TypeError, match=r"at output\[1\] <lambda> .* returns int32\[\]; .* float32"
    ):
        switch(0, [lambda: (1, np.int32(1)), lambda: (1, np.float32(1))])
    (eqn,) = bt.make_jaxpr(lambda x: cond(True, sin, exp, x))(1.0).eqns
    with pytest.raises(TypeError, match="branch 0 of cond does not take the types of the operands"):
        cond_p.bind(np.int32(0), np.ones(2), **eqn.params)


def test_results_of_branches_that_are_no_arrays() -> None:
    def wrong(x: Any) -> Any:
        return {"a": (x, "text")}

    with pytest.raises(TypeError, match=r"output\['a'\]\[1\] of what wrong .* returned to cond"):
        cond(True, lambda x: {"a": (x, x)}, wrong, ONE)
    with pytest.raises(TypeError, match=r"output\['a'\]\[1\] of what wrong .* returned to switch"):
        switch(0, [wrong, wrong], ONE)
