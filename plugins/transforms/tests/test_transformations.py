"""The transformations on the toy operations: values, compositions, symbolic zeros, trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toy

import bindax_core as bx
import bindax_transforms as bt
from bindax_core.extend import Primitive, Zero

pytestmark = [pytest.mark.usefixtures("toy_operations"), pytest.mark.smoke]


def f(x: Any) -> Any:
    y = toy.sin(x) * 2.0
    return -y + x


def f_dot(x: float) -> float:
    return 1.0 - 2.0 * float(np.cos(x))


def f_dot_dot(x: float) -> float:
    return 2.0 * float(np.sin(x))


def derivative(fun: Any) -> Any:
    return lambda x: bt.jvp(fun, (x,), (1.0,))[1]


def test_evaluation() -> None:
    assert float(f(3.0)) == pytest.approx(3.0 - 2.0 * np.sin(3.0))
    assert f(3.0).weak_type
    assert f(np.float32(3.0)).dtype == np.float32


def test_jvp_nested_four_deep() -> None:
    fun = toy.sin
    for expected in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin):
        fun = derivative(fun)
        assert float(fun(3.0)) == pytest.approx(float(expected(3.0)))


def test_jvp_follows_python_control_flow() -> None:
    def g(x: Any) -> Any:
        return 2.0 * x if x > 0.0 else x

    assert float(derivative(g)(3.0)) == 2.0
    assert float(derivative(g)(-3.0)) == 1.0


def test_jvp_of_trees() -> None:
    def g(x: Any) -> Any:
        return {"hi": f(x["a"]), "there": [x["a"], x["b"]]}

    primals, tangents = bt.jvp(g, ({"a": 3.0, "b": 1.0},), ({"a": 1.0, "b": 0.5},))
    assert float(primals["hi"]) == pytest.approx(float(f(3.0)))
    assert float(tangents["hi"]) == pytest.approx(f_dot(3.0))
    assert [float(t) for t in tangents["there"]] == [1.0, 0.5]


def test_jvp_has_aux() -> None:
    primal, tangent, aux = bt.jvp(lambda x: (f(x), toy.sin(x)), (3.0,), (1.0,), has_aux=True)
    assert float(tangent) == pytest.approx(f_dot(3.0))
    assert float(aux) == pytest.approx(np.sin(3.0))
    assert isinstance(aux, bx.Array)
    del primal


def test_integers_have_float0_tangents() -> None:
    zero = np.zeros((), bx.float0)
    primal, tangent = bt.jvp(lambda n, x: (n, x), (3, 2.0), (zero, 1.0))
    assert primal[0] == 3
    assert tangent[0].dtype == bx.float0
    _, pullback = bt.vjp(lambda n, x: x * 2.0, 3, 2.0)
    n_bar, x_bar = pullback(1.0)
    assert n_bar.dtype == bx.float0
    assert float(x_bar) == 2.0


def test_symbolic_zeros_cost_nothing() -> None:
    def g(x: Any, y: Any) -> Any:
        for _ in range(5):
            y = toy.sin(y)
        return toy.add(x, y)

    jaxpr = bt.make_jaxpr(lambda x, y, t: bt.jvp(lambda x: g(x, y), (x,), (t,))[1])(1.0, 1.0, 1.0)
    assert not [eqn for eqn in jaxpr.eqns if eqn.primitive.name in ("toy.cos", "toy.mul")]
    assert jaxpr.jaxpr.outvars[0] is jaxpr.jaxpr.invars[2]


@pytest.mark.parametrize("in_axes", [0, 1, -1, (0,), (-2,)])
def test_vmap_moves_any_axis(in_axes: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    axis = in_axes[0] if isinstance(in_axes, tuple) else in_axes
    out = bt.vmap(f, in_axes=in_axes)(x)
    np.testing.assert_allclose(out, np.moveaxis(np.asarray(f(x)), axis, 0))


@pytest.mark.parametrize("out_axes", [0, 1, -1])
def test_vmap_out_axes(out_axes: int) -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(
        bt.vmap(f, out_axes=out_axes)(x), np.moveaxis(np.asarray(f(x)), 0, out_axes)
    )


def test_vmap_prefixes_and_constants() -> None:
    tree = {"a": np.arange(3.0), "b": 2.0}
    out = bt.vmap(lambda t: t["a"] * t["b"], in_axes=({"a": 0, "b": None},))(tree)
    np.testing.assert_allclose(out, [0.0, 2.0, 4.0])
    constant = bt.vmap(lambda x: 1.0, axis_size=3, in_axes=None)(2.0)
    np.testing.assert_allclose(constant, [1.0, 1.0, 1.0])
    x = np.arange(2.0)
    same, unmapped = bt.vmap(lambda x: (x, 1.0), out_axes=(0, None))(x)
    assert isinstance(same, bx.Array)
    x[:] = 7.0
    np.testing.assert_array_equal(same, [0.0, 1.0])
    assert float(unmapped) == 1.0


def test_vmap_keyword_arguments_are_mapped() -> None:
    out = bt.vmap(lambda x, y: x * y)(np.arange(3.0), y=np.arange(3.0))
    np.testing.assert_allclose(out, [0.0, 1.0, 4.0])


def test_vmap_nested_and_empty() -> None:
    x = np.arange(6.0).reshape(2, 3)
    out = bt.vmap(bt.vmap(lambda a, b: a * b, in_axes=(0, None)), in_axes=(None, 0))(x[0], x[1])
    np.testing.assert_allclose(out, np.outer(x[1], x[0]))
    assert bt.vmap(f)(np.zeros((0, 3))).shape == (0, 3)


def test_vmap_without_rule_runs_a_loop_with_a_notice() -> None:
    from bindax_core.extend import abstract_eval, impl, jvp, primitive, transpose, vmap

    triple_p = primitive(
        "toy.triple",
        impl(lambda x: 3.0 * x),
        abstract_eval(lambda x: x),
        jvp.absent("a test"),
        vmap.absent("a test"),
        transpose.absent("a test"),
        toy.interpreted,
    )
    with pytest.warns(
        bx.errors.DerivedRuleNotice, match="toy.triple has no vmap rule, so vmap runs it"
    ):
        out = bt.vmap(triple_p.bind, in_axes=1)(np.arange(6.0).reshape(2, 3))
    np.testing.assert_allclose(out, 3.0 * np.arange(6.0).reshape(2, 3).T)
    assert bt.vmap(triple_p.bind)(np.zeros((0, 2))).shape == (0, 2)
    with (
        bx.config.override(derived_rules="error"),
        pytest.raises(bx.errors.MissingRuleError, match="add vmap"),
    ):
        bt.vmap(triple_p.bind)(np.arange(2.0))


def test_linearize_does_not_run_the_function_again() -> None:
    calls = []

    def g(x: Any) -> Any:
        calls.append(x)
        return f(x)

    y, g_lin = bt.linearize(g, 3.0)
    assert float(y) == pytest.approx(float(f(3.0)))
    assert float(g_lin(1.0)) == pytest.approx(f_dot(3.0))
    assert float(g_lin(2.0)) == pytest.approx(2.0 * f_dot(3.0))
    assert len(calls) == 1


def test_linearize_keeps_a_copy_of_the_callers_array() -> None:
    x = np.array([1.0, 2.0])
    _, g_lin = bt.linearize(toy.sin, x)
    _, pullback = bt.vjp(lambda x: toy.mul(x, x), x)
    x[:] = 100.0
    np.testing.assert_allclose(g_lin(np.ones(2)), np.cos([1.0, 2.0]))
    np.testing.assert_allclose(pullback(np.ones(2))[0], [2.0, 4.0])


def test_vjp_and_grad() -> None:
    y, pullback = bt.vjp(lambda x, y: toy.sin(x) * y, 3.0, 2.0)
    x_bar, y_bar = pullback(1.0)
    assert float(y) == pytest.approx(2.0 * np.sin(3.0))
    assert float(x_bar) == pytest.approx(2.0 * np.cos(3.0))
    assert float(y_bar) == pytest.approx(np.sin(3.0))
    assert float(bt.grad(f)(3.0)) == pytest.approx(f_dot(3.0))
    assert float(bt.grad(bt.grad(f))(3.0)) == pytest.approx(f_dot_dot(3.0))


def test_grad_of_trees_argnums_and_aux() -> None:
    def loss(params: Any, x: Any) -> Any:
        return params["w"] * x + params["b"], params["w"]

    (value, aux), gradient = bt.value_and_grad(loss, has_aux=True)({"w": 2.0, "b": 1.0}, 3.0)
    assert float(value) == 7.0
    assert float(aux) == 2.0
    assert {k: float(v) for k, v in gradient.items()} == {"w": 3.0, "b": 1.0}
    both = bt.grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    assert [float(g) for g in both] == [3.0, 2.0]
    assert float(bt.grad(lambda x, y: x * y, argnums=-1)(2.0, 3.0)) == 2.0
    assert float(bt.grad(lambda x, *, y: x * y)(2.0, y=3.0)) == 3.0


def test_grad_through_python_control_flow() -> None:
    def g(x: Any) -> Any:
        return toy.sin(x) if x > 0.0 else x * 3.0

    assert float(bt.grad(g)(1.0)) == pytest.approx(np.cos(1.0))
    assert float(bt.grad(g)(-1.0)) == 3.0


def test_gradient_of_unused_argument_is_zero() -> None:
    assert float(bt.grad(lambda x, y: y, argnums=0)(2.0, 3.0)) == 0.0
    np.testing.assert_array_equal(
        bt.grad(lambda x: 2.0 * toy.sin(1.0))(np.zeros(3, np.float32)), np.zeros(3)
    )


def test_linear_transpose() -> None:
    transposed = bt.linear_transpose(lambda x: toy.reduce_sum(x), np.zeros(3))
    np.testing.assert_array_equal(transposed(2.0)[0], [2.0, 2.0, 2.0])


COMPOSITIONS = {
    "grad": bt.grad(f),
    "grad(jit)": bt.grad(bt.jit(f)),
    "jit(grad)": bt.jit(bt.grad(f)),
    "jit(grad(jit))": bt.jit(bt.grad(bt.jit(f))),
    "jvp": lambda x: bt.jvp(f, (x,), (np.ones(()),))[1],
    "jvp(jit)": lambda x: bt.jvp(bt.jit(f), (x,), (np.ones(()),))[1],
    "jit(jvp(jit))": bt.jit(lambda x: bt.jvp(bt.jit(f), (x,), (np.ones(()),))[1]),
    "linearize(jit)": lambda x: bt.linearize(bt.jit(f), x)[1](np.ones(())),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions_agree(name: str) -> None:
    fun, x = COMPOSITIONS[name], np.float64(3.0)
    assert float(fun(x)) == pytest.approx(f_dot(3.0))
    for second in (bt.grad(fun), bt.grad(bt.jit(fun)), bt.jit(bt.grad(fun))):
        assert float(second(x)) == pytest.approx(f_dot_dot(3.0))
    batch = np.arange(4.0)
    for batched in (bt.vmap(fun), bt.jit(bt.vmap(fun)), bt.vmap(bt.jit(fun))):
        np.testing.assert_allclose(batched(batch), [f_dot(v) for v in batch])
    np.testing.assert_allclose(bt.vmap(bt.grad(fun))(batch), [f_dot_dot(v) for v in batch])


def test_nested_calls_stress() -> None:
    def g(x: Any) -> Any:
        @bt.jit
        def bar(y: Any) -> Any:
            def baz(w: Any) -> Any:
                q = bt.jit(lambda x: y)(x)
                q = q + bt.jit(lambda: y)()
                q = q + bt.jit(lambda y: w + y)(y)
                return bt.jit(lambda w: bt.jit(toy.sin)(x) * y)(1.0) + q

            p, t = bt.jvp(baz, (x + 1.0,), (y,))
            return t + (x * p)

        return bar(x)

    one, x = np.ones(()), np.float64(3.0)
    values = [g(x), bt.jit(g)(x), bt.jvp(g, (x,), (one,))[0], bt.jvp(bt.jit(g), (x,), (one,))[0]]
    np.testing.assert_allclose(values, [float(values[0])] * 4)
    first = [bt.grad(g)(x), bt.grad(bt.jit(g))(x), bt.jit(bt.grad(bt.jit(g)))(x)]
    first += [bt.jvp(g, (x,), (one,))[1], bt.jvp(bt.jit(g), (x,), (one,))[1]]
    np.testing.assert_allclose(first, [float(first[0])] * 5)
    second = [bt.grad(bt.grad(g))(x), bt.grad(bt.grad(bt.jit(g)))(x)]
    second += [bt.grad(bt.jit(bt.grad(g)))(x), bt.jit(bt.grad(bt.grad(g)))(x)]
    second += [bt.jvp(bt.grad(g), (x,), (one,))[1], bt.jvp(bt.jit(bt.grad(g)), (x,), (one,))[1]]
    np.testing.assert_allclose(second, [float(second[0])] * 6)


def test_jacobians_by_hand() -> None:
    def g(x: Any) -> Any:
        return toy.sin(x)

    pushforward = lambda v: bt.jvp(g, (np.arange(3.0),), (v,))[1]  # noqa: E731
    np.testing.assert_allclose(bt.vmap(pushforward)(np.eye(3)), np.diag(np.cos(np.arange(3.0))))


def test_a_composition_gets_every_rule() -> None:
    from bindax_core.extend import primitive

    def body(x: Any, y: Any, *, scale: float) -> Any:
        return toy.sin(x) * toy.mul(y, y) * scale

    fused_p = primitive("toy.fused", *bt.composition(body))
    fused = lambda x, y: fused_p.bind(x, y, scale=2.0)  # noqa: E731
    plain = lambda x, y: body(x, y, scale=2.0)  # noqa: E731
    x, y = np.float64(0.7), np.float64(1.3)
    assert [eqn.primitive for eqn in bt.make_jaxpr(fused)(x, y).eqns] == [fused_p]
    for make in (
        lambda f: f,
        bt.jit,
        bt.grad,
        lambda f: bt.grad(bt.jit(f), argnums=1),
        lambda f: bt.jit(bt.grad(bt.grad(f), argnums=1)),
        lambda f: lambda x, y: bt.jvp(f, (x, y), (y, x))[1],
    ):
        np.testing.assert_allclose(make(fused)(x, y), make(plain)(x, y), rtol=1e-12)
    batch = np.arange(3.0)
    np.testing.assert_allclose(
        bt.vmap(fused, in_axes=(0, None))(batch, y), [float(plain(v, y)) for v in batch]
    )
    pair_p = primitive(
        "toy.pair",
        *bt.composition(lambda x: [toy.neg(x), toy.sin(x)], multiple_results=True),
        multiple_results=True,
    )
    assert [float(v) for v in pair_p.bind(2.0)] == [-2.0, float(np.sin(2.0))]
    assert float(bt.grad(lambda x: pair_p.bind(x)[1])(0.0)) == 1.0
    linear_p = primitive("toy.linear", *bt.composition(lambda x: toy.neg(x) * 3.0))
    assert float(bt.linear_transpose(linear_p.bind, 1.0)(2.0)[0]) == -6.0


def test_a_third_party_transformation_uses_the_public_interface() -> None:
    """A transformation that counts operations: a trace, a tracer and nothing private."""
    from bindax_core.extend import Trace, Tracer, full_raise, new_main, typeof

    class CountTracer(Tracer):
        __slots__ = ("value",)

        def __init__(self, trace: Any, value: Any) -> None:
            self._trace = trace
            self.value = value

        @property
        def aval(self) -> Any:
            return typeof(self.value)

    class CountTrace(Trace):
        __slots__ = ()

        def pure(self, value: Any) -> CountTracer:
            return CountTracer(self, value)

        def process_primitive(self, primitive: Primitive, tracers: Any, params: Any) -> Any:
            self.main.global_data.append(primitive.name)
            out = primitive.bind(*[t.value for t in tracers], **params)
            outs = out if primitive.multiple_results else [out]
            return [CountTracer(self, x) for x in outs]

    def count(fun: Any, x: Any) -> tuple[Any, list[str]]:
        names: list[str] = []
        with new_main(CountTrace, names) as main:
            out = full_raise(main.trace, fun(CountTracer(main.trace, x)))
        return out.value, names

    value, names = count(f, 3.0)
    assert float(value) == pytest.approx(float(f(3.0)))
    assert names == ["toy.sin", "toy.mul", "toy.neg", "toy.add"]
    _, names = count(bt.grad(f), 3.0)
    assert names.count("toy.cos") == 1
    assert repr(Zero.like(np.zeros(2))) == "Zero(float64[2])"


def test_a_cotangent_that_passes_through_is_not_the_callers_array() -> None:
    given = np.ones(2)
    (found,) = bt.vjp(lambda x: x, np.zeros(2))[1](given)
    given[:] = 5.0
    assert isinstance(found, bx.Array)
    np.testing.assert_array_equal(found, np.ones(2))
