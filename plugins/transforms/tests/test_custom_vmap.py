"""``custom_vmap``: the rule is used, and differentiated, in any order of transformations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.tree_util import NodeDefinition, scoped_registration

pytestmark = pytest.mark.usefixtures("toy_operations")

XS = np.linspace(-1.0, 2.0, 4)


@bt.custom_vmap
def tenfold(x: Any, y: Any) -> Any:
    """Mapped it is ten times what it is alone, so that a test sees when the rule was used."""
    return {"out": x * y, "y": y}


@tenfold.def_vmap
def _tenfold_rule(axis_size: int, in_batched: Any, x: Any, y: Any) -> Any:
    assert isinstance(in_batched, list)
    return {"out": 10.0 * x * y, "y": y}, {"out": any(in_batched), "y": in_batched[1]}


def test_the_rule_maps() -> None:
    assert float(tenfold(2.0, 3.0)["out"]) == 6.0
    for f in (tenfold, bt.jit(tenfold)):
        for g in (bt.vmap(f, (0, None)), bt.jit(bt.vmap(f, (0, None)))):
            out = g(XS, 3.0)
            np.testing.assert_allclose(out["out"], 30.0 * XS)
            np.testing.assert_allclose(out["y"], np.full(4, 3.0))
    assert "custom_vmap_call [ name=tenfold ]" in str(bt.make_jaxpr(tenfold)(2.0, 3.0))
    # Mapped twice, the rule's own operations are mapped.
    twice = bt.vmap(bt.vmap(tenfold, (0, None)), (None, 0))(XS, XS)
    np.testing.assert_allclose(twice["out"], 10.0 * np.outer(XS, XS))


def test_the_derivative_is_mapped_by_the_derivative_of_the_rule() -> None:
    def f(x: Any) -> Any:
        return tenfold(x, 3.0)["out"]

    def tangent(x: Any) -> Any:
        return bt.jvp(f, (x,), (2.0,))[1]

    assert (float(bt.grad(f)(2.0)), float(tangent(2.0))) == (3.0, 6.0)
    for g in (
        bt.vmap(tangent),
        bt.jit(bt.vmap(tangent)),
        bt.vmap(bt.jit(tangent)),
        lambda x: bt.jvp(bt.vmap(f), (x,), (np.full(4, 2.0),))[1],
        lambda x: bt.jvp(bt.vmap(bt.jit(f)), (x,), (np.full(4, 2.0),))[1],
    ):
        np.testing.assert_allclose(g(XS), np.full(4, 60.0))
    gradient = bt.grad(lambda x: toy.reduce_sum(bt.jit(bt.vmap(f))(x)))(XS)
    np.testing.assert_allclose(gradient, np.full(4, 30.0))
    # Reverse mode inside vmap splits off the linear part, which is mapped by its operations.
    np.testing.assert_allclose(bt.vmap(bt.grad(f))(XS), np.full(4, 3.0))


def test_the_rule_of_a_derivative_is_told_what_is_mapped() -> None:
    seen = []
    f = bt.custom_vmap(lambda x, y: x * y)

    @f.def_vmap
    def rule(axis_size: int, in_batched: Any, x: Any, y: Any) -> Any:
        seen.append(in_batched)
        return x * y, True

    def tangent(x: Any, y: Any) -> Any:
        return bt.jvp(lambda x: f(x, y), (x,), (x,))[1]

    np.testing.assert_allclose(bt.vmap(tangent, (0, None))(XS, 3.0), 3.0 * XS)
    assert seen == [[True, False]]


def test_closed_over_values() -> None:
    def make(c: Any) -> Any:
        f = bt.custom_vmap(lambda x: x * c)
        f.def_vmap(lambda size, batched, x: (10.0 * x, batched[0]))
        return f

    np.testing.assert_allclose(bt.vmap(lambda c: make(c)(2.0))(XS), 2.0 * XS)
    np.testing.assert_allclose(bt.vmap(lambda x: make(2.0)(x))(XS), 10.0 * XS)
    scaled = bt.jit(lambda c: bt.vmap(lambda x: make(c)(x))(XS))(2.0)
    np.testing.assert_allclose(scaled, 10.0 * XS)


def test_python_control_flow_on_values() -> None:
    f = bt.custom_vmap(lambda x: x * 2.0 if x > 0.0 else x)
    f.def_vmap(lambda size, batched, x: (x * 2.0, True))
    assert (float(f(2.0)), float(f(-2.0)), float(bt.grad(f)(2.0))) == (4.0, -2.0, 2.0)


def counted_product() -> tuple[Any, list[Any]]:
    seen: list[Any] = []

    @bt.custom_vmap
    def f(x: Any, y: Any) -> Any:
        return toy.mul(x, y)

    @f.def_vmap
    def f_rule(axis_size: int, in_batched: Any, x: Any, y: Any) -> Any:
        seen.append((in_batched, np.shape(x), np.shape(y)))
        return toy.mul(x, y), any(in_batched)

    return f, seen


def test_tangents_of_a_linear_rule_do_not_depend_on_mapped_primals() -> None:
    f = bt.custom_vmap(toy.neg)
    f.def_vmap(lambda size, batched, x: (toy.neg(toy.neg(x)), batched[0]))

    def both(x: Any, t: Any) -> Any:
        return bt.jvp(f, (x,), (t,))

    for g in (both, bt.jit(both)):
        out, tangent = bt.vmap(g, (0, None), out_axes=(0, None))(XS, 2.0)
        np.testing.assert_allclose(out, XS)
        assert float(tangent) == 2.0


def test_a_rule_sees_primals_that_are_the_same_for_all_as_such() -> None:
    f, seen = counted_product()
    x = np.arange(3.0)

    def columns(x: Any) -> Any:
        return bt.vmap(lambda t: bt.jvp(lambda x: f(x, x), (x,), (t,))[1])(np.eye(3))

    np.testing.assert_allclose(columns(x), np.diag(2 * x))
    assert seen == [([False, False], (3,), (3,))]
    np.testing.assert_allclose(bt.jit(columns)(x), np.diag(2 * x))
    both = np.stack([x, -x])
    np.testing.assert_allclose(bt.vmap(columns)(both), [np.diag(2 * x), np.diag(-2 * x)])


def test_a_primal_with_a_batched_tangent_is_batched_to_the_rule() -> None:
    f, seen = counted_product()

    def slope(x: Any, t: Any) -> Any:
        return bt.jvp(f, (x, 2.0), (t, t))[1]

    x, t = np.arange(3.0), np.array([10.0, 20.0, 30.0])
    np.testing.assert_allclose(bt.vmap(slope)(x, t), x * t + 2.0 * t)
    assert seen == [([True, True], (3,), (3,))]


def test_a_primal_whose_tangent_is_the_same_for_all_is_not_batched_to_the_rule() -> None:
    f, seen = counted_product()

    def slope(x: Any, t: Any) -> Any:
        return bt.jvp(f, (x, 2.0), (1.0, t))[1]

    x, t = np.arange(3.0), np.array([10.0, 20.0, 30.0])
    np.testing.assert_allclose(bt.vmap(slope)(x, t), x * t + 2.0)
    assert seen == [([False, False], (), ())]


def test_a_rule_that_returns_another_structure() -> None:
    f = bt.custom_vmap(lambda x: toy.sin(x))
    f.def_vmap(lambda axis_size, in_batched, x: ((x, x), (True, True)))
    with pytest.raises(ValueError, match=r"must return what the function returns, with the struct"):
        bt.vmap(f)(np.ones(3))


def test_the_function_is_traced_once_for_the_structure_of_its_output() -> None:
    runs = []

    @bt.custom_vmap
    def f(x: Any) -> Any:
        runs.append(x)
        return (x,)

    returned: Any = (XS,)
    f.def_vmap(lambda size, batched, x: (returned, tuple(True for _ in returned)))
    for _ in range(3):
        assert len(bt.vmap(f)(XS)) == 1
    assert len(runs) == 1
    returned = (XS, XS)
    for _ in range(2):
        with pytest.raises(ValueError, match="must return what the function returns, with the str"):
            bt.vmap(f)(XS)


def test_arguments_whose_structures_cannot_be_compared_are_mapped() -> None:
    class Box:
        def __init__(self, x: Any, mark: Any) -> None:
            self.x, self.mark = x, mark

    f = bt.custom_vmap(lambda box: box.x)
    f.def_vmap(lambda size, batched, box: (10.0 * box.x, batched[0].x))
    boxes = NodeDefinition(Box, lambda b: ((b.x,), b.mark), lambda mark, xs: Box(xs[0], mark))
    with scoped_registration(boxes):
        for _ in range(2):
            np.testing.assert_array_equal(bt.vmap(f)(Box(XS, np.arange(2))), 10.0 * XS)


@pytest.mark.parametrize("outer", [bt.custom_jvp, bt.custom_vjp])
def test_rules_of_a_function_inside_are_set_from_outside(outer: Any) -> None:
    f = outer(bt.custom_vmap(lambda x: x * 2.0))
    f.def_vmap(lambda axis_size, in_batched, x: (x * 20.0, in_batched[0]))
    if outer is bt.custom_jvp:
        f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * 3.0))
    else:
        f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct * 3.0,))
    np.testing.assert_allclose(bt.vmap(f)(XS), XS * 20.0)
    assert float(bt.grad(f)(1.0)) == 3.0
    around = bt.custom_vmap(bt.custom_jvp(lambda x: x * 2.0))
    around.def_vmap(lambda axis_size, in_batched, x: (x * 20.0, in_batched[0]))
    around.defjvp(lambda primals, tangents: (primals[0] * 2.0, tangents[0] * 3.0))
    assert float(bt.grad(around)(1.0)) == 3.0
    with pytest.raises(AttributeError, match="'custom_vmap' object has no attribute 'defvjp'"):
        bt.custom_vmap(lambda x: x).defvjp
