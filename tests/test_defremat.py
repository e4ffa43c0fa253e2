"""``custom_vjp.defremat``: what ``checkpoint`` saves of a function, and what it does again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import checkpoint, checkpoint_policies, lax

X = np.linspace(0.2, 0.8, 3)


def product(factor: float = 1.0) -> Any:
    """``sin(x) * y``, which saves the sine and computes the cosine when the cotangents arrive."""

    @bindax.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return bnp.sin(x) * y

    def fwd(x: Any, y: Any) -> Any:
        sine = bnp.sin(x)
        return sine * y, {"sine": sine}

    def rem(saved: Any, x: Any, y: Any) -> Any:
        return saved["sine"] * y, (saved["sine"], bnp.cos(x), y)

    def bwd(residuals: Any, ct: Any) -> Any:
        sine, cosine, y = residuals
        return factor * ct * cosine * y, factor * ct * sine

    f.defremat(fwd, rem, bwd)
    return f


def plain(x: Any, y: Any) -> Any:
    return bnp.sin(x) * y


PROGRAMS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "alone": lambda f: lambda x: f(x, x).sum(),
    "jit": lambda f: lambda x: bindax.jit(f)(x, 2.0 * x).sum(),
    "twice": lambda f: lambda x: f(f(x, x), x).sum(),
    "vmap": lambda f: lambda x: bindax.vmap(lambda y: f(x, y), 0)(bnp.stack([x, x])).sum(),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c, x), c), x, None, length=3)[0].sum(),
    "cond": lambda f: lambda x: lax.cond(x.sum() > 0, f, plain, x, x).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    expected = bindax.grad(PROGRAMS[name](plain))(X)
    program = PROGRAMS[name](product())
    for policy in (None, checkpoint_policies.everything_saveable):
        for function in (program, checkpoint(program, policy=policy)):
            np.testing.assert_allclose(bindax.grad(function)(X), expected, rtol=1e-6)
    found = bindax.jit(bindax.grad(checkpoint(program)))(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_rules_are_used() -> None:
    f = product(10.0)
    for function in (f, checkpoint(f), bindax.jit(checkpoint(f))):
        assert float(bindax.grad(function)(0.0, 2.0)) == 20.0


def test_second_derivatives() -> None:
    f, g = product(), lambda f: lambda x: f(x, x)
    expected = bindax.grad(bindax.grad(g(plain)))(0.5)
    for function in (g(f), checkpoint(g(f))):
        np.testing.assert_allclose(bindax.grad(bindax.grad(function))(0.5), expected, rtol=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, bindax.vmap, bindax.jit])
def test_what_is_saved_and_what_is_computed_again(wrap: Any) -> None:
    f = checkpoint(wrap(product()))
    _, f_vjp = bindax.vjp(f, X, X)
    later = str(bindax.make_jaxpr(f_vjp)(X))
    assert (later.count(" sin "), later.count(" cos ")) == (0, 1)
    first = str(bindax.make_jaxpr(lambda x: bindax.vjp(f, x, x)[0])(X))
    assert (first.count(" sin "), first.count(" cos ")) == (1, 0)


def test_later_values_are_computed_from_what_rem_returns() -> None:
    f = product()
    _, f_vjp = bindax.vjp(checkpoint(lambda x: bnp.exp(f(x, x)) * x), X)
    later = str(bindax.make_jaxpr(f_vjp)(X))
    assert (later.count(" sin "), later.count(" cos "), later.count(" exp ")) == (0, 1, 1)


def test_arguments_that_are_not_differentiated_and_closed_over_arrays() -> None:
    scale = bnp.asarray(X)
    f = bindax.custom_vjp(lambda g, x: g(x) * scale, nondiff_argnums=(0,))
    f.defremat(
        lambda g, x: (g(x) * scale, None),
        lambda _, g, x: (g(x) * scale, x),
        lambda g, x, ct: (ct * bindax.vmap(bindax.grad(g))(x) * scale,),
    )
    for wrap in (lambda f: f, checkpoint):
        found = bindax.grad(lambda x: wrap(lambda x: f(bnp.sin, x))(x).sum())(X)  # noqa: B023
        np.testing.assert_allclose(found, np.cos(X) * X, rtol=1e-6)


def test_rules_are_checked() -> None:
    f = bindax.custom_vjp(lambda x: x * x)
    with pytest.raises(
        TypeError, match=r"defremat of the custom_vjp function .* must be a function"
    ):
        f.defremat(lambda x: (x, x), None, lambda res, ct: (ct,))  # type: ignore[arg-type]
    f.defremat(lambda x: (x * x, x), lambda x, _: (x, x), lambda x, ct: (2.0 * x * ct,))
    assert float(bindax.grad(f)(3.0)) == 6.0
    f.defremat(lambda x: (x * x, x), lambda x, _: ((x, x), x), lambda x, ct: (2.0 * x * ct,))
    with pytest.raises(
        TypeError, match=r"the rem rule .* must return the output that the fwd rule"
    ):
        bindax.grad(checkpoint(f))(3.0)
    f.defvjp(lambda x: (x * x, x), lambda x, ct: (5.0 * x * ct,))
    assert float(bindax.grad(checkpoint(f))(3.0)) == 15.0
