"""Functions with derivative rules of their own: what they mean, in any order of transformations."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import toy

import bindax_core as bx
import bindax_transforms as bt
from bindax_core import tree_util as bx_tree

pytestmark = pytest.mark.usefixtures("toy_operations")


def equal(got: Any, expected: Any) -> None:
    pairs = zip(bx_tree.tree_leaves(got), bx_tree.tree_leaves(expected), strict=True)
    for x, y in pairs:
        np.testing.assert_allclose(x, y)


XS = np.linspace(-1.0, 2.0, 4)


@bt.custom_jvp
def tenfold(x: Any) -> Any:
    """Has ten times the derivative of a square, so that a test sees which rule was used."""
    return x * x


@tenfold.defjvp
def _tenfold_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return tenfold(x), 20.0 * x * t


@bt.custom_vjp
def product(x: Any, y: Any) -> Any:
    """Has ten times the derivative of a product in ``x`` and the true one in ``y``."""
    return x * y


product.defvjp(lambda x, y: (x * y, (x, y)), lambda xy, ct: (10.0 * ct * xy[1], ct * xy[0]))


def square(x: Any) -> Any:
    return product(x, x)


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: toy.reduce_sum(f(x))


@pytest.mark.parametrize(("f", "first", "second"), [(tenfold, 20.0, 20.0), (square, 11.0, 11.0)])
def test_any_order_of_transformations_uses_the_rules(f: Any, first: float, second: float) -> None:
    expected = first * XS
    for gradient in (
        bt.vmap(bt.grad(f)),
        bt.vmap(bt.grad(bt.jit(f))),
        bt.vmap(bt.jit(bt.grad(f))),
        bt.jit(bt.vmap(bt.grad(f))),
        bt.grad(total(bt.vmap(f))),
        bt.grad(total(bt.jit(bt.vmap(f)))),
        bt.grad(total(bt.vmap(bt.jit(f)))),
        bt.jit(bt.grad(total(bt.vmap(f)))),
    ):
        np.testing.assert_allclose(gradient(XS), expected)
    for twice in (
        bt.vmap(bt.grad(bt.grad(f))),
        bt.vmap(bt.grad(bt.jit(bt.grad(bt.jit(f))))),
        bt.jit(bt.vmap(bt.grad(bt.grad(f)))),
    ):
        np.testing.assert_allclose(twice(XS), np.full(4, second))


def test_forward_mode_uses_the_jvp_rule() -> None:
    equal(bt.jvp(tenfold, (3.0,), (1.0,)), (9.0, 60.0))
    equal(bt.jvp(bt.jit(tenfold), (3.0,), (1.0,)), (9.0, 60.0))
    out, f_lin = bt.linearize(tenfold, 3.0)
    equal((out, f_lin(2.0)), (9.0, 120.0))
    equal(bt.linearize(bt.jit(tenfold), 3.0)[1](2.0), 120.0)


def test_a_program_shows_the_call() -> None:
    text = str(bt.make_jaxpr(bt.vmap(tenfold))(XS))
    assert "custom_jvp_call [ name=tenfold ]" in text
    assert "mul" in text
    assert "custom_vjp_call [ name=product ]" in str(bt.make_jaxpr(square)(3.0))
    linear = bt.make_jaxpr(lambda t: bt.linearize(bt.jit(square), 3.0)[1](t))(1.0)
    assert "custom_vjp_linear [ function=custom_vjp function product ]" in str(linear)


def test_a_recorded_call_keeps_its_rules() -> None:
    program = bx.jaxpr_as_fun(bt.make_jaxpr(tenfold)(3.0))
    equal(bt.grad(lambda x: program(x)[0])(3.0), 60.0)
    np.testing.assert_allclose(bt.vmap(bt.grad(lambda x: program(x)[0]))(XS), 20.0 * XS)
    batch = bx.jaxpr_as_fun(bt.make_jaxpr(bt.vmap(square))(XS))
    np.testing.assert_allclose(bt.grad(lambda x: toy.reduce_sum(batch(x)[0]))(XS), 11.0 * XS)


def test_unmapped_arguments_get_the_sum_of_their_cotangents() -> None:
    def f(x: Any, y: Any) -> Any:
        return toy.reduce_sum(bt.vmap(product, (0, None))(x, y))

    for g in (f, bt.jit(f)):
        ct_x, ct_y = bt.grad(g, argnums=(0, 1))(XS, 3.0)
        np.testing.assert_allclose(ct_x, np.full(4, 30.0))
        np.testing.assert_allclose(ct_y, XS.sum())


def test_python_control_flow_on_values() -> None:
    @bt.custom_jvp
    def f(x: Any) -> Any:
        return x * x if x > 0.0 else -x

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return f(x), (7.0 if x > 0.0 else 5.0) * t

    @bt.custom_vjp
    def g(x: Any) -> Any:
        return x * x if x > 0.0 else -x

    g.defvjp(lambda x: (g(x), x), lambda x, ct: ((7.0 if x > 0.0 else 5.0) * ct,))
    for function in (f, g):
        equal((function(3.0), function(-3.0)), (9.0, 3.0))
        equal((bt.grad(function)(3.0), bt.grad(function)(-3.0)), (7.0, 5.0))
        equal(bt.grad(bt.grad(function))(3.0), 0.0)
        # A value that is the same for all elements is as concrete as without vmap.
        out = bt.vmap(lambda y, function=function: y * bt.grad(function)(3.0))(XS)
        np.testing.assert_allclose(out, 7.0 * XS)
        with pytest.raises(bx.errors.TracerBoolConversionError, match="in vmap of"):
            bt.vmap(function)(XS)
        with pytest.raises(bx.errors.TracerBoolConversionError, match="in jit of"):
            bt.jit(function)(3.0)


def test_rules_within_rules() -> None:
    @bt.custom_vjp
    def outer(x: Any) -> Any:
        return tenfold(x)

    outer.defvjp(lambda x: (outer(x), x), lambda x, ct: (ct * tenfold(x),))

    @bt.custom_jvp
    def other(x: Any) -> Any:
        return square(x)

    other.defjvp(lambda primals, tangents: (other(*primals), tangents[0] * square(*primals)))
    for f, second in ((outer, 60.0), (other, 33.0)):
        for transformed in (
            bt.grad(bt.grad(f)),
            bt.grad(bt.jit(bt.grad(f))),
            bt.jit(bt.grad(bt.grad(bt.jit(f)))),
        ):
            equal(transformed(3.0), second)
        equal(bt.grad(f)(3.0), 9.0)


def test_trees_and_keywords() -> None:
    @bt.custom_jvp
    def f(point: Any, scale: Any = 2.0) -> Any:
        """Documented."""
        return {"out": point["x"] * scale, "none": None}

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        (point, scale), (point_dot, _) = primals, tangents
        return f(point, scale), {"out": 100.0 * point_dot["x"], "none": None}

    assert f.__name__ == "f"
    assert f.__doc__ == "Documented."
    equal(f(scale=3.0, point={"x": 2.0})["out"], 6.0)
    equal(bt.grad(lambda x: f({"x": x})["out"])(2.0), 100.0)
    equal(bt.jit(bt.grad(lambda x: f(point={"x": x}, scale=5.0)["out"]))(2.0), 100.0)


def test_arguments_that_are_not_differentiated() -> None:
    @functools.partial(bt.custom_jvp, nondiff_argnums=(0,))
    def apply(function: Any, x: Any) -> Any:
        return function(x)

    @apply.defjvp
    def apply_jvp(function: Any, primals: Any, tangents: Any) -> Any:
        return apply(function, *primals), 5.0 * tangents[0]

    @functools.partial(bt.custom_vjp, nondiff_argnames="function")
    def applied(x: Any, function: Any) -> Any:
        return function(x)

    applied.defvjp(
        lambda x, function: (function(x), None), lambda function, residuals, ct: (5.0 * ct,)
    )
    equal(bt.grad(lambda x: apply(toy.sin, x))(0.5), 5.0)
    equal(bt.grad(lambda x: applied(x, toy.sin))(0.5), 5.0)
    equal(bt.grad(bt.jit(lambda x: applied(function=toy.sin, x=x)))(0.5), 5.0)

    @functools.partial(bt.custom_jvp, nondiff_argnums=1)
    def scaled(x: Any, scale: Any) -> Any:
        return x * scale

    scaled.defjvp(lambda scale, p, t: (scaled(*p, scale), 10.0 * scale * t[0]))
    # A traced value there becomes an operand, so that the rule may run after the trace.
    equal(bt.grad(bt.jit(lambda x, s: scaled(x, s)))(2.0, 3.0), 30.0)
    np.testing.assert_allclose(bt.vmap(bt.grad(scaled))(XS, XS), 10.0 * XS)
    np.testing.assert_allclose(bt.vmap(bt.grad(bt.jit(scaled)))(XS, XS), 10.0 * XS)


def test_defjvps_adds_the_contributions() -> None:
    f = bt.custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, out, x, y: 10.0 * t * y, None)
    equal(bt.grad(f, argnums=(0, 1))(3.0, 2.0), (20.0, 0.0))
    f.defjvps(lambda t, out, x, y: t * y, lambda t, out, x, y: 10.0 * t * x)
    equal(bt.jvp(f, (3.0, 2.0), (1.0, 1.0)), (6.0, 32.0))
    np.testing.assert_allclose(bt.vmap(bt.grad(f, 1), (0, None))(XS, 2.0), 10.0 * XS)


def test_symbolic_zeros() -> None:
    seen: list[Any] = []

    @bt.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x * y, y

    def f_jvp(primals: Any, tangents: Any) -> Any:
        seen.append(tangents)
        return f(*primals), (tangents[0] * primals[1], tangents[1])

    f.defjvp(f_jvp, symbolic_zeros=True)
    equal(bt.grad(lambda x: f(x, 2.0)[0])(3.0), 2.0)
    zero = seen[0][1]
    assert isinstance(zero, bt.SymbolicZero)
    assert zero.shape == ()
    assert zero.dtype == np.float64
    assert repr(zero) == "SymbolicZero(float64[])"
    assert (zero.ndim, zero.size) == (0, 1)

    @bt.custom_vjp
    def g(x: Any, y: Any) -> Any:
        return x * y, x

    def forward(x: Any, y: Any) -> Any:
        seen[:] = [x, y]
        return (x.value * y.value, x.value), (x.value, y.value)

    def backward(xy: Any, cts: Any) -> Any:
        seen.append(cts)
        return 10.0 * cts[0] * xy[1], None

    g.defvjp(forward, backward, symbolic_zeros=True, optimize_remat=True)
    equal(bt.grad(lambda x: g(x, 2.0)[0])(3.0), 20.0)
    assert [primal.perturbed for primal in seen[:2]] == [True, False]
    assert isinstance(seen[2][1], bt.SymbolicZero)
    np.testing.assert_allclose(bt.vmap(bt.grad(bt.jit(lambda x: g(x, 2.0)[0])))(XS), [20.0] * 4)


def test_integers_have_float0_tangents() -> None:
    seen: list[Any] = []

    @bt.custom_jvp
    def f(x: Any, n: Any) -> Any:
        return x * 2.0, n

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        seen.append(tangents[1])
        return f(*primals), (tangents[0] * 3.0, tangents[1])

    out, tangents = bt.jvp(f, (1.0, 2), (1.0, np.zeros((), bx.float0)))
    equal((out, tangents[0]), ((2.0, 2), 3.0))
    assert seen[0].dtype == bx.float0
    assert tangents[1].dtype == bx.float0

    @bt.custom_vjp
    def g(x: Any, n: Any) -> Any:
        return x * 2.0, n

    for ct in (None, np.zeros((), bx.float0)):
        g.defvjp(lambda x, n: (g(x, n), None), lambda _, cts, ct=ct: (5.0 * cts[0], ct))
        equal(bt.grad(lambda x: g(x, 2)[0])(1.0), 5.0)
        equal(bt.grad(bt.jit(lambda x: g(x, 2)[0]))(1.0), 5.0)


def test_values_closed_over_that_are_mapped() -> None:
    def scaled(c: Any, *, reverse: bool) -> Any:
        if reverse:
            g = bt.custom_vjp(lambda x: x * c)
            g.defvjp(lambda x: (g(x), None), lambda _, ct: (10.0 * c * ct,))
            return g
        f = bt.custom_jvp(lambda x: x * c)
        f.defjvp(lambda primals, tangents: (f(*primals), 10.0 * c * tangents[0]))
        return f

    for reverse in (False, True):
        make = functools.partial(scaled, reverse=reverse)
        np.testing.assert_allclose(bt.vmap(lambda c, make=make: make(c)(2.0))(XS), 2.0 * XS)
        for transformed in (
            lambda c, make=make: bt.grad(make(c))(2.0),
            lambda c, make=make: bt.jit(lambda x: bt.grad(make(c))(x))(2.0),
        ):
            np.testing.assert_allclose(bt.vmap(transformed)(XS), 10.0 * XS)


def test_values_closed_over_stand_before_several_arguments() -> None:
    def scaled(c: Any) -> Any:
        f = bt.custom_jvp(lambda x, y: x * y * c)
        f.defjvp(lambda primals, ts: (f(*primals), c * (ts[0] * primals[1] + 10.0 * ts[1])))
        return f

    for wrap in (lambda f: f, bt.jit):
        slopes = lambda x, y, c, wrap=wrap: bt.grad(wrap(scaled(c)), (0, 1))(x, y)  # noqa: E731
        for staged in (slopes, bt.jit(slopes)):
            equal(staged(2.0, 3.0, 5.0), (15.0, 50.0))
            mapped = bt.vmap(staged, (None, None, 0))(2.0, 3.0, XS)
            np.testing.assert_allclose(mapped, (3.0 * XS, 10.0 * XS))


def test_linear_functions_are_transposed_by_their_operations() -> None:
    f = bt.custom_jvp(lambda x: 3.0 * x)
    f.defjvp(lambda primals, tangents: (f(*primals), f(*tangents)))
    equal(bt.grad(f)(1.0), 3.0)
    for g in (f, bt.jit(f)):
        equal(bt.linear_transpose(g, 1.0)(2.0), (6.0,))


def test_unused_results() -> None:
    f = bt.custom_jvp(lambda x, y: (x * x, y * y))
    f.defjvp(lambda p, t: (f(*p), (20.0 * p[0] * t[0], 20.0 * p[1] * t[1])))
    equal(bt.grad(bt.jit(lambda x: f(x, x)[0]))(3.0), 60.0)
    equal(bt.jit(bt.grad(lambda x: f(x, 2.0)[1] * x))(3.0), 4.0)


def test_custom_gradient() -> None:
    @bt.custom_gradient
    def f(x: Any) -> Any:
        s = toy.sin(x)
        return s * x, lambda ct: 10.0 * s * ct

    slope = 10.0 * np.sin(XS)
    np.testing.assert_allclose(bt.vmap(f)(XS), np.sin(XS) * XS)
    for gradient in (
        bt.vmap(bt.grad(f)),
        bt.grad(total(bt.vmap(f))),
        bt.jit(bt.grad(total(bt.vmap(bt.jit(f))))),
    ):
        np.testing.assert_allclose(gradient(XS), slope)
    np.testing.assert_allclose(bt.vmap(bt.grad(bt.grad(f)))(XS), 10.0 * np.cos(XS))

    @bt.custom_gradient
    def g(x: Any, n: Any, y: Any) -> Any:
        return (x * y, n), lambda cts: (cts[0] * y, None, cts[0] * 7.0)

    equal(bt.grad(lambda x, y: g(x, 3, y)[0], argnums=(0, 1))(3.0, 2.0), (2.0, 7.0))


def test_closure_convert() -> None:
    @functools.partial(bt.custom_vjp, nondiff_argnums=(0,))
    def tripled(function: Any, x: Any, *consts: Any) -> Any:
        return 3.0 * function(x, *consts)

    def forward(function: Any, x: Any, *consts: Any) -> Any:
        return tripled(function, x, *consts), (x, consts)

    def backward(function: Any, residuals: Any, ct: Any) -> Any:
        x, consts = residuals
        _, pull = bt.vjp(function, x, *consts)
        return tuple(pull(3.0 * ct))

    tripled.defvjp(forward, backward)

    def loss(c: Any, d: Any) -> Any:
        function, consts = bt.closure_convert(lambda x: x * c * 2.0, 1.0)
        return tripled(function, d, *consts)

    equal(bt.grad(loss, argnums=(0, 1))(5.0, 7.0), (42.0, 30.0))
    equal(bt.jit(bt.grad(loss, argnums=(0, 1)))(5.0, 7.0), (42.0, 30.0))
    equal(bt.closure_convert(lambda x: x * 2.0, 1.0)[1], [])


@pytest.mark.parametrize("transform", [bt.jit, bt.make_jaxpr])
def test_rules_die_with_what_was_traced(transform: Any) -> None:
    def trace_one() -> weakref.ref[Any]:
        f = bt.custom_jvp(lambda x: x * 2.0)

        def rule(primals: Any, tangents: Any) -> Any:
            return f(*primals), tangents[0] * 3.0

        f.defjvp(rule)
        transform(lambda x: bt.vmap(f)(x))(XS)
        return weakref.ref(rule)

    remaining = [trace_one() for _ in range(50)]
    gc.collect()
    # Executables may die a little later than their programs.
    assert sum(rule() is not None for rule in remaining) < 25


def test_partials_with_keywords() -> None:
    scaled = functools.partial(lambda x, factor: toy.mul(x, factor), factor=2.0)
    forward = bt.custom_jvp(scaled)
    forward.defjvp(lambda primals, tangents: (forward(*primals), toy.mul(7.0, *tangents)))
    backward = bt.custom_vjp(scaled)
    backward.defvjp(lambda x: (scaled(x), None), lambda _, ct: (toy.mul(7.0, ct),))
    for function in (forward, backward):
        assert float(function(3.0)) == 6
        assert float(bt.grad(function)(3.0)) == 7
    with pytest.raises(TypeError, match="arguments that have no position: factor"):
        forward(3.0, factor=3.0)


def test_rules_get_arrays_for_numpy_arrays_without_axes():
    """The sum of two of those is a NumPy scalar, whose type is weak."""
    seen = []

    @bt.custom_jvp
    def f(x, y):
        return x * y

    @f.defjvp
    def rule(primals, tangents):
        (x, y), (t, s) = primals, tangents
        seen.append(x)
        return f(x, y), t * y + s * x

    bt.grad(f, (0, 1))(np.array(1.0), np.array(2.0))
    assert [type(x) for x in seen] == [bx.Array]


def test_functions_of_constants_are_computed_while_something_is_traced() -> None:
    square = bt.custom_jvp(lambda x: x * x)
    square.defjvp(lambda primals, tangents: bt.jvp(lambda x: x * x, primals, tangents))
    found = []

    def traced(x: Any) -> Any:
        with bt.ensure_compile_time_eval():
            found.append(square(3.0))
        return x

    bt.make_jaxpr(traced)(1.0)
    assert float(found[0]) == 9.0
