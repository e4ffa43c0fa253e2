"""Conditionals: values, transformations in any order, branches that differ, messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_control_flow import cond, cond_p, switch
from bindax_lax_basic import cos, exp, sin

Function = Callable[[Any], Any]


@pytest.fixture(autouse=True, params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param, check_jaxprs=True):
        yield


def branching(x: Any) -> Any:
    return cond(x > 1.0, lambda y: sin(y) * y, lambda y: y * y * y, x)


def branching_dot(x: float) -> float:
    return float(np.cos(x) * x + np.sin(x)) if x > 1.0 else 3.0 * x * x


def branching_dot_dot(x: float) -> float:
    return float(2.0 * np.cos(x) - np.sin(x) * x) if x > 1.0 else 6.0 * x


def closing_over(x: Any) -> Any:
    """Branches that close over a traced value and return constants."""
    y = exp(x)
    return cond(x > 1.0, lambda: sin(x) * y, lambda: 0.5) + y


def closing_over_dot(x: float) -> float:
    inner = np.exp(x) * (np.cos(x) + np.sin(x)) if x > 1.0 else 0.0
    return float(inner + np.exp(x))


def nested(x: Any) -> Any:
    return cond(
        x > 0.5, lambda y: cond(y > 1.5, sin, lambda z: z * z, y), lambda y: bt.jit(cos)(y), x
    )


def nested_dot(x: float) -> float:
    if x > 1.5:
        return float(np.cos(x))
    return 2.0 * x if x > 0.5 else float(-np.sin(x))


POINTS = [0.3, 0.9, 1.2, 2.0]
CASES = [(branching, branching_dot), (closing_over, closing_over_dot), (nested, nested_dot)]


@pytest.mark.every(3)
@pytest.mark.parametrize(("fun", "derivative"), CASES)
@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_derivatives(fun: Function, derivative: Any, wrap: Any) -> None:
    one = np.ones(())
    for point in POINTS:
        x = np.float64(point)
        expected = derivative(point)
        for other in (fun, wrap(fun)):
            for found in (
                wrap(bt.grad(other))(x),
                bt.jvp(wrap(other), (x,), (one,))[1],
                wrap(lambda x, f=other: bt.linearize(f, x)[1](one))(x),
                wrap(lambda x, f=other: bt.vjp(f, x)[1](one)[0])(x),
            ):
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("fun", "derivative"), CASES)
def test_mapped_predicate(fun: Function, derivative: Any) -> None:
    xs = np.array(POINTS)
    values = [float(fun(np.float64(x))) for x in POINTS]
    for batched in (bt.vmap(fun), bt.jit(bt.vmap(fun)), bt.vmap(bt.jit(fun))):
        np.testing.assert_allclose(batched(xs), values, rtol=1e-12)
    slopes = [derivative(x) for x in POINTS]
    for batched in (
        bt.vmap(bt.grad(fun)),
        bt.jit(bt.vmap(bt.grad(fun))),
        bt.vmap(bt.jit(bt.grad(bt.jit(fun)))),
        bt.grad(lambda xs: bt.vmap(fun)(xs).sum()),
    ):
        np.testing.assert_allclose(batched(xs), slopes, rtol=1e-12, atol=1e-15)


def test_second_derivatives() -> None:
    for point in POINTS:
        x = np.float64(point)
        for second in (
            bt.grad(bt.grad(branching)),
            bt.jit(bt.grad(bt.grad(branching))),
            bt.grad(bt.jit(bt.grad(branching))),
            bt.grad(lambda x: bt.jvp(bt.jit(branching), (x,), (np.ones(()),))[1]),
        ):
            np.testing.assert_allclose(second(x), branching_dot_dot(point), rtol=1e-12)


def test_unmapped_predicate_with_mapped_operands_stays_a_cond() -> None:
    def fun(flag: Any, x: Any) -> Any:
        return bt.vmap(lambda y: cond(flag, sin, lambda z: 0.0, y))(x)

    jaxpr = bt.make_jaxpr(fun)(np.bool_(True), np.ones(3))
    assert [eqn.primitive for eqn in jaxpr.eqns].count(cond_p) == 1
    assert "select_n" not in str(jaxpr)
    np.testing.assert_allclose(bt.jit(fun)(True, np.arange(3.0)), np.sin(np.arange(3.0)))
    np.testing.assert_allclose(bt.jit(fun)(False, np.arange(3.0)), np.zeros(3))


def test_only_the_chosen_branch_is_computed() -> None:
    with np.errstate(all="raise"):
        out = cond(True, lambda x: x, lambda x: 1.0 / (x - x), np.float64(1.0))
    assert float(out) == 1.0


def test_each_branch_is_traced_once() -> None:
    calls: list[str] = []

    def record(name: str) -> Function:
        def branch(x: Any) -> Any:
            calls.append(name)
            return x

        return branch

    cond(True, record("true"), record("false"), 1.0)
    assert sorted(calls) == ["false", "true"]


def test_predicates_and_operands() -> None:
    assert float(cond(2, lambda x: x, lambda x: -x, 3.0)) == 3.0
    assert float(cond(np.float32(0.0), lambda x: x, lambda x: -x, 3.0)) == -3.0
    assert float(bt.jit(lambda p: cond(p, lambda: 1.0, lambda: 2.0))(5)) == 1.0
    assert cond(True, lambda _: 1, lambda _: 2, operand=None) == 1
    out = cond(False, lambda t: t, lambda t: {"a": t["b"], "b": t["a"]}, {"a": 1.0, "b": 2.0})
    assert {k: float(v) for k, v in out.items()} == {"a": 2.0, "b": 1.0}


def test_weak_types_of_branches_agree() -> None:
    x = np.float32(3.0)
    out = cond(True, lambda: x, lambda: 0.0)
    assert isinstance(out, bx.Array)
    assert out.dtype == np.float32
    assert not out.weak_type
    assert cond(True, lambda: 1.0, lambda: 2.0).weak_type
    both = bt.jit(lambda p: cond(p, lambda: x, lambda: 1.0))(True)
    assert both.dtype == np.float32


@pytest.mark.parametrize(("one", "other"), [(1, 2.0), (np.float32(1), 2), (True, 2), (1.0, 2j)])
def test_numbers_of_branches_are_of_one_kind(one: Any, other: Any) -> None:
    choose = lambda p: cond(p, lambda: one, lambda: other)  # noqa: E731
    for call in (lambda: choose(True), lambda: bt.vmap(choose)(np.array([True, False]))):
        with pytest.raises(TypeError, match="branches of cond must return the same types"):
            call()


def test_weak_types_of_branches_in_the_modes_of_jax() -> None:
    jax = pytest.importorskip("jax")

    def found(cond: Any, switch: Any, ones: Any, jit: Any) -> list[bool]:
        strong, weak = (lambda: ones), (lambda: 2.0)
        calls: list[Callable[[Any], Any]] = [
            lambda p: cond(p, strong, weak),
            lambda p: cond(p, weak, strong),
            lambda p: switch(p.astype("int32"), [strong, weak, weak]),
        ]
        outs = [f(ones > 0) for call in calls for f in (call, jit(call))]
        return [out.weak_type for out in outs]

    for on, dtype in ((True, "float64"), (False, "float32")):
        with jax.enable_x64(on), bx.enable_x64(on):
            ones = np.ones((), dtype)
            theirs = found(jax.lax.cond, jax.lax.switch, jax.numpy.asarray(ones), jax.jit)
            assert found(cond, switch, bx.device_put(ones), bt.jit) == theirs
    assert not any(found(cond, switch, bx.device_put(np.ones((), "float64")), bt.jit))


def test_switch() -> None:
    branches = [sin, cos, lambda x: x * x]
    for i, expected in [(-3, np.sin), (0, np.sin), (1, np.cos), (2, np.square), (9, np.square)]:
        x = np.float64(0.7)
        np.testing.assert_allclose(switch(i, branches, x), expected(x))
        np.testing.assert_allclose(bt.jit(lambda i, x: switch(i, branches, x))(i, x), expected(x))
    xs = np.array([0.1, 0.2, 0.3, 0.4])
    indices = np.array([2, 0, 1, 7], np.int32)
    mapped = bt.vmap(lambda i, x: switch(i, branches, x))
    expected_values = [xs[0] ** 2, np.sin(xs[1]), np.cos(xs[2]), xs[3] ** 2]
    np.testing.assert_allclose(mapped(indices, xs), expected_values)
    slopes = bt.vmap(bt.grad(lambda x, i: switch(i, branches, x)))(xs, indices)
    np.testing.assert_allclose(slopes, [0.2, np.cos(0.2), -np.sin(0.3), 0.8])


def test_dead_results_of_branches_are_dropped() -> None:
    def fun(x: Any) -> Any:
        return cond(x > 0.0, lambda y: (sin(y), cos(y)), lambda y: (y, y), x)[0]

    pruned, _ = bt.dce_jaxpr(bt.make_jaxpr(fun)(1.0).jaxpr, [True])
    (eqn,) = [eqn for eqn in pruned.eqns if eqn.primitive is cond_p]
    names = [inner.primitive.name for inner in eqn.params["branches"][1].eqns]
    assert names == ["sin"]
    bx.typecheck_jaxpr(pruned)


def test_messages() -> None:
    with pytest.raises(TypeError, match=r"pred of cond must be a scalar, but it is float64\[2\]"):
        cond(np.ones(2), lambda: 1, lambda: 2)
    with pytest.raises(TypeError, match=r"cond: pred must be a boolean or a real .* complex128"):
        cond(1j, lambda: 1, lambda: 2)
    with pytest.raises(TypeError, match=r"pred of cond: a value of type builtins.str"):
        cond("yes", lambda: 1, lambda: 2)
    with pytest.raises(
        TypeError, match=r"must have the same pytree structure, but .* and .* returns"
    ):
        cond(True, lambda: (1, 2), lambda: 1)
    with pytest.raises(TypeError) as caught:
        cond(True, lambda: {"a": np.ones(2)}, lambda: {"a": np.ones(3)})
    text = str(caught.value)
    assert "the branches of cond must return the same types, but at output['a'] " in text
    assert "returns float64[3]; " in text
    assert "returns float64[2]. Convert with .astype" in text
    with pytest.raises(TypeError, match=r"returns int32\[\]; .* returns float32\[\]"):
        cond(True, lambda: np.float32(1), lambda: np.int32(1))
    with pytest.raises(TypeError, match="true_fun of cond must be a function, but got 3 of"):
        cond(True, 3, lambda: 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"an operand of cond: a value of type builtins.str"):
        cond(True, lambda x: x, lambda x: x, "no")
    with pytest.raises(TypeError, match=r"operands by position or operand="):
        cond(True, lambda x: x, lambda x: x, 1, operand=2)
    with pytest.raises(ValueError, match="switch needs at least one branch"):
        switch(0, [])
    with pytest.raises(TypeError, match=r"index of switch must be an integer, but it is float64"):
        switch(0.5, [lambda: 1])
    with pytest.raises(TypeError, match=r"of cond must be int32\[\], or bool\[\] for two"):
        bt.make_jaxpr(lambda: cond_p.bind(True, branches=()))()


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_mapped_branches_that_are_not_taken_have_no_slope(wrap: Any) -> None:
    def two(x: Any) -> Any:
        return cond(x < 1e-3, lambda x: x * 0, lambda x: lax.sqrt(x), x)

    def three(x: Any, scale: Any) -> Any:
        branches = [lambda x: x * 0, lambda x: scale * lax.sqrt(x), lambda x: lax.log(x)]
        return switch(lax.convert_element_type(x, np.int32), branches, x)

    def nested(x: Any) -> Any:
        return cond(x < 4, two, lambda x: x, x)

    x = np.array([0.0, 1.0, 2.0, 4.0])
    both = bt.vmap(three, (0, None))
    for fun, expected in (
        (bt.vmap(two), [0, 0.5, 0.5**1.5, 0.25]),
        (bt.vmap(nested), [0, 0.5, 0.5**1.5, 1.0]),
        (lambda x: both(x, 2.0), [0, 1, 0.5, 0.25]),
    ):
        total = wrap(lambda x, fun=fun: lax.reduce_sum(fun(x)))
        np.testing.assert_allclose(wrap(bt.grad(total))(x), expected, rtol=1e-6)
        tangents = bt.jvp(wrap(fun), (x,), (np.ones(4),))[1]
        np.testing.assert_allclose(tangents, expected, rtol=1e-6)
    found = wrap(bt.grad(lambda s: lax.reduce_sum(both(x, s))))(2.0)
    np.testing.assert_allclose(found, 1.0, rtol=1e-6)


def test_a_result_that_no_batch_reaches_has_none() -> None:
    def fun(flag: Any, x: Any, y: Any) -> Any:
        return cond(flag, lambda x, y: (x, y), lambda x, y: (x * 2, y), x, y)

    flags, x = np.array([True, False]), np.ones(2)
    for mapped in (
        bt.vmap(fun, (0, 0, None), (0, None)),
        bt.jit(bt.vmap(fun, (0, 0, None), (0, None))),
    ):
        first, second = mapped(flags, x, 5.0)
        np.testing.assert_array_equal(first, [1, 2])
        assert second.shape == ()
        assert float(second) == 5
