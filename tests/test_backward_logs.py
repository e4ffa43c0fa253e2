"""Logs of backward rules, and the accumulators to which they add cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import custom_gradient, custom_vjp, lax

XS = np.arange(1.0, 4.0, dtype=np.float32)


def logged_sin() -> Any:
    """A product with a sine that logs the cotangent of its result, and one of its arguments."""
    function = custom_vjp(lambda x, y: jnp.sin(x) * y)

    def forward(x: Any, y: Any) -> Any:
        return jnp.sin(x) * y, (x, y)

    def backward(residuals: Any, ct: Any) -> Any:
        x, y = residuals
        return (jnp.cos(x) * ct * y, jnp.sin(x) * ct), {"sin": {"ct": ct, "y": y}}

    function.defvjp_with_logs(forward, backward)
    return function


def loop(function: Any) -> Any:
    return lambda x, y: lax.scan(lambda c, _: (function(c, y), None), x, None, length=1)[0]


def remat_sin() -> Any:
    """The same, of which ``checkpoint`` computes residuals again."""
    function = custom_vjp(lambda x, y: jnp.sin(x) * y)
    function.defremat_with_logs(
        lambda x, y: (jnp.sin(x) * y, None),
        lambda _, x, y: (jnp.sin(x) * y, (x, y)),
        lambda residuals, ct: (
            (jnp.cos(residuals[0]) * ct * residuals[1], jnp.sin(residuals[0]) * ct),
            {"sin": {"ct": ct, "y": residuals[1]}},
        ),
    )
    return function


WRAPPED = {
    "alone": lambda f: f,
    "jit": bindax.jit,
    "jit twice": lambda f: bindax.jit(lambda x, y: bindax.jit(f)(x, y)),
    "checkpoint": bindax.checkpoint,
    "checkpoint of jit": lambda f: bindax.checkpoint(bindax.jit(f)),
    "defremat": lambda _: remat_sin(),
    "checkpoint of defremat": lambda _: bindax.checkpoint(remat_sin()),
    "scan": loop,
    "checkpoint of scan": lambda f: bindax.checkpoint(loop(f)),
    "custom_gradient": lambda f: custom_gradient(
        lambda x, y: (f(x, y), lambda ct: bindax.vjp(f, x, y)[1].with_logs(ct)), with_logs=True
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_logs_come_out_beside_the_cotangents(name: str, is_compiled: bool) -> None:
    def derivative(x: Any, y: Any, ct: Any) -> Any:
        return bindax.vjp(WRAPPED[name](logged_sin()), x, y)[1].with_logs(ct)

    run = bindax.jit(derivative) if is_compiled else derivative
    (x_ct, y_ct), logs = run(1.0, 2.0, 0.5)
    np.testing.assert_allclose((x_ct, y_ct), (np.cos(1.0), np.sin(1.0) / 2), rtol=1e-5)
    leaves = {key: np.ravel(value).tolist() for key, value in logs["sin"].items()}
    assert leaves == {"ct": [0.5], "y": [2.0]}


@pytest.mark.parametrize("name", WRAPPED)
def test_who_does_not_ask_gets_none(name: str) -> None:
    function = WRAPPED[name](logged_sin())
    pullback = bindax.vjp(function, 1.0, 2.0)[1]
    wanted = np.float32(2 * np.cos(1.0))
    for found in (pullback(1.0)[0], bindax.grad(function)(1.0, 2.0), pullback.with_logs(1.0)[0][0]):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_steps_and_elements_have_an_axis_in_front() -> None:
    def total(xs: Any) -> Any:
        return lax.scan(lambda c, x: (2 * c + logged_sin()(x, x), None), 0.0, xs)[0]

    for function in (total, bindax.jit(total), bindax.checkpoint(total)):
        logs = bindax.vjp(function, XS)[1].with_logs(1.0)[1]["sin"]
        np.testing.assert_array_equal(logs["y"], XS)
        np.testing.assert_array_equal(logs["ct"], [4, 2, 1])
    mapped = bindax.vmap(logged_sin(), in_axes=(0, None))
    for function in (mapped, bindax.jit(mapped), bindax.checkpoint(mapped)):
        logs = bindax.vjp(lambda x, f=function: f(x, 2.0), XS)[1].with_logs(XS)[1]["sin"]
        np.testing.assert_array_equal(logs["ct"], XS)
        np.testing.assert_array_equal(logs["y"], [2, 2, 2])
    each = bindax.vmap(lambda x, ct: bindax.vjp(logged_sin(), x, x)[1].with_logs(ct)[1])(XS, XS)
    np.testing.assert_array_equal(each["sin"]["ct"], XS)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_branches_log_beside_each_other(is_compiled: bool) -> None:
    twice = custom_vjp(lambda x, y: 2.0 * x)
    twice.defvjp_with_logs(
        lambda x, y: (2.0 * x, None), lambda _, ct: ((2.0 * ct, 0.0 * ct), {"sin": ct, "twice": 1})
    )

    def chosen(which: Any, x: Any) -> Any:
        return lax.switch(which, [logged_sin(), jnp.add, twice], x, x)

    def derivative(which: Any, x: Any, ct: Any) -> Any:
        return bindax.vjp(lambda x: chosen(which, x), x)[1].with_logs(ct)

    run = bindax.jit(derivative) if is_compiled else derivative
    for which, sin, twos in ((0, 3.0, 0.0), (1, 0.0, 0.0), (2, 0.0, 3.0)):
        _, logs = run(which, 1.0, 3.0)
        index, (first, second, third) = logs["sin"]
        assert int(index) == int(logs["twice"].index) == which
        assert (float(first["ct"]), second, float(third)) == (sin, None, twos)
        assert logs["twice"].branches[:2] == [None, None]
        assert int(logs["twice"].branches[2]) == (which == 2)
    steps = bindax.vjp(
        lambda x: lax.scan(lambda c, i: (chosen(i, c), None), x, XS.astype(int))[0], 1.0
    )
    np.testing.assert_array_equal(steps[1].with_logs(1.0)[1]["sin"].index, [1, 2, 2])


def test_logs_of_devices_are_joined() -> None:
    P = bindax.sharding.PartitionSpec
    mesh = bindax.make_mesh((1,), ("x",))
    scalar = custom_vjp(lambda x: x)
    scalar.defvjp_with_logs(lambda x: (x, None), lambda _, ct: ((0.0 * ct,), {"scalar": ct}))
    for check_vma in (True, False):
        mapped = bindax.shard_map(
            lambda x, y: logged_sin()(x, y) + scalar(y[0]),
            mesh=mesh,
            in_specs=(P("x"), P()),
            out_specs=P("x"),
            check_vma=check_vma,
        )
        pullback = bindax.vjp(mapped, XS, XS)[1]
        pullback(XS)  # what it remembers is not taken for what is asked for
        (x_ct, _), logs = pullback.with_logs(XS)
        np.testing.assert_allclose(x_ct, np.cos(XS) * XS * XS, rtol=1e-6)
        np.testing.assert_array_equal(logs["sin"]["ct"], XS)
        np.testing.assert_array_equal(logs["scalar"], [6.0])


def test_a_derivative_inside_of_a_rule_logs_for_itself() -> None:
    inner, outer = logged_sin(), custom_vjp(lambda x: x)
    outer.defvjp_with_logs(
        lambda x: (x, x), lambda x, ct: ((ct * bindax.grad(inner)(x, 2.0),), {"outer": ct})
    )
    for function in (outer, bindax.jit(outer)):
        logs = bindax.vjp(function, 1.0)[1].with_logs(3.0)[1]
        assert {key: float(value) for key, value in logs.items()} == {"outer": 3.0}


def test_a_rule_may_log_nothing() -> None:
    function = custom_vjp(lambda n, x: n * x, nondiff_argnums=0)
    function.defvjp_with_logs(
        lambda n, x: (n * x, None), lambda n, _, ct: ((n * ct,), {"n": ct} if n > 1 else None)
    )
    for n, wanted in ((1.0, {}), (2.0, {"n": 5.0})):
        (ct,), logs = bindax.vjp(lambda x, n=n: function(n, x), 3.0)[1].with_logs(5.0)
        assert (float(ct), logs) == (5.0 * n, wanted)


def test_logs_that_cannot_be() -> None:
    def doubled(x: Any) -> Any:
        return logged_sin()(logged_sin()(x, x), x)

    twice = bindax.vjp(doubled, 1.0)[1]
    assert len(twice(1.0)) == 1
    with pytest.raises(ValueError, match="backward rules log 'sin' twice in one derivative"):
        twice.with_logs(1.0)
    branches = bindax.vjp(lambda x: lax.cond(x > 0, logged_sin(), lambda x, y: y, x, x), 1.0)[1]
    assert len(branches(1.0)) == 1
    inside = bindax.vjp(bindax.jit(lambda x: lax.cond(x > 0, logged_sin(), jnp.add, x, x)), 1.0)[1]
    assert len(inside(1.0)) == 1
    with pytest.raises(ValueError, match="backward rules log 'sin' twice in one derivative"):
        bindax.vjp(lambda x: lax.cond(x > 0, doubled, jnp.cos, x), 1.0)[1].with_logs(1.0)
    for returned, message in (
        ((1.0,), r"the bwd rule <lambda> .* must return a pair \(cotangents, logs\)"),
        (((1.0,), [1.0]), "must return its logs as None or a dict, by names, but they .* list"),
    ):
        wrong = custom_vjp(lambda x: x)
        wrong.defvjp_with_logs(lambda x: (x, None), lambda _, ct, r=returned: r)
        with pytest.raises(TypeError, match=message):
            bindax.grad(wrong)(1.0)


@pytest.mark.parametrize("wrapper", [lambda f: f, bindax.jit, bindax.checkpoint])
def test_rules_that_add_to_accumulators(wrapper: Any) -> None:
    function = custom_vjp(lambda n, x, y: n * x["a"] * y)

    def backward(residuals: Any, ct: Any, n: Any, x: Any, y: Any) -> Any:
        number, _, b = residuals
        x["a"].accum(ct * b)
        x["a"].accum(ct * b * (number - 1))
        y.accum(None)
        return {"ct": ct}

    function.defvjp_with_accums(
        lambda n, x, y: (n * x["a"] * y, (jnp.float32(n), x["a"], y)), backward
    )
    wrapped = wrapper(function)
    for run in (lambda f, *args: f(*args), lambda f, *args: bindax.jit(f)(*args)):
        x_ct, y_ct = run(bindax.grad(wrapped, (1, 2)), 3, {"a": 2.0}, 5.0)
        assert (float(x_ct["a"]), float(y_ct)) == (15.0, 0.0)
    cts, logs = bindax.vjp(lambda x: wrapped(3, x, 5.0), {"a": 2.0})[1].with_logs(2.0)
    assert (float(cts[0]["a"]), float(logs["ct"])) == (30.0, 2.0)
    mapped = bindax.vmap(lambda a: bindax.grad(wrapped, 2)(3, {"a": a}, 5.0))
    np.testing.assert_array_equal(mapped(XS), np.zeros(3))
