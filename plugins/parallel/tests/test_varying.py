"""The rule kind ``varying``: what differs between devices, for primitives of anybody."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import P, lax
from bindax.sharding import AbstractMesh, no_collectives
from bindax_core.extend import primitive, rules
from bindax_parallel._conformance import check_varying
from bindax_parallel.extend import varying, varying_axes
from bindax_testing import Case

MESH = AbstractMesh((2, 2), ("x", "y"))
X = np.arange(8, dtype=np.float32).reshape(4, 2)
Y, NONE = frozenset({"y"}), frozenset()


def both(x: Any, y: Any) -> list[Any]:
    return [x + y, x * 2]


def made(name: str, *more: Any) -> Any:
    """A primitive of somebody with two results, of which the second depends on ``x`` alone."""
    return primitive(
        name,
        rules.impl(both),
        rules.abstract_eval(lambda x, y: [x, x]),
        rules.jvp(lambda xs, ts: (both(*xs), [ts[0] + ts[1], ts[0] * 2])),
        rules.vmap(lambda size, xs, dims: (both(*xs), [0, 0])),
        rules.transpose.absent("a test"),
        rules.lowering["stablehlo"].absent("a test"),
        *more,
        multiple_results=True,
    )


PLAIN = made("test_varying.plain")
RULED = made("test_varying.ruled", rules.varying(lambda x, y: [x | y, x]))


def second(operation: Any) -> Any:
    """The second result, of a value that is the same along ``x`` and one that is not."""

    def part(x: Any) -> Any:
        return operation.bind(lax.psum(x, "x"), x)[1]

    return bindax.shard_map(part, mesh=MESH, in_specs=P("x", "y"), out_specs=P(None, "y"))


def test_without_a_rule_results_vary_as_all_operands_do() -> None:
    with pytest.raises(
        ValueError, match="output may differ between devices along the mesh axis 'x'"
    ):
        second(PLAIN)(X)


def test_a_rule_of_somebody_takes_part() -> None:
    np.testing.assert_array_equal(second(RULED)(X), 2 * (X[:2] + X[2:]))


def test_a_rule_for_a_primitive_of_another_package() -> None:
    with varying.scoped(PLAIN, varying(lambda x, y: [x | y, x])):
        np.testing.assert_array_equal(second(PLAIN)(X), 2 * (X[:2] + X[2:]))


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (lambda x, y: "x", "returned str 'x', where a set of axes or a list of sets is due"),
        (lambda x, y: [x], "returned 1 sets of axes for 2 results"),
    ],
)
def test_a_rule_that_returns_something_else_is_named(rule: Any, problem: str) -> None:
    wanted = f"the varying rule of test_varying.plain.*{re.escape(problem)}"
    with varying.scoped(PLAIN, varying(rule)), pytest.raises(TypeError, match=f"(?s){wanted}"):
        second(PLAIN)(X)


def test_the_suite_finds_a_rule_that_says_too_little() -> None:
    draws = [[np.array([1.0, 2.0]), np.array([3.0, 4.0])], [np.array([5.0, 6.0]), np.ones(2)]]
    case = Case(PLAIN, draws, {})
    with varying.scoped(PLAIN, varying(lambda x, y: [x | y, x])):
        check_varying(case)
    message = "result 0 depends on operand 0, but the rule says that it does not vary along an axis"
    wrong = varying(lambda x, y: [y, x])
    with varying.scoped(PLAIN, wrong), pytest.raises(AssertionError, match=message):
        check_varying(case)


PROGRAMS: dict[str, tuple[Any, list[Any]]] = {
    "operation": (lambda x, y: (x + y, x, 3.0 * x), [Y, NONE, NONE]),
    "jit": (bindax.jit(lambda x, y: (x, y)), [NONE, Y]),
    "checkpoint": (bindax.checkpoint(lambda x, y: (x, y)), [NONE, Y]),
    "branches": (lambda x, y: lax.cond(x > 0, lambda: (x, y), lambda: (x, x)), [NONE, Y]),
    "branch by what varies": (lambda x, y: lax.cond(y > 0, lambda: (x,), lambda: (x + 1,)), [Y]),
    "loop": (
        lambda x, y: lax.scan(lambda c, _: ((c[1], c[2], c[2]), c[0]), (x, x, y), None, 3),
        [Y, Y, Y, Y],
    ),
    "loop of one": (lambda x, y: lax.scan(lambda c, _: (c * 2, y), x, None, 3), [NONE, Y]),
    "while what varies": (lambda x, y: lax.while_loop(lambda c: c < y, lambda c: c + 1, x), [Y]),
    "while": (lambda x, y: lax.while_loop(lambda c: c < 3, lambda c: c + 1, x), [NONE]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    function, wanted = PROGRAMS[name]
    closed = bindax.make_jaxpr(function)(np.float32(1), np.float32(2))
    assert varying_axes(closed, [NONE, Y]) == wanted


@pytest.fixture
def cast() -> Any:
    def part(x: Any) -> Any:
        start = lax.pcast(bnp.zeros(2, np.float32), ("x", "y"), to="varying")
        total = lax.fori_loop(0, 2, lambda i, c: c + x[i].sum(), start)
        return lax.psum(total, ("x", "y"))

    return bindax.shard_map(part, mesh=MESH, in_specs=P("x", "y"), out_specs=P())


def test_values_that_are_cast(cast: Any) -> None:
    np.testing.assert_array_equal(cast(X), np.full(2, X.sum()))
    slope = bindax.jit(bindax.grad(lambda x: cast(x)[0]))(X)
    np.testing.assert_array_equal(slope, np.ones_like(X))
    twice = bindax.vmap(cast)(np.stack([X, 2 * X]))
    np.testing.assert_array_equal(twice[1], np.full(2, 2 * X.sum()))
    same = bindax.shard_map(
        lambda x: lax.pcast(x, "x", to="varying"), mesh=MESH, in_specs=P(), out_specs=P()
    )
    with pytest.raises(ValueError, match="output may differ between devices along the mesh axis"):
        same(X)


def test_casts_that_are_none() -> None:
    with pytest.raises(NameError, match="pcast: no axis is named 'z' here"):
        lax.pcast(1.0, "z", to="varying")
    with pytest.raises(TypeError, match="pcast: axis_name must be a tuple or a str, but is"):
        lax.pcast(1.0, {"x"}, to="varying")
    with pytest.raises(ValueError, match=r"pcast: to must be one of .*, but is 'invarying'"):
        lax.pcast(1.0, "x", to="invarying")
    with pytest.raises(ValueError, match="all_gather: to must be 'varying', 'invarying' or"):
        lax.all_gather(1.0, "x", to="elsewhere")


def test_blocks_without_collectives_refuse_them() -> None:
    def total(x: Any, axes: Any) -> Any:
        with no_collectives(axes):
            own = lax.psum(x.sum(), "y")
        return lax.psum(own, "x")

    def run(axes: Any) -> Any:
        return bindax.shard_map(
            lambda x: total(x, axes), mesh=MESH, in_specs=P("x"), out_specs=P()
        )(X)

    assert float(run("x")) == X.sum() * MESH.shape["y"]
    for axes in ("y", {"x", "y"}, None):
        with pytest.raises(ValueError, match="psum along the mesh axis 'y' is inside of a block"):
            run(axes)
    with no_collectives():  # along an axis of vmap, devices exchange nothing
        bindax.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(X)
    with no_collectives("x"), pytest.raises(ValueError, match="'x' is inside of a block"):
        run(())
    assert bindax.config.no_collectives is None


def test_an_exchange_may_be_begun_before_its_result_is_needed() -> None:
    def scattered(x: Any) -> Any:
        begun = lax.psum_scatter_start(x, "x", tiled=True)
        return begun.done() + lax.psum_scatter(x, "x", tiled=True)

    got = bindax.shard_map(scattered, mesh=MESH, in_specs=P(), out_specs=P("x"))(X)
    np.testing.assert_array_equal(got, 2 * MESH.shape["x"] * X)
