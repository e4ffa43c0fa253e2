"""``while_loop``: values, transformations in any order, what a loop carries, messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import cond, scan, while_loop, while_p
from bindax_core.errors import MissingRuleError
from bindax_lax_basic import cos, sin

Function = Callable[[Any], Any]
ONE = np.ones(())


@pytest.fixture(autouse=True, params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param, check_jaxprs=True):
        yield


def until_large(x: Any) -> Any:
    """The number of iterations depends on the argument."""
    return while_loop(lambda y: y < 10.0, lambda y: y * 1.7 + sin(x), x)


def plain(x: float) -> float:
    y = x
    while y < 10.0:
        y = y * 1.7 + np.sin(x)
    return float(y)


def slope(x: float) -> float:
    y, y_dot = x, 1.0
    while y < 10.0:
        y, y_dot = y * 1.7 + np.sin(x), y_dot * 1.7 + np.cos(x)
    return float(y_dot)


def curvature(x: float) -> float:
    y, second = x, 0.0
    while y < 10.0:
        y, second = y * 1.7 + np.sin(x), second * 1.7 - np.sin(x)
    return float(second)


POINTS = [0.4, 1.1, 2.5, 11.0]


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_values_and_forward_derivatives(wrap: Any) -> None:
    f = wrap(until_large)
    for point in POINTS:
        x = np.float64(point)
        np.testing.assert_allclose(f(x), plain(point), rtol=1e-13)
        for found in (
            bt.jvp(f, (x,), (ONE,))[1],
            wrap(lambda x: bt.jvp(f, (x,), (ONE,))[1])(x),
            wrap(lambda x: bt.linearize(f, x)[1](ONE))(x),
            bt.jacfwd(f)(x),
        ):
            np.testing.assert_allclose(found, slope(point), rtol=1e-12)
        np.testing.assert_allclose(bt.jacfwd(bt.jacfwd(f))(x), curvature(point), rtol=1e-12)


def test_mapped_condition_masks_what_is_done() -> None:
    xs = np.array(POINTS)
    ones = np.ones(4)
    values, slopes = [plain(x) for x in POINTS], [slope(x) for x in POINTS]
    for batched in (
        bt.vmap(until_large),
        bt.jit(bt.vmap(until_large)),
        bt.vmap(bt.jit(until_large)),
    ):
        np.testing.assert_allclose(batched(xs), values, rtol=1e-13)
        np.testing.assert_allclose(bt.jvp(batched, (xs,), (ones,))[1], slopes, rtol=1e-12)
    forward = bt.vmap(lambda x: bt.jvp(until_large, (x,), (ONE,))[1])
    np.testing.assert_allclose(bt.jit(forward)(xs), slopes, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(bt.jacfwd(bt.vmap(until_large))(xs)), slopes, rtol=1e-12)
    twice = bt.vmap(bt.vmap(until_large), in_axes=1, out_axes=1)(xs.reshape(2, 2))
    np.testing.assert_allclose(twice, np.reshape(values, (2, 2)), rtol=1e-13)
    assert bt.vmap(until_large)(np.zeros(0)).shape == (0,)


def test_elements_that_are_done_are_not_disturbed_by_the_others() -> None:
    def until_zero(n: Any) -> Any:
        return while_loop(lambda c: c[0] > 0, lambda c: (c[0] - 1, c[1] / c[0]), (n, ONE))[1]

    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_allclose(bt.vmap(until_zero)(np.array([0, 3, 1])), [1, 1 / 6, 1])


def the_loop(f: Callable[..., Any], *args: Any) -> Any:
    (eqn,) = [eqn for eqn in bt.make_jaxpr(f)(*args).eqns if eqn.primitive is while_p]
    return eqn


def test_a_loop_carries_only_what_is_batched() -> None:
    table = np.arange(3.0)

    def count(x: Any) -> Any:
        carry = (0, x, table, ONE)
        return while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.0, c[2], c[3] + 1.0), carry
        )

    xs = np.arange(2.0)
    eqn = the_loop(bt.vmap(count, out_axes=(None, 0, None, None)), xs)
    assert [v.aval.shape for v in eqn.outvars] == [(), (2,), (3,), ()]
    assert "select_n" not in str(eqn.params["body_jaxpr"])
    assert eqn.params["cond_jaxpr"].out_avals[0].shape == ()

    def until(x: Any) -> Any:
        return while_loop(lambda c: c[0] < 3.0, lambda c: (c[0] + 1.0, c[1]), (x, table))

    eqn = the_loop(bt.vmap(until, out_axes=(0, None)), xs)
    assert [v.aval.shape for v in eqn.outvars] == [(2,), (2,), (3,)]  # first: which go on
    assert [e.primitive.name for e in eqn.params["cond_jaxpr"].eqns] == ["reduce_or"]
    counts = bt.vmap(count)(xs)
    np.testing.assert_array_equal(counts[0], [3, 3])
    np.testing.assert_array_equal(counts[2], [table, table])


def test_a_batch_axis_and_a_tangent_reach_later_components() -> None:
    def rotate(n: Any, x: Any) -> Any:
        step = lambda c: (c[0] + 1, (c[1][1], c[1][2], c[1][0] + c[1][2]))  # noqa: E731
        return while_loop(lambda c: c[0] < n, step, (0, (ONE, ONE, x)))[1][0]

    for n, expected in ((0, 0.0), (1, 0.0), (2, 1.0), (5, 2.0)):
        np.testing.assert_allclose(bt.jacfwd(lambda x, n=n: rotate(n, x))(0.5), expected)
        got = bt.vmap(lambda x, n=n: rotate(n, x))(np.arange(3.0))
        np.testing.assert_allclose(got, [rotate(n, x) for x in np.arange(3.0)])
    ns = np.array([0, 2, 5], np.int32)
    tangents = bt.vmap(lambda n: bt.jvp(lambda x: rotate(n, x), (0.5,), (ONE,))[1])(ns)
    np.testing.assert_allclose(tangents, [0.0, 1.0, 2.0])


def test_the_condition_looks_at_no_tangent() -> None:
    f = lambda x: while_loop(lambda y: sin(y) < 0.9, lambda y: y * 1.1, x)  # noqa: E731
    eqn = the_loop(lambda x: bt.jvp(f, (x,), (ONE,)), 0.3)
    assert len(eqn.params["cond_jaxpr"].eqns) == 2
    assert len(eqn.outvars) == 2


def test_the_known_part_runs_once_when_linearized() -> None:
    def f(x: Any, n: Any) -> Any:
        return while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]

    out, f_lin = bt.linearize(lambda x: f(x, np.int32(3)), 2.0)
    assert float(out) == 16.0
    assert float(f_lin(1.0)) == 32.0
    inside = bt.jit(lambda x, t: bt.linearize(lambda x: bt.jit(f)(x, np.int32(3)), x)[1](t))
    assert float(inside(2.0, 1.0)) == 32.0
    # Partial evaluation of a program: the count is known, the rest is not.
    closed, _ = bt.make_jaxpr(f)(2.0, np.int32(3)), None
    program = bt.partial_eval_jaxpr(closed, [True, False])
    assert [eqn.primitive for eqn in program.unknown.eqns] == [while_p]
    assert program.out_unknowns == [True]


def test_dead_components_are_dropped() -> None:
    def f(x: Any) -> Any:
        body = lambda c: (c[0] + 1, cos(c[1]), sin(c[2]) * c[1], c[3] * 2.0)  # noqa: E731
        return while_loop(lambda c: c[0] < 3, body, (0, x, x, x))

    closed = bt.make_jaxpr(f)(1.0)
    pruned, used = bt.dce_jaxpr(closed.jaxpr, [False, True, False, False])
    assert used == [True]
    (eqn,) = pruned.eqns
    assert len(eqn.outvars) == 2
    assert [e.primitive.name for e in eqn.params["body_jaxpr"].eqns] == ["add", "cos"]
    bx.typecheck_jaxpr(pruned)
    pruned, _ = bt.dce_jaxpr(closed.jaxpr, [False, False, True, False])
    assert len(pruned.eqns[0].outvars) == 3


def test_nested_in_scan_in_cond() -> None:
    def inner(y: Any) -> Any:
        return while_loop(lambda v: v < 4.0, lambda v: v * 1.5, y)

    def f(x: Any) -> Any:
        def scanned(x: Any) -> Any:
            return scan(lambda c, t: (inner(c + t) / 4.0, c), x, np.arange(3.0))[0]

        # Under vmap both branches run on all elements: the loops have to end on each of them.
        return cond(x > 0.0, lambda x: scanned(abs(x)), lambda x: -inner(abs(x)), x)

    def expected(x: float) -> tuple[float, float]:
        sign = 1.0
        if x <= 0.0:
            x, sign = -x, -1.0
        value, dot = x, 1.0
        for t in range(3) if sign > 0 else [0]:
            value += t
            while value < 4.0:
                value, dot = value * 1.5, dot * 1.5
            if sign > 0:
                value, dot = value / 4.0, dot / 4.0
        return sign * value, dot

    points = [0.7, 2.0, -0.7, 9.0]
    values, dots = zip(*[expected(x) for x in points], strict=True)
    forward = lambda x: bt.jvp(f, (x,), (ONE,))  # noqa: E731
    for x, value, dot in zip(points, values, dots, strict=True):
        for g in (forward, bt.jit(forward)):
            np.testing.assert_allclose(g(np.float64(x)), (value, dot), rtol=1e-12)
    np.testing.assert_allclose(bt.vmap(forward)(np.array(points)), (values, dots), rtol=1e-12)


def test_carries_are_trees_and_may_be_empty() -> None:
    out = while_loop(
        lambda c: c["n"] < 3,
        lambda c: {"n": c["n"] + 1, "h": [c["h"][0] + 1.0, None]},
        {"n": 0, "h": [np.zeros(2), None]},
    )
    assert int(out["n"]) == 3
    np.testing.assert_array_equal(out["h"][0], [3.0, 3.0])
    assert while_loop(lambda c: False, lambda c: c, None) is None


def test_python_numbers_take_the_types_of_the_body() -> None:
    x = np.float32(1.5)
    for run in (lambda f: f(), lambda f: bt.jit(f)()):
        out = run(lambda: while_loop(lambda c: c < 10, lambda c: c * x, 1))
        assert (out.dtype, out.weak_type) == (np.float32, False)
        out = run(lambda: while_loop(lambda c: c < 10, lambda c: c * 1.5, 1))
        assert (out.dtype, out.weak_type) == (np.float64, True)
        out = run(lambda: while_loop(lambda c: c < 3, lambda c: 5.0, x))
        assert (out.dtype, out.weak_type) == (np.float32, False)
        out = run(lambda: while_loop(lambda c: c < 3, lambda c: c + 1, 0))
        assert (out.dtype, out.weak_type) == (np.int64, True)
    with pytest.raises(TypeError, match="carry comes in as float32"):
        while_loop(lambda c: c < 3, lambda c: 5, x)


def test_equal_programs_are_compiled_once() -> None:
    def body_of(scale: Any) -> Any:
        f = lambda x: while_loop(lambda c: c < 10, lambda c: c * scale, x)  # noqa: E731
        return the_loop(f, np.float32(1.0)).params["body_jaxpr"]

    assert bt.intern_jaxpr(body_of(2.0)) is bt.intern_jaxpr(body_of(2.0))
    assert bt.intern_jaxpr(body_of(2.0)) is not bt.intern_jaxpr(body_of(3.0))
    assert bt.intern_jaxpr(body_of(0.0)) is not bt.intern_jaxpr(body_of(-0.0))
    scale = 2.0
    body = lambda c: c * scale  # noqa: E731
    assert float(while_loop(lambda c: c < 10.0, body, 1.0)) == 16.0
    scale = 3.0  # what a function closes over may change between calls
    assert float(while_loop(lambda c: c < 10.0, body, 1.0)) == 27.0


def notes(caught: Any) -> list[str]:
    return list(getattr(caught.value, "__notes__", []))


def test_reverse_mode_is_an_error_that_says_what_to_use() -> None:
    with pytest.raises(MissingRuleError) as caught:
        bt.grad(until_large)(0.5)
    text = str(caught.value)
    assert "while has no transpose rule: reverse-mode differentiation would have to store" in text
    assert "use scan, or fori_loop with bounds that are not traced" in text
    assert "jvp and jacfwd do work" in text
    assert any(
        "in the backward pass of" in note and "(until_large)" in note for note in notes(caught)
    )
    with pytest.raises(MissingRuleError, match="while has no transpose rule") as caught:
        bt.jit(bt.grad(bt.jit(until_large)))(0.5)
    assert any("(until_large)" in note for note in notes(caught))
    # What no derivative goes through may loop.
    constant = lambda x: x * while_loop(lambda n: n < 5.0, lambda n: n + 2.0, 0.0)  # noqa: E731
    assert float(bt.grad(constant)(1.0)) == 6.0


def increase(x: Any) -> Any:
    return x + 1


def test_messages_about_functions() -> None:
    with pytest.raises(TypeError, match=r"body_fun of while_loop must be a function, but got 5 of"):
        while_loop(lambda x: x < 3, 5, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"cond_fun of while_loop must be a function, but got None"):
        while_loop(None, increase, 1)  # type: ignore[arg-type]
    start = r"cond_fun of while_loop must return a boolean scalar, but <lambda> \(.*\) returns "
    with pytest.raises(
        TypeError, match=start + r"int64\[\] \(weakly typed\)\. Compare, as in x > 0"
    ):
        while_loop(lambda x: x, increase, 1)
    with pytest.raises(TypeError, match=start + r"bool\[2\]\. .* \.all\(\) or \.any\(\)"):
        while_loop(lambda x: x < 3, increase, np.ones(2))
    with pytest.raises(TypeError, match=start + r"the tree PyTreeDef\(\(\*,\)\)"):
        while_loop(lambda x: (True,), increase, 1)
    with pytest.raises(TypeError, match=start + r"the tree PyTreeDef\(None\)"):
        while_loop(lambda x: None, increase, 1)
    with pytest.raises(TypeError, match=r"cond_fun of while_loop returned a value of type"):
        while_loop(lambda x: "yes", increase, 1)


def test_messages_about_the_carry() -> None:
    with pytest.raises(TypeError, match=r"init_val\['a'\]\[1\] of while_loop: a value of type"):
        while_loop(lambda c: True, lambda c: c, {"a": [1, "no"]})
    with pytest.raises(
        TypeError, match=r"carry\['a'\] of what <lambda> .*: a value of type builtins.str"
    ):
        while_loop(lambda c: True, lambda c: {"a": "no"}, {"a": 1})
    with pytest.raises(TypeError) as caught:
        while_loop(lambda c: True, lambda c: {"h": [np.ones(4)]}, {"h": [np.ones(3)]})
    text = str(caught.value)
    assert "body of while_loop must return the types of the carry that it takes, but in <l" in text
    assert "carry['h'][0] comes in as float64[3] and goes out as float64[4] (return it with" in text
    assert "the shape (3,), or begin with (4,))." in text
    with pytest.raises(TypeError, match=r"float32\[\] and .* float64\[\] \(convert it with"):
        while_loop(lambda c: True, lambda c: c * np.array(2.0), np.float32(1.0))
    with pytest.raises(TypeError, match=r"float32\[\] and .* int64\[\] \(weakly typed\) \(conv"):
        while_loop(lambda c: True, lambda c: 5, np.float32(1.0))
    with pytest.raises(TypeError) as caught:
        while_loop(lambda c: True, lambda c: {"a": c["a"], "c": 1}, {"a": 1, "b": 2})
    text = str(caught.value)
    assert (
        "must return the structure of the carry that it takes, PyTreeDef({'a': *, 'b': *})" in text
    )
    assert "PyTreeDef({'a': *, 'c': *}): carry['b'] is missing; carry['c'] is new." in text
    with pytest.raises(TypeError, match=r"the structure of the carry .* PyTreeDef\(\[\*, \*\]\)\."):
        while_loop(lambda c: True, lambda c: [1, 2], (1, 2))


def test_programs_that_do_not_fit_are_refused() -> None:
    eqn = the_loop(until_large, 0.5)
    with pytest.raises(TypeError, match=r"condition of while takes .* is needed"):
        bt.make_jaxpr(lambda: while_p.bind(0.5, np.ones(2), **eqn.params))()


def test_arrays_are_closed_over() -> None:
    weights = np.arange(4.0).reshape(2, 2) / 4.0

    def f(x: Any) -> Any:
        step = lambda c: (c[0] + 1, (weights * c[1]).sum(0) + x)  # noqa: E731
        return while_loop(lambda c: (c[1] < weights + 3.0).all() & (c[0] < 4), step, (0, x))[1]

    x = np.array([0.5, -0.25])
    y, n = x, 0
    while (y < weights + 3.0).all() and n < 4:
        y, n = (weights * y).sum(0) + x, n + 1
    np.testing.assert_allclose(f(x), y)
    np.testing.assert_allclose(bt.jit(f)(x), y)
    np.testing.assert_allclose(bt.vmap(f)(np.stack([x, x + 1.0]))[0], y)
