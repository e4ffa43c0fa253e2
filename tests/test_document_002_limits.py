"""What Part 5 of the document leaves out: mapped predicates, branches that become different.

There a conditional can be batched along its operands alone, and transforming its branches must
leave them with the same types. Here neither is so, in conditionals inside conditionals and loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import grad, hessian, jacfwd, jit, jvp, linearize, vjp, vmap
from bindax.lax import cond, fori_loop, scan, sin, switch, while_loop

XS = np.array([-1.5, -0.2, 0.4, 1.2, 2.5])
YS = np.array([0.3, 0.9, -1.1, 0.5, -0.4])

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


@pytest.fixture(params=["numpy", "xla"], autouse=True)
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "xla":
        pytest.importorskip("jaxlib", reason="the compiler is not installed")
    with bindax.config.override(backend=request.param, check_jaxprs=True):
        yield


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def nested(x: Any, y: Any) -> Any:
    """Three conditionals, each in a branch of the one before; of both arguments or of one."""
    return cond(
        x > 0.0,
        lambda x, y: cond(
            x > 1.0,
            lambda x, y: cond(y > 0.0, lambda x, y: x * y, lambda x, y: 2.0, x, y),
            lambda x, y: sin(y),
            x,
            y,
        ),
        lambda x, y: x * x,
        x,
        y,
    )


def nested_python(x: float, y: float) -> tuple[float, float, float]:
    """The value and both derivatives, by Python's own conditionals."""
    if x <= 0.0:
        return x * x, 2.0 * x, 0.0
    if x <= 1.0:
        return float(np.sin(y)), 0.0, float(np.cos(y))
    return (x * y, y, x) if y > 0.0 else (2.0, 0.0, 0.0)


EXPECTED = np.array([nested_python(x, y) for x, y in zip(XS, YS, strict=True)]).T


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_mapped_predicates(wrap: Wrap) -> None:
    close(wrap(vmap(nested))(XS, YS), EXPECTED[0])
    close(vmap(wrap(grad(nested, argnums=(0, 1))))(XS, YS), EXPECTED[1:])
    close(wrap(grad(lambda x, y: vmap(nested)(x, y).sum(), argnums=(0, 1)))(XS, YS), EXPECTED[1:])
    outer = vmap(vmap(nested, (None, 0)), (0, None))
    table = [[nested_python(x, y)[0] for y in YS] for x in XS]
    close(wrap(outer)(XS, YS), table)


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_branches_whose_derivatives_differ(wrap: Wrap) -> None:
    """The tangent of one branch depends on x, of another on y, of a third on nothing."""
    for x, y, value, by_x, by_y in zip(XS, YS, *EXPECTED, strict=True):
        out, tangent = wrap(lambda x, y: jvp(nested, (x, y), (1.0, 10.0)))(x, y)
        close([out, tangent], [value, by_x + 10.0 * by_y])
        close(wrap(lambda y: jvp(lambda y: nested(x, y), (y,), (1.0,))[1])(y), by_y)  # noqa: B023
        close(linearize(wrap(nested), x, y)[1](1.0, -1.0), by_x - by_y)
        close(vjp(wrap(nested), x, y)[1](2.0), [2.0 * by_x, 2.0 * by_y])


def test_branches_whose_residuals_and_constants_differ() -> None:
    """One keeps a vector, one a scalar, one nothing; each closes over its own constant."""
    weights, shift = np.array([1.0, -2.0, 3.0]), np.float64(0.5)

    def f(index: Any, x: Any) -> Any:
        branches = [
            lambda x: (sin(x * weights) * weights).sum(),
            lambda x: (x + shift) * (x + shift),
            lambda x: 7.0,
        ]
        return switch(index, branches, x)

    def slopes(x: float) -> list[float]:
        return [float((np.cos(x * weights) * weights**2).sum()), 2.0 * (x + 0.5), 0.0]

    for index in range(3):
        close(grad(f, argnums=1)(index, 0.3), slopes(0.3)[index])
        close(jit(grad(jit(f), argnums=1))(index, 0.3), slopes(0.3)[index])
    indices = np.array([2, 0, 1, 0])
    xs = np.array([0.1, 0.2, 0.3, 0.4])
    expected = [slopes(x)[i] for i, x in zip(indices, xs, strict=True)]
    close(jit(vmap(grad(f, argnums=1)))(indices, xs), expected)


def test_branches_of_which_only_one_becomes_batched() -> None:
    """With one predicate for all: a branch ignores the mapped operand, another does not."""
    f = vmap(lambda flag, x: cond(flag, lambda x: x * 2.0, lambda x: 1.0, x), (None, 0))
    close(f(True, XS), XS * 2.0)
    close(f(False, XS), np.ones_like(XS))
    close(jit(f)(False, XS), np.ones_like(XS))


def stepped(x: Any, ys: Any) -> Any:
    """A conditional in a scan in a conditional."""

    def step(carry: Any, y: Any) -> Any:
        carry = cond(carry * y > 0.2, lambda c, y: c * y, lambda c, y: c - 0.5, carry, y)
        return carry, carry * 2.0

    def run(x: Any) -> Any:
        last, outs = scan(step, x, ys)
        return last + outs.sum()

    return cond(x > 0.0, run, lambda x: -x, x)


def stepped_python(x: float) -> tuple[float, float]:
    if x <= 0.0:
        return -x, -1.0
    slope, total, total_slope = 1.0, 0.0, 0.0
    for y in YS:
        x, slope = (x * y, slope * y) if x * y > 0.2 else (x - 0.5, slope)
        total, total_slope = total + 2.0 * x, total_slope + 2.0 * slope
    return float(total + x), float(total_slope + slope)


def test_conditionals_in_scans_in_conditionals() -> None:
    values, slopes = np.array([stepped_python(x) for x in XS]).T
    for wrap in (lambda f: f, jit):
        close(wrap(vmap(lambda x: stepped(x, YS)))(XS), values)
        close(wrap(vmap(grad(lambda x: stepped(x, YS))))(XS), slopes)
        close(wrap(jacfwd(vmap(lambda x: stepped(x, YS))))(XS), np.diag(slopes))


def test_loops_in_conditionals_in_loops() -> None:
    """A while loop, whose length differs between elements, in a branch in a counted loop."""

    def f(x: Any) -> Any:
        def halved(x: Any) -> Any:
            return while_loop(lambda v: v > 1.0, lambda v: v * 0.5, x)

        return fori_loop(0, 3, lambda i, v: cond(v > 1.0, halved, lambda v: v * 3.0, v), x)

    def python(x: float) -> tuple[float, float]:
        slope = 1.0
        for _ in range(3):
            factor = 3.0
            if x > 1.0:
                factor = 0.5 ** np.ceil(np.log2(x))
            x, slope = x * factor, slope * factor
        return x, slope

    xs = np.array([0.1, 0.45, 1.7, 9.0])
    values, slopes = np.array([python(x) for x in xs]).T
    for wrap in (lambda f: f, jit):
        close(wrap(vmap(f))(xs), values)
        close(wrap(lambda xs: jvp(vmap(f), (xs,), (np.ones(4),))[1])(xs), slopes)


def test_second_derivatives_of_mapped_conditionals() -> None:
    def f(x: Any) -> Any:
        return cond(x > 0.0, lambda x: x * x * x, lambda x: sin(x), x)

    expected = np.where(XS > 0.0, 6.0 * XS, -np.sin(XS))
    close(jit(vmap(grad(grad(f))))(XS), expected)
    close(hessian(lambda xs: vmap(f)(xs).sum())(XS), np.diag(expected))
