"""Series of functions beside nested ``jvp``, which is taken as the truth, and beside JAX's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
import bindax_linalg as linalg
import bindax_numpy as jnp
import bindax_special as special
from bindax_control_flow import cond, fori_loop, map, scan, while_loop
from bindax_core import find_primitive
from bindax_core.errors import RuleOutputError
from bindax_core.extend import extend
from bindax_experimental.jet import Taylor, jet, taylor
from bindax_transforms import checkpoint, custom_jvp, custom_vjp, grad, jit, jvp, make_jaxpr, vmap

X = np.array([0.2, 0.5, 0.8])
S = np.array([[4.0, 0.3, 0.2], [0.1, 3.0, -0.5], [0.4, -0.2, 5.0]])


def terms_of(x: Any, order: int) -> list[Any]:
    return list(np.random.default_rng(0).normal(size=(order, *np.shape(x))))


def nested(fun: Callable[..., Any], x: Any, terms: list[Any]) -> tuple[Any, list[Any]]:
    """The derivatives of the function along the curve, by ``jvp`` of ``jvp`` of …."""

    def derivative(t: Any) -> Any:
        powers = enumerate(terms, 1)
        return fun(sum((c * t**k / math.factorial(k) for k, c in powers), jnp.asarray(x)))

    value, outs = derivative(0.0), []
    for _ in terms:
        derivative = _along(derivative)
        outs.append(derivative(0.0))
    return value, outs


def _along(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda t: jvp(fun, (t,), (1.0,))[1]


def assert_right(fun: Callable[..., Any], x: Any, order: int = 3, tol: float = 1e-8) -> None:
    terms = terms_of(x, order)
    value, series = jet(fun, (x,), (terms,))
    expected, expected_series = nested(fun, x, terms)
    np.testing.assert_allclose(value, expected, rtol=tol)
    for found, term in zip(series, expected_series, strict=True):
        np.testing.assert_allclose(found, term, rtol=tol, atol=tol)


ELEMENTWISE = """abs acos asin asinh atan atanh cbrt cos cosh erf erf_inv erfc exp exp2 expm1 floor
log log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh"""


@pytest.mark.parametrize("name", ELEMENTWISE.split())
def test_elementwise_functions(name: str) -> None:
    assert_right(getattr(lax, name), X)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "acosh": lambda x: lax.acosh(x + 1.5),
    "atan2": lambda x: lax.atan2(x, x * x),
    "bessel": special.bessel_i0e,
    "clip": lambda x: jnp.clip(x, 0.3, 0.6) * x,
    "concatenate": lambda x: jnp.concatenate([x, x * x]),
    "constant": lambda x: x + jnp.cos(3.0) * 0,
    "convolution": lambda x: jnp.convolve(x, x),
    "cumprod": jnp.cumprod,
    "digamma": special.digamma,
    "division": lambda x: (jnp.sin(x) / x) / 2 + 2 / x,
    "dot": lambda x: (S @ x) @ x,
    "fft": lambda x: jnp.abs(jnp.fft.fft(x)),
    "gather": lambda x: x[1] * x[np.array([0, 2])],
    "igamma": lambda x: special.igamma(np.full(3, 2.0), x),
    "max": lambda x: jnp.maximum(x, 0.5),
    "power": lambda x: x**2.5,
    "power of itself": lambda x: x**x,
    "power, negative": lambda x: lax.integer_pow(x, -3),
    "power, whole": lambda x: x**5,
    "power, zero": lambda x: lax.integer_pow(x, 0) * x,
    "product": jnp.prod,
    "remainder": lambda x: x % 0.3,
    "scatter": lambda x: x.at[0].set(x[1] ** 2).at[1].add(x[2]),
    "sort": lambda x: jnp.sort(x[::-1]),
    "stop": lambda x: x * lax.stop_gradient(jnp.sin(x)),
    "sum": lambda x: jnp.sum(x * x),
    "variance": jnp.var,
    "where": lambda x: jnp.where(x > 0.4, x * x, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    assert_right(FUNCTIONS[name], X)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "jit": jit(lambda x: jnp.sin(x) * x),
    "checkpoint": checkpoint(lambda x: jnp.sin(x) * x),
    "vmap": vmap(lambda x: jnp.sin(x) * x),
    "grad": grad(lambda x: jnp.sum(jnp.sin(x) * x)),
    "cond": lambda x: cond(x[0] > 0.1, lambda x: x * x, lambda x: 0 * x + 1, x),
    "cond, constant": lambda x: cond(x[0] > 0.3, lambda x: x * x, lambda x: S[0], x),
    "scan": lambda x: scan(lambda c, y: (c * y, (jnp.sin(c), c > 3)), 1.0, x)[1][0],
    "scan, carry": lambda x: scan(lambda c, y: (c * y, c), x[0], np.arange(1.0, 4))[0],
    "fori_loop": lambda x: fori_loop(0, 4, lambda i, c: c * x, np.ones(3)),
    "while_loop": lambda x: while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + c[1][0] + 1, c[1] * x), (0.0, x + 1)
    )[1],
    "map": lambda x: map(jnp.sin, x),
    "solve": lambda x: jnp.linalg.solve(jnp.diag(x) + S, x),
    "determinant": lambda x: jnp.linalg.det(jnp.diag(x) + S),
    "cholesky": lambda x: linalg.cholesky(jnp.diag(x) + S),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_inside(name: str) -> None:
    assert_right(PROGRAMS[name], X, tol=1e-7)


@pytest.mark.parametrize("flags", range(16))
def test_triangular_solve(flags: int) -> None:
    names = ("left_side", "lower", "transpose_a", "unit_diagonal")
    how = {name: bool(flags >> i & 1) for i, name in enumerate(names)}
    assert_right(lambda x: linalg.triangular_solve(x, x * x, **how), S, order=2)


def test_custom_derivatives() -> None:
    @custom_jvp
    def f(x: Any) -> Any:
        return x * x

    f.defjvp(lambda primals, tangents: (f(*primals), 3.0 * primals[0] * tangents[0]))

    @custom_vjp
    def g(x: Any) -> Any:
        return x * x

    g.defvjp(lambda x: (g(x), x), lambda x, ct: (ct,))
    for fun in (f, jit(f)):
        assert_right(fun, X)
        assert [float(t) for t in jet(fun, (2.0,), ([1.0, 0.0],))[1]] == [6.0, 3.0]
    # The rule of custom_vjp speaks of reverse mode alone.
    assert [float(t) for t in jet(g, (2.0,), ([1.0, 0.0],))[1]] == [4.0, 2.0]


def test_trees_and_several_arguments() -> None:
    def f(x: Any, rest: dict[str, Any]) -> Any:
        return {"product": x * rest["y"], "kept": rest["y"], "constant": 2.0}

    value, series = jet(f, (2.0, {"y": 3.0}), ([1.0, 0.0], [{"y": 1.0}, {"y": 4.0}]))
    assert {k: float(v) for k, v in value.items()} == {"product": 6, "kept": 3, "constant": 2}
    found = {k: [float(t) for t in terms] for k, terms in series.items()}
    assert found == {"product": [5.0, 10.0], "kept": [1.0, 4.0], "constant": [0.0, 0.0]}


def test_scaling_of_terms() -> None:
    _, derivatives = jet(jnp.exp, (0.0,), ([1.0, 0.0, 0.0],))
    _, coefficients = jet(jnp.exp, (0.0,), ([1.0, 0.0, 0.0],), factorial_scaled=False)
    np.testing.assert_allclose(derivatives, [1, 1, 1])
    np.testing.assert_allclose(coefficients, [1, 1 / 2, 1 / 6])
    assert jet(jnp.exp, (0.0,), ([],)) == (1.0, [])


def test_integers_stay() -> None:
    value, series = jet(lambda x: jnp.floor(x).astype("int32"), (1.5,), ([1.0, 1.0],))
    assert int(value) == 1
    assert [int(t) for t in series] == [0, 0]


def test_transformations_around() -> None:
    def second(x: Any) -> Any:
        return jet(jnp.sin, (x,), ([1.0, 0.0],))[1][1]

    np.testing.assert_allclose(second(0.7), -math.sin(0.7))
    np.testing.assert_allclose(jit(second)(0.7), -math.sin(0.7))
    np.testing.assert_allclose(vmap(second)(X), -np.sin(X))
    np.testing.assert_allclose(grad(second)(0.7), -math.cos(0.7))
    np.testing.assert_allclose(jet(second, (0.7,), ([1.0],))[1][0], -math.cos(0.7))


def test_the_effort_grows_with_the_square_of_the_order() -> None:
    def count(order: int) -> int:
        def f(x: Any) -> Any:
            return jet(lambda x: jnp.sqrt(jnp.tanh(x)), (x,), ([1.0, *[0.0] * (order - 1)],))

        return len(make_jaxpr(f)(0.3).eqns)

    assert count(8) < 6 * count(4)


def test_one_dtype() -> None:
    x = np.float32(0.5)
    value, series = jet(lambda x: jnp.tanh(x) / jnp.sqrt(x), (x,), ([1.0, 0.0, 0.0],))
    assert {value.dtype, *(t.dtype for t in series)} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jet(3, (1.0,), ([1.0],)), TypeError, "jet"),
        (lambda: jet(jnp.sin, 1.0, ([1.0],)), TypeError, "primals and series as tuples"),
        (lambda: jet(jnp.sin, (1.0,), ()), ValueError, "1 primals and 0 lists"),
        (lambda: jet(jnp.sin, (1.0,), (1.0,)), TypeError, r"series\[0\] of jet must be a list"),
        (lambda: jet(jnp.add, (1.0, 2.0), ([1.0], [])), ValueError, "has 0 and 1 of them"),
        (lambda: jet(jnp.sin, (1,), ([1.0],)), TypeError, r"primals\[0\] .* floating-point"),
        (lambda: jet(jnp.sin, ("a",), ([1.0],)), TypeError, r"primals\[0\] of jet: .*str"),
        (lambda: jet(jnp.sin, (X,), ([X, X[:2]],)), TypeError, r"series\[0\]\[1\] .* the shape"),
        (lambda: jet(jnp.sin, (X,), ([X.astype("f")],)), TypeError, "the dtype of its primal"),
        (lambda: jet(jnp.sin, ({"a": X},), ([X],)), TypeError, "must have the structure"),
        (lambda: jet(lambda x: "a", (X,), ([X],)), TypeError, "the function given to jet returned"),
    ],
)
def test_mistakes(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_a_package_brings_a_rule_of_its_own() -> None:
    cos_p = find_primitive("cbrt")

    def rule(x: Taylor, **params: Any) -> Taylor:
        return Taylor(tuple(c + 1 for c in x.coefficients))

    (made,) = extend(cos_p, taylor(rule)).rules
    with taylor.scoped(cos_p, made):
        assert [float(t) for t in jet(lax.cbrt, (1.0,), ([2.0],))[1]] == [3.0]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda x, **params: None, "the result cannot be NoneType None"),
        (lambda x, **params: (x,), "the result cannot be a tuple of 1"),
        (lambda x, **params: x.value, r"the result cannot be one value, float64\[\]"),
        (lambda **params: None, "cannot be called with the one argument"),
    ],
)
def test_wrong_rules_are_named(rule: Any, text: str) -> None:
    cbrt_p = find_primitive("cbrt")
    (made,) = extend(cbrt_p, taylor(rule)).rules
    with (
        taylor.scoped(cbrt_p, made),
        pytest.raises(RuleOutputError, match=rf"the jet rule of cbrt, from .*test_jet.*{text}"),
    ):
        jet(lax.cbrt, (1.0,), ([2.0],))


def test_beside_jax() -> None:
    pytest.importorskip("jax")
    import jax.numpy as their_numpy
    from jax.experimental.jet import jet as theirs

    x = X.astype(np.float32)
    terms = [t.astype(np.float32) for t in terms_of(x, 3)]

    def f(jnp: Any) -> Any:
        return lambda x, y: {"a": jnp.sin(x) * y, "b": jnp.sum(jnp.exp(x) / y)}

    mine, their = (
        jet_(f(np_), (x, x), (terms, terms)) for jet_, np_ in ((jet, jnp), (theirs, their_numpy))
    )
    for part, other in zip(mine, their, strict=True):
        for key in "ab":
            np.testing.assert_allclose(part[key], other[key], rtol=2e-5, atol=1e-5)
