"""A primitive with ``jvp`` and ``vjp``: each serves its direction, in every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.extend import (
    Rule,
    abstract_eval,
    extend,
    impl,
    jvp,
    primitive,
    transpose,
    vjp,
    vmap,
)
from bindax_testing import REAL, array, check_rules, sample

pytestmark = pytest.mark.usefixtures("toy_operations")

XS = np.linspace(-1.0, 2.0, 4)


def declare(name: str, *rules: Rule) -> Any:
    made = primitive(
        name,
        impl(np.multiply),
        abstract_eval(toy.same_type),
        toy.batch_binary(lambda x, y: made.bind(x, y)),
        transpose.absent("not linear"),
        toy.interpreted,
        *rules,
    )
    return made


def forward(factor: float) -> Rule:
    """The derivative of the product, times a factor that tells that it was used."""

    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (s, t) = primals, tangents
        return x * y, factor * (s * y + x * t)

    return jvp(rule)


def backward(factor: float) -> Rule:
    def rule(x: Any, y: Any) -> Any:
        return x * y, lambda ct: (factor * (ct * y), factor * (ct * x))

    return vjp(rule)


told_p = declare("toy.both_told", forward(10.0), backward(100.0))
same_p = declare("toy.both_same", forward(1.0), backward(1.0))


def told(x: Any) -> Any:
    return told_p.bind(x, x)


def same(x: Any) -> Any:
    return same_p.bind(x, x)


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit, bt.checkpoint, lambda f: bt.jit(bt.jit(f))])
def test_each_serves_its_direction(wrap: Any) -> None:
    f = wrap(told)
    assert float(bt.jvp(f, (3.0,), (1.0,))[1]) == 60.0
    assert float(bt.grad(f)(3.0)) == 600.0
    assert float(bt.jit(bt.grad(f))(3.0)) == 600.0
    out, linear = bt.linearize(f, 3.0)
    assert (float(out), float(linear(1.0))) == (9.0, 60.0)
    np.testing.assert_allclose(bt.vmap(bt.grad(f))(XS), 200.0 * XS)
    np.testing.assert_allclose(bt.vmap(lambda x: bt.jvp(f, (x,), (1.0,))[1])(XS), 20.0 * XS)
    out, pull = bt.vjp(bt.vmap(f), XS)
    np.testing.assert_allclose(pull(np.ones(4))[0], 200.0 * XS)
    np.testing.assert_allclose(bt.jvp(bt.vmap(f), (XS,), (np.ones(4),))[1], 20.0 * XS)


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit])
def test_second_derivatives_in_every_order(wrap: Any) -> None:
    f = wrap(same)
    along = lambda g: lambda x: bt.jvp(g, (x,), (1.0,))[1]  # noqa: E731
    for first in (bt.grad, along):
        for second in (bt.grad, along):
            assert float(second(first(f))(3.0)) == 2.0
            assert float(bt.jit(second(wrap(first(f))))(3.0)) == 2.0
    np.testing.assert_allclose(bt.vmap(bt.grad(bt.grad(f)))(XS), 2.0)
    assert float(bt.grad(bt.linearize(f, 3.0)[1])(1.0)) == 6.0


def test_one_operand_alone() -> None:
    f = bt.jit(lambda x: told_p.bind(x, np.float64(2.0)))
    assert float(bt.grad(f)(3.0)) == 200.0
    assert float(bt.jvp(f, (3.0,), (1.0,))[1]) == 20.0


def test_what_another_package_adds_counts() -> None:
    made = declare("toy.both_later", forward(10.0))
    (rule,) = extend(made, backward(100.0)).rules
    assert float(bt.grad(lambda x: made.bind(x, x))(3.0)) == 60.0
    with vjp.scoped(made, rule):
        assert float(bt.grad(lambda x: made.bind(x, x))(3.0)) == 600.0
    assert float(bt.grad(lambda x: made.bind(x, x))(3.0)) == 60.0


def test_the_suite_compares_them() -> None:
    operands = [array((3,), "float64", REAL)] * 2
    report = check_rules(same_p, [sample(same_p, *operands)], budget=20)
    assert report.ok, str(report)

    report = check_rules(told_p, [sample(told_p, *operands)], budget=20)
    (failure,) = [one for one in report.failures if one.check == "reverse"]
    assert "reverse mode and forward mode disagree" in failure.reason
    assert (failure.kind, failure.status) == ("vjp", "failed")
    assert "the vjp rule of toy.both_told" in failure.rule


def pair_jvp(primals: Any, tangents: Any) -> Any:
    (x, n), (s, _) = primals, tangents
    return pair_p.bind(x, n), [10.0 * s, 10.0 * (s * x)]


def pair_vjp(x: Any, n: Any) -> Any:
    return pair_p.bind(x, n), lambda a, b: (100.0 * (a + b * x), None)


pair_p = primitive(
    "toy.both_pair",
    impl(lambda x, n: [x + n, x * x]),
    abstract_eval(lambda x, n: [x, x]),
    jvp(pair_jvp),
    vjp(pair_vjp),
    vmap.absent("a test"),
    transpose.absent("not linear"),
    toy.interpreted,
    multiple_results=True,
)


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit])
def test_several_results_and_an_operand_without_a_tangent(wrap: Any) -> None:
    f = wrap(lambda x: pair_p.bind(x, np.int32(2)))
    outs, tangents = bt.jvp(f, (3.0,), (1.0,))
    assert (list(map(float, outs)), list(map(float, tangents))) == ([5.0, 9.0], [10.0, 30.0])
    outs, pull = bt.vjp(f, 3.0)
    assert (list(map(float, outs)), float(pull([1.0, 2.0])[0])) == ([5.0, 9.0], 700.0)
    assert float(bt.grad(lambda x: f(x)[1])(3.0)) == 300.0
