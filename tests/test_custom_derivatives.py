"""Functions with rules of their own beside JAX: the same program, the same numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import custom_batching, lax
from bindax import numpy as bnp

scipy: Any = pytest.importorskip("scipy", reason="SciPy is a reference of these tests")
pytest.importorskip("scipy.special", reason="SciPy is a reference of these tests")
jax: Any = pytest.importorskip("jax", reason="JAX is the reference of differential tests")
jnp: Any = pytest.importorskip("jax.numpy", reason="JAX is the reference of differential tests")

Module = Any
XS = np.linspace(-1.0, 2.0, 4)
LARGE = np.array([-800.0, -1.0, 0.0, 3.0, 800.0])


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """JAX computes in double precision, as the NumPy arrays of these tests do in bindax."""
    with jax.enable_x64(True):
        yield


def same(got: Any, expected: Any) -> None:
    ours, theirs = bindax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(expected)
    for x, y in zip(ours, theirs, strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def log1pexp(module: Module, xp: Module) -> Callable[..., Any]:
    """``log(1 + exp(x))``, with a derivative that does not overflow."""

    @module.custom_jvp
    def f(x: Any) -> Any:
        return xp.log1p(xp.exp(-abs(x))) + xp.maximum(x, 0.0)

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return f(x), t * 0.5 * (1.0 + xp.tanh(0.5 * x))

    return f


def log_sum_exp(module: Module, xp: Module) -> Callable[..., Any]:
    @functools.partial(module.custom_jvp, nondiff_argnums=(1,))
    def f(x: Any, axis: int) -> Any:
        top = xp.max(x, axis=axis, keepdims=True)
        return xp.log(xp.sum(xp.exp(x - top), axis=axis)) + xp.squeeze(top, axis)

    @f.defjvp
    def f_jvp(axis: int, primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        out = f(x, axis)
        return out, xp.sum(xp.exp(x - xp.expand_dims(out, axis)) * t, axis=axis)

    return f


def clip_gradient(module: Module, xp: Module) -> Callable[..., Any]:
    @module.custom_vjp
    def f(low: Any, high: Any, x: Any) -> Any:
        return x

    def f_fwd(low: Any, high: Any, x: Any) -> Any:
        return x, (low, high)

    def f_bwd(residuals: Any, ct: Any) -> Any:
        return None, None, xp.clip(ct, *residuals)

    f.defvjp(f_fwd, f_bwd)
    return f


def weighted(module: Module, xp: Module) -> Callable[..., Any]:
    """Rules that are no derivative at all, so that numbers show which was used."""

    @module.custom_vjp
    def f(w: Any, x: Any) -> Any:
        return xp.sin(w["a"] * x) + w["b"]

    def f_fwd(w: Any, x: Any) -> Any:
        return f(w, x), (w, xp.cos(x))

    def f_bwd(residuals: Any, ct: Any) -> Any:
        w, c = residuals
        return {"a": 3.0 * c * ct, "b": None}, 5.0 * w["b"] * c * ct

    f.defvjp(f_fwd, f_bwd)
    return f


def transformed(module: Module, xp: Module, f: Callable[..., Any]) -> dict[str, Any]:
    """A function of a scalar, transformed in several orders."""
    second = module.grad(module.grad(f))
    return {
        "vmap grad": module.vmap(module.grad(f)),
        "grad vmap": module.grad(lambda x: xp.sum(module.vmap(f)(x))),
        "jit vmap grad jit": module.jit(module.vmap(module.grad(module.jit(f)))),
        "grad jit vmap": module.grad(lambda x: xp.sum(module.jit(module.vmap(f))(x))),
        "jit vmap grad grad": module.jit(module.vmap(second)),
        "jacrev vmap": module.jacrev(module.vmap(f)),
    }


@pytest.mark.parametrize("name", ["vmap grad", "grad vmap", "jit vmap grad jit", "grad jit vmap"])
def test_classics_beside_jax(name: str) -> None:
    ours, theirs = log1pexp(bindax, bnp), log1pexp(jax, jnp)
    same(transformed(bindax, bnp, ours)[name](LARGE), transformed(jax, jnp, theirs)[name](LARGE))

    def clipped(module: Module, xp: Module) -> Any:
        f = clip_gradient(module, xp)
        return transformed(module, xp, lambda x: f(-0.75, 0.75, x) ** 2)[name]

    same(clipped(bindax, bnp)(XS), clipped(jax, jnp)(XS))


@pytest.mark.parametrize("name", ["jit vmap grad grad", "jacrev vmap", "grad jit vmap"])
def test_rules_with_trees_beside_jax(name: str) -> None:
    def made(module: Module, xp: Module) -> Any:
        f = weighted(module, xp)
        return transformed(module, xp, lambda x: f({"a": 2.0, "b": x}, x * x))[name]

    same(made(bindax, bnp)(XS), made(jax, jnp)(XS))


def test_derivatives_stay_finite_where_plain_ones_do_not() -> None:
    plain = bindax.grad(lambda x: bnp.log(1.0 + bnp.exp(x)))
    assert not np.isfinite(bindax.jit(plain)(800.0))
    same(bindax.vmap(bindax.grad(log1pexp(bindax, bnp)))(LARGE), scipy.special.expit(LARGE))
    x = np.array([[1000.0, 1001.0, 999.0], [0.0, -1.0, 2.0]])
    ours, theirs = log_sum_exp(bindax, bnp), log_sum_exp(jax, jnp)
    same(bindax.jit(lambda x: ours(x, 1))(x), jax.nn.logsumexp(x, axis=1))
    same(bindax.jit(bindax.jacfwd(lambda x: ours(x, 1)))(x), jax.jacfwd(lambda x: theirs(x, 1))(x))
    same(
        bindax.jit(bindax.hessian(lambda x: ours(x, 0)))(x[1]),
        jax.hessian(lambda x: theirs(x, 0))(x[1]),
    )


def in_loops(module: Module, xp: Module, control: Any) -> dict[str, Any]:
    f, g = log1pexp(module, xp), weighted(module, xp)

    def scanned(x: Any) -> Any:
        def body(carry: Any, y: Any) -> Any:
            return f(carry) * y, g({"a": carry, "b": y}, x)

        carry, ys = control.scan(body, x, XS)
        return carry + xp.sum(ys)

    def chosen(x: Any) -> Any:
        return control.cond(x > 0.5, lambda x: g({"a": x, "b": x}, 2.0), f, x)

    def repeated(x: Any) -> Any:
        return control.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]

    return {"scan": scanned, "cond": chosen, "while": repeated}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["scan", "cond", "while"])
def test_inside_loops_and_branches(name: str) -> None:
    ours, theirs = in_loops(bindax, bnp, lax)[name], in_loops(jax, jnp, jax.lax)[name]
    same(bindax.jit(bindax.vmap(ours))(XS), jax.vmap(theirs)(XS))
    if name == "while":
        ones = np.ones(4)
        expected = jax.jvp(jax.vmap(theirs), (XS,), (ones,))
        same(bindax.jvp(bindax.vmap(ours), (XS,), (ones,)), expected)
        same(bindax.jvp(bindax.jit(bindax.vmap(ours)), (XS,), (ones,)), expected)
        return
    expected = jax.vmap(jax.grad(theirs))(XS)
    same(bindax.vmap(bindax.grad(ours))(XS), expected)
    same(bindax.jit(bindax.vmap(bindax.grad(ours)))(XS), expected)
    same(bindax.grad(lambda x: bnp.sum(bindax.jit(bindax.vmap(ours))(x)))(XS), expected)
    same(bindax.grad(bindax.grad(ours))(0.3), jax.grad(jax.grad(theirs))(0.3))


def test_inside_checkpoint() -> None:
    def made(module: Module, xp: Module) -> Any:
        f, g = log1pexp(module, xp), weighted(module, xp)
        return module.checkpoint(lambda x: f(g({"a": x, "b": xp.sin(x)}, x)))

    ours, theirs = made(bindax, bnp), made(jax, jnp)
    expected = jax.vmap(jax.grad(theirs))(XS)
    same(bindax.vmap(bindax.grad(ours))(XS), expected)
    same(bindax.jit(bindax.grad(lambda x: bnp.sum(bindax.vmap(ours)(x))))(XS), expected)


def test_a_gradient_clipped_in_eager_and_compiled_code() -> None:
    f = clip_gradient(bindax, bnp)

    def loss(x: Any) -> Any:
        return bnp.sum(f(-1.0, 1.0, x) ** 3)

    expected = np.clip(3.0 * XS**2, -1.0, 1.0)
    same(bindax.grad(loss)(XS), expected)
    same(bindax.jit(bindax.grad(loss))(XS), expected)
    low, high, x = bindax.grad(f, argnums=(0, 1, 2))(-1.0, 1.0, 5.0)
    assert (float(low), float(high), float(x)) == (0.0, 0.0, 1.0)


def test_custom_gradient_and_closure_convert_beside_jax() -> None:
    def made(module: Module, xp: Module, closure_convert: Any) -> Any:
        @module.custom_gradient
        def f(x: Any, y: Any) -> Any:
            s = xp.sin(x)
            return s * y, lambda ct: (ct * s, ct * y * s)

        def loss(x: Any) -> Any:
            converted, consts = closure_convert(lambda y: xp.sin(x * y), 1.0)
            return converted(2.0, *consts) + f(x, x * x)

        return loss

    ours = made(bindax, bnp, bindax.closure_convert)
    theirs = made(jax, jnp, jax.closure_convert)
    same(bindax.vmap(bindax.grad(ours))(XS), jax.vmap(jax.grad(theirs))(XS))
    same(bindax.jit(bindax.grad(bindax.grad(ours)))(0.3), jax.grad(jax.grad(theirs))(0.3))


def test_sequential_vmap_beside_jax() -> None:
    def f(x: Any, y: Any) -> Any:
        return {"a": x * y, "b": x + 1.0}

    ours = custom_batching.sequential_vmap(f)
    theirs = jax.custom_batching.sequential_vmap(f)
    for axes in ((0, None), (0, 0), (None, 0)):
        args = tuple(XS if axis == 0 else np.float64(2.0) for axis in axes)
        expected = jax.vmap(theirs, axes)(*args)
        same(bindax.vmap(ours, axes)(*args), expected)
        same(bindax.jit(bindax.vmap(ours, axes))(*args), expected)
    assert "scan" in str(bindax.make_jaxpr(bindax.vmap(ours))(XS, XS))


def test_facade_names() -> None:
    module = bindax.custom_derivatives
    assert module.custom_jvp is bindax.custom_jvp
    assert module.custom_vjp is bindax.custom_vjp
    zero = module.zero_from_primal(np.float32(1.0), symbolic_zeros=True)
    assert isinstance(zero, module.SymbolicZero)
    assert zero.dtype == np.float32
    same(module.zero_from_primal(XS), np.zeros(4))
    assert module.CustomVJPPrimal(1.0, True).perturbed


def test_reverse_rules_that_no_result_needs_do_not_hinder_forward_mode() -> None:
    @bindax.custom_vjp
    def cube(x: Any) -> Any:
        return x**3

    cube.defvjp(lambda x: (cube(x), x), lambda x, g: (3 * x**2 * g,))

    def branched(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: lax.cond(x > 0, function, lambda x: x, x)

    def unused(x: Any) -> Any:
        return (cube(x), 2 * x)[1]

    for function in (branched(unused), bindax.jit(unused), bindax.checkpoint(unused)):
        assert bindax.jvp(function, (3.0,), (1.0,)) == (6.0, 2.0)
    looped = lambda x: lax.scan(lambda c, _: (unused(c), None), x, length=2)[0]  # noqa: E731
    assert bindax.jvp(looped, (3.0,), (1.0,)) == (12.0, 4.0)
    pulled = branched(lambda x: bindax.vjp(cube, x)[1](1.0)[0])
    assert bindax.jacrev(lambda x: bindax.jvp(pulled, (x,), (1.0,))[1])(3.0) == 6.0
    with pytest.raises(TypeError, match="custom_vjp function cube"):
        bindax.jvp(branched(cube), (3.0,), (1.0,))
