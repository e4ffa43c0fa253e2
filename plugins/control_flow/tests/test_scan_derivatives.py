"""Transformations of ``scan`` in any order, against JAX and against the definition."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import cond, map, scan
from bindax_core.extend import Effect, primitive, rules
from bindax_lax_basic import cos, exp, reduce_sum, sin, stop_gradient, tanh

jax: Any = pytest.importorskip("jax", reason="JAX is the reference of differential tests")
jnp: Any = pytest.importorskip("jax.numpy", reason="JAX is the reference of differential tests")

Function = Callable[..., Any]
W, H, XS = np.float64(0.7), np.float64(0.3), np.linspace(0.1, 1.0, 4)


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    with bx.config.override(check_jaxprs=True), jax.enable_x64(True):
        yield


@pytest.fixture(params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param):
        yield


class Bindax:
    """The names that the functions below use; of this project."""

    scan = staticmethod(scan)
    cond = staticmethod(cond)
    sin, cos, tanh, exp = sin, cos, tanh, exp
    stop_gradient = staticmethod(stop_gradient)
    grad = staticmethod(bt.grad)
    vmap = staticmethod(bt.vmap)


class Jax:
    """The same names, of JAX."""

    scan = staticmethod(jax.lax.scan)
    cond = staticmethod(jax.lax.cond)
    sin, cos, tanh, exp = jnp.sin, jnp.cos, jnp.tanh, jnp.exp
    stop_gradient = staticmethod(jax.lax.stop_gradient)
    grad = staticmethod(jax.grad)
    vmap = staticmethod(jax.vmap)


def recurrence(lib: Any, w: Any, h: Any, xs: Any) -> Any:
    """A constant, what depends on it alone, a carry, an integer carry, a forwarded slice."""

    def step(carry: Any, x: Any) -> Any:
        h, n, same = carry
        y = lib.tanh(h * lib.sin(w) + x * same)
        return (y, n + 1, same), (y * h, x)

    (h, n, _), (ys, zs) = lib.scan(step, (h, 0, w * w), xs)
    return (ys * ys).sum() + h * n + (zs * ys).sum()


def backward(lib: Any, w: Any, h: Any, xs: Any) -> Any:
    """In reverse; a carry whose tangent comes from another one; a result that is not used."""

    def step(carry: Any, x: Any) -> Any:
        a, b = carry
        return (b * x, lib.sin(a)), (lib.exp(a), w * a)

    (a, b), (_, ys) = lib.scan(step, (h, 1.0), xs, reverse=True, unroll=3)
    return a * b + ys.sum()


def nested(lib: Any, w: Any, h: Any, xs: Any) -> Any:
    """A scan in a cond in a scan, over vmapped and differentiated functions."""

    def inner(c: Any, x: Any) -> Any:
        return c * lib.cos(w * x), c

    def step(c: Any, x: Any) -> Any:
        c = lib.cond(x > 0.5, lambda c: lib.scan(inner, c, xs[:2])[0], lambda c: lib.sin(c) * w, c)
        slopes = lib.vmap(lib.grad(lambda y: lib.sin(y * c)))(xs[1:])
        return c + x * slopes.sum(), slopes

    c, ys = lib.scan(step, h, xs)
    return c + (ys * ys).sum()


def stopped(lib: Any, w: Any, h: Any, xs: Any) -> Any:
    """Derivatives that are zero, of carries and of constants."""

    def step(carry: Any, x: Any) -> Any:
        a, b = carry
        return (lib.stop_gradient(a) * 2.0, b + a * x), lib.stop_gradient(w) * b

    (a, b), ys = lib.scan(step, (h, 0.0), xs)
    return a * b + ys.sum()


FUNCTIONS = [recurrence, backward, nested, stopped]


def in_bindax(fun: Function) -> Function:
    return lambda *args: fun(Bindax, *args)


def in_jax(fun: Function) -> Function:
    return lambda *args: fun(Jax, *args)


JAX_GRADIENTS = {fun: jax.jit(jax.grad(in_jax(fun), (0, 1, 2))) for fun in FUNCTIONS}


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.pairwise
@pytest.mark.usefixtures("backend")
@pytest.mark.every(3)
@pytest.mark.parametrize("fun", FUNCTIONS)
@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_first_derivatives(fun: Function, wrap: Any) -> None:
    ours = in_bindax(fun)
    expected = JAX_GRADIENTS[fun](W, H, XS)
    found = wrap(lambda *args: bt.value_and_grad(ours, (0, 1, 2))(*args))(W, H, XS)
    close(found[0], ours(W, H, XS))
    for a, b in zip(found[1], expected, strict=True):
        close(a, b)
    tangents = (np.float64(0.5), np.float64(-1.0), np.cos(XS))
    slope = sum(np.sum(t * g) for t, g in zip(tangents, expected, strict=True))
    close(wrap(lambda *args: bt.jvp(ours, args, tangents)[1])(W, H, XS), slope)
    close(wrap(lambda *args: bt.linearize(ours, *args)[1](*tangents))(W, H, XS), slope)
    close(bt.grad(bt.jit(ours), 2)(W, H, XS), expected[2])


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("fun", "argument"), [(recurrence, 2), (backward, 2), (stopped, 0), (nested, 0)]
)
def test_second_derivatives(fun: Function, argument: int) -> None:
    ours = in_bindax(fun)
    expected = jax.jit(jax.hessian(in_jax(fun), argument))(W, H, XS)
    with bx.config.override(backend="numpy"):
        close(bt.jit(bt.hessian(ours, argument))(W, H, XS), expected)
        close(bt.jacrev(bt.jacrev(bt.jit(ours), argument), argument)(W, H, XS), expected)
        close(bt.jacfwd(bt.jacfwd(ours, argument), argument)(W, H, XS), expected)
    if fun is not nested:
        close(bt.jit(bt.jacrev(bt.jit(bt.grad(ours, argument)), argument))(W, H, XS), expected)


@pytest.mark.every(3)
@pytest.mark.parametrize("mapped", list(itertools.product([False, True], repeat=3))[1:])
@pytest.mark.parametrize("fun", [recurrence, backward])
def test_batches_of_gradients(fun: Function, mapped: tuple[bool, ...]) -> None:
    ours = in_bindax(fun)
    gradient = bt.grad(ours, (0, 1, 2))
    batches = [
        np.stack([x, 0.5 * x, -x]) if m else x for x, m in zip((W, H, XS), mapped, strict=True)
    ]
    rows = [[b[i] if m else b for b, m in zip(batches, mapped, strict=True)] for i in range(3)]
    expected = [JAX_GRADIENTS[fun](*row) for row in rows]
    axes = tuple(0 if m else None for m in mapped)
    with bx.config.override(backend="numpy"):
        results = [bt.vmap(gradient, axes)(*batches), bt.vmap(bt.jit(gradient), axes)(*batches)]
    results.append(bt.jit(bt.vmap(gradient, axes))(*batches))
    for result in results:
        for i, found in enumerate(result):
            close(found, np.stack([row[i] for row in expected]))


def test_batch_axes_of_operands() -> None:
    def fun(w: Any, xs: Any) -> Any:
        return scan(lambda c, x: (c * w + x, c), np.zeros(2), xs)

    w, xs = np.linspace(0.1, 0.5, 3), np.arange(24.0).reshape(4, 2, 3)
    expected = [fun(w[i], xs[:, :, i]) for i in range(3)]
    for axis in range(3):
        moved = np.moveaxis(xs, 2, axis)
        carry, ys = bt.jit(bt.vmap(fun, (0, axis), (0, 1)))(w, moved)
        close(carry, np.stack([e[0] for e in expected]))
        close(ys, np.stack([e[1] for e in expected], 1))


def test_only_what_is_batched_is_carried_so() -> None:
    def fun(x: Any, y: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            a, b, c = carry
            return (a + 1.0, b * y, c + b), a

        return scan(step, (0.0, x, 0.0), None, length=3)

    jaxpr = bt.make_jaxpr(bt.vmap(fun, (0, None)))(np.ones(5), 2.0)
    (eqn,) = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan"]
    assert [v.aval.shape for v in eqn.outvars] == [(), (5,), (5,), (3,)]
    jaxpr = bt.make_jaxpr(lambda x: bt.jvp(fun, (x, 2.0), (1.0, 0.0))[1])(1.0)
    (eqn,) = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan"]
    assert eqn.params["num_carry"] == 5  # a has no tangent


def test_transposes_of_linear_loops() -> None:
    def fun(x: Any, ys: Any) -> Any:
        def step(carry: Any, y: Any) -> Any:
            i, c = carry
            return (i + 1.0, c * i + y), (c - y, i)

        (_, c), (zs, _) = scan(step, (1.0, x), ys)
        return c, zs

    x, ys = np.ones(2), np.arange(6.0).reshape(3, 2)
    ct = (np.array([1.0, 2.0]), np.sin(ys))
    expected = jax.linear_transpose(
        lambda x, ys: (fun_in_numpy(x, ys)[0], jnp.stack(fun_in_numpy(x, ys)[1])), x, ys
    )(ct)
    for transposed in (bt.linear_transpose(fun, x, ys), bt.jit(bt.linear_transpose(fun, x, ys))):
        for a, b in zip(transposed(ct), expected, strict=True):
            close(a, b)


def fun_in_numpy(x: Any, ys: Any) -> Any:
    c, zs = x, []
    for i in range(3):
        zs.append(c - ys[i])
        c = c * (i + 1.0) + ys[i]
    return c, zs


# ---------------------------------------------------------------------------- random programs


def random_step(lib: Any, choices: list[int], w: Any) -> Function:
    """A step of two carries and two slices whose operations are drawn."""

    def step(carry: Any, xs: Any) -> Any:
        values = [*carry, *xs, w, lib.cos(w)]
        for choice in choices:
            a, b = values[choice % len(values)], values[choice // 7 % len(values)]
            made = [a * b, a + b, lib.sin(a), lib.tanh(b) - a, a * 0.5][choice % 5]
            values.append(made)
        outs = [lib.tanh(v) for v in values[-3:]]
        return (outs[0], outs[1]), (outs[2], values[choices[0] % len(values)])

    return step


@hypothesis.settings(
    max_examples=5 if os.environ.get("BINDAX_NIGHTLY") else 2,
    deadline=None,
    derandomize=True,
    database=None,
)
@hypothesis.given(
    choices=st.lists(st.integers(0, 200), min_size=1, max_size=6),
    reverse=st.booleans(),
    unroll=st.sampled_from([1, 2]),
)
def test_random_steps(choices: list[int], reverse: bool, unroll: int) -> None:
    def fun(lib: Any, w: Any, h: Any, xs: Any) -> Any:
        step = random_step(lib, choices, w)
        (a, b), (ys, zs) = lib.scan(step, (h, w), (xs, xs * xs), reverse=reverse, unroll=unroll)
        return a * b + (ys * ys).sum() + zs.sum()

    tangents = (np.float64(1.0), np.float64(0.5), np.sin(XS))

    def slope(forward: Any, f: Function) -> Function:
        return lambda *args: forward(f, args, tangents)[1]

    ours = in_bindax(fun)
    expected = jax.jit(jax.value_and_grad(slope(jax.jvp, in_jax(fun)), (0, 2)))(W, H, XS)
    with bx.config.override(backend="numpy"):
        found = bt.jit(bt.value_and_grad(slope(bt.jvp, ours), (0, 2)))(W, H, XS)
        gradient = bt.grad(ours, (0, 1, 2))(W, H, XS)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        close(a, b)
    products = [np.sum(t * np.asarray(g)) for t, g in zip(tangents, gradient, strict=True)]
    close(sum(products), expected[0])
    compiled = bt.jit(bt.grad(ours, (0, 1, 2)))(W, H, XS)
    for a, b in zip(compiled, gradient, strict=True):
        close(a, b)


# ------------------------------------------------------------------------ what is kept and when


def scans_of(jaxpr: Any) -> list[Any]:
    return [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan"]


def test_residuals_are_forwarded_or_computed_once() -> None:
    def fun(w: Any, h: Any, xs: Any) -> Any:
        return scan(lambda c, x: (c * sin(w) * x, None), h, xs)[0].sum()

    w, h, xs = np.ones((3, 3)), np.ones((3, 3)), np.ones((7, 3, 3))
    jaxpr = bt.make_jaxpr(bt.grad(fun, (0, 1)))(w, h, xs)
    # sin(w) and cos(w) do not differ from step to step: they are outside, each once.
    assert [e.primitive.name for e in jaxpr.eqns].count("sin") == 1
    assert [e.primitive.name for e in jaxpr.eqns].count("cos") == 1
    forward, reverse = scans_of(jaxpr)
    assert "sin" not in str(forward) + str(reverse)
    assert "cos" not in str(forward) + str(reverse)
    # Stacked is the carry alone: xs is there already.
    assert [v.aval.shape for v in forward.outvars] == [(3, 3), (7, 3, 3)]
    assert reverse.params["reverse"]
    inside = bt.make_jaxpr(bt.grad(bt.jit(fun), (0, 1)))(w, h, xs)
    (known, _) = [e.params["jaxpr"] for e in inside.eqns if e.primitive.name == "jit"]
    assert [v.aval.shape for v in known.jaxpr.outvars].count((7, 3, 3)) == 1


def test_a_stacked_result_is_no_second_residual() -> None:
    def fun(h: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            y = exp(c * x)
            return y, y

        return reduce_sum(scan(step, h, xs)[1])

    forward, _ = scans_of(bt.make_jaxpr(bt.grad(fun))(0.1, XS))
    assert len(forward.outvars) == 2  # the carry; exp(c * x), whose derivative it is


def test_dead_carries_and_sequences_are_dropped() -> None:
    def fun(x: Any, xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            a, b, c = carry
            return (a + b, b * 2.0, sin(c)), (c * x[0], a * x[1])

        (a, _, _), (_, ys) = scan(step, (x, x, x), (xs, xs))
        return a, ys

    pruned, _ = bt.dce_jaxpr(bt.make_jaxpr(fun)(1.0, XS).jaxpr, [True, False])
    (eqn,) = scans_of(pruned)
    assert (eqn.params["num_carry"], len(eqn.invars), len(eqn.outvars)) == (2, 2, 2)
    assert {e.primitive.name for e in eqn.params["jaxpr"].eqns} == {"add", "mul"}
    bx.typecheck_jaxpr(pruned)


NOTES: list[float] = []


def _note(x: Any) -> Any:
    NOTES.append(float(x))
    return x


note_p = primitive(
    "note_in_tests_of_scan",
    rules.impl(_note),
    rules.abstract_eval(lambda x: x),
    rules.jvp(lambda primals, tangents: (note_p.bind(*primals), tangents[0])),
    rules.vmap.absent("for these tests"),
    rules.transpose.absent("for these tests"),
    rules.lowering["stablehlo"].absent("for these tests"),
    rules.effects(lambda: frozenset([Effect("note")])),
)


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_effects_happen_once_in_each_step(wrap: Any) -> None:
    def fun(w: Any, h: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            note_p.bind(sin(w))
            return c * sin(w), None

        return scan(step, h, None, length=3)[0]

    with bx.config.override(backend="numpy"):
        for function in (fun, bt.grad(fun), bt.grad(fun, 1), bt.grad(wrap(fun), 1)):
            NOTES.clear()
            wrap(function)(W, H)
            np.testing.assert_allclose(NOTES, [np.sin(W)] * 3)
    pruned, _ = bt.dce_jaxpr(bt.make_jaxpr(fun)(W, H).jaxpr, [False])
    assert len(scans_of(pruned)) == 1


def gated(lib_scan: Any, tanh: Any, exp: Any) -> Function:
    def loss(w: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            gate = 1.0 / (1.0 + exp(-(w * c)))
            c = tanh(w * c + x) * gate
            return c, c

        ys = lib_scan(step, xs[0], xs)[1]
        return (ys * ys).sum()

    return loss


def temporary_bytes(function: Any, *args: Any) -> int:
    analysis = function.lower(*args).compile().memory_analysis()
    if isinstance(analysis, dict):
        return int(analysis["temp_size_in_bytes"])
    return int(analysis.temp_size_in_bytes)


def test_memory_of_a_gradient_is_linear_and_no_more_than_of_jax() -> None:
    ours = bt.jit(bt.grad(gated(scan, tanh, exp)))
    theirs = jax.jit(jax.grad(gated(jax.lax.scan, jnp.tanh, jnp.exp)))
    w = np.ones(8, np.float32)
    sizes = {}
    for length in (1000, 10_000):
        xs = np.ones((length, 8), np.float32)
        sizes[length] = temporary_bytes(ours, w, xs)
        assert sizes[length] <= temporary_bytes(theirs, w, xs) + 1024
    assert 9.5 < sizes[10_000] / sizes[1000] < 10.5


def test_gradient_over_many_steps() -> None:
    xs = np.full(10_000, 1e-4)
    gradient = bt.jit(bt.grad(lambda w: scan(lambda c, x: (c + w * c * x, None), 1.0, xs)[0]))
    np.testing.assert_allclose(gradient(1.0), (1.0 + 1e-4) ** 9_999, rtol=1e-9)


def test_map_of_gradients() -> None:
    close(map(bt.grad(lambda x: sin(x) * x), XS), np.sin(XS) + XS * np.cos(XS))
    close(bt.grad(lambda w: map(lambda x: sin(w * x), XS).sum())(W), (XS * np.cos(W * XS)).sum())
