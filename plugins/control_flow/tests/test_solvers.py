"""custom_linear_solve and custom_root: derivatives of equations, in every transformation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import custom_linear_solve, custom_root, fori_loop, scan, while_loop
from bindax_lax_basic import dot_general, expand_dims, tanh

A = np.array([[3.0, 1.0, 0.0], [0.5, 4.0, -1.0], [0.0, 1.0, 5.0]])
B = np.array([1.0, -2.0, 0.5])
SYMMETRIC = A + A.T
BATCH = np.stack([A, A + 1.0, A.T])
CTS = np.array([0.3, -1.0, 2.0])


def dot(a: Any, x: Any) -> Any:
    return dot_general(a, x, (((1,), (0,)), ((), ())))


def jacobi(matvec: Callable[[Any], Any], b: Any) -> Any:
    """A solver that converges for matrices with dominant diagonals, in a loop without reverse."""
    ones = np.eye(3)
    diagonal = bt.vmap(lambda e: (matvec(e) * e).sum())(ones)
    return while_loop(
        lambda s: s[1] < 90, lambda s: (s[0] + (b - matvec(s[0])) / diagonal, s[1] + 1), (b, 0)
    )[0]


def linear(a: Any, b: Any) -> Any:
    return custom_linear_solve(lambda x: dot(a, x), b, jacobi, jacobi)


def symmetric(a: Any, b: Any) -> Any:
    return custom_linear_solve(lambda x: dot(a, x), b, jacobi, symmetric=True)


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def reference_gradients(a: Any, b: Any) -> tuple[Any, Any]:
    """Of ``CTS @ solve(a, b)``: minus the outer product of both solutions, and the adjoint one."""
    adjoint = np.linalg.solve(a.T, CTS)
    return -np.outer(adjoint, np.linalg.solve(a, b)), adjoint


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_linear_solve_and_its_derivatives(wrap: Callable[[Any], Any]) -> None:
    close(wrap(linear)(A, B), np.linalg.solve(A, B))
    a_dot, b_dot = np.ones_like(A), np.arange(3.0)
    x = np.linalg.solve(A, B)
    _, tangent = wrap(lambda a, b: bt.jvp(linear, (a, b), (a_dot, b_dot)))(A, B)
    close(tangent, np.linalg.solve(A, b_dot - a_dot @ x))
    gradients = wrap(bt.grad(lambda a, b: (linear(a, b) * CTS).sum(), argnums=(0, 1)))(A, B)
    for got, expected in zip(gradients, reference_gradients(A, B), strict=True):
        close(got, expected)
    symmetric_gradient = wrap(bt.grad(lambda b: (symmetric(SYMMETRIC, b) * CTS).sum()))(B)
    close(symmetric_gradient, np.linalg.solve(SYMMETRIC, CTS))


def test_second_derivatives() -> None:
    def loss(b: Any) -> Any:
        x = linear(A, b)
        return (x * x * x).sum()

    inverse = np.linalg.inv(A)
    expected = inverse.T @ np.diag(6.0 * (inverse @ B)) @ inverse
    close(bt.hessian(loss)(B), expected)
    close(bt.jit(bt.jacrev(bt.jacrev(loss)))(B), expected)
    close(bt.jacfwd(bt.grad(loss))(B), expected)

    def scaled(s: Any) -> Any:
        return (linear(A * s, B) * CTS).sum()

    close(bt.grad(bt.grad(scaled))(2.0), 2.0 * CTS @ inverse @ B / 8.0)


def test_linear_transpose() -> None:
    (ct,) = bt.linear_transpose(lambda b: linear(A, b), B)(CTS)
    close(ct, np.linalg.solve(A.T, CTS))
    turned = bt.linear_transpose(
        lambda ct: bt.linear_transpose(lambda b: linear(A, b), B)(ct)[0], B
    )
    close(turned(CTS)[0], np.linalg.solve(A, CTS))


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_vmap(wrap: Callable[[Any], Any]) -> None:
    right = np.stack([B, B + 1.0, -B])
    each = [np.linalg.solve(a, b) for a, b in zip(BATCH, right, strict=True)]
    close(wrap(bt.vmap(linear))(BATCH, right), each)
    close(wrap(bt.vmap(linear, (0, None)))(BATCH, B), [np.linalg.solve(a, B) for a in BATCH])
    close(wrap(bt.vmap(linear, (None, 1), 1))(A, right.T), np.linalg.solve(A, right.T))
    gradient = bt.grad(lambda a, b: (linear(a, b) * CTS).sum(), argnums=(0, 1))
    got = wrap(bt.vmap(gradient))(BATCH, right)
    expected = [reference_gradients(a, b) for a, b in zip(BATCH, right, strict=True)]
    for i in range(2):
        close(got[i], [pair[i] for pair in expected])


def test_trees_and_aux() -> None:
    def solve(scale: Any, b: Any) -> Any:
        def steps(matvec: Any, b: Any) -> Any:
            return {"u": b["u"] / scale, "v": b["v"] - b["u"] / scale}, {"count": 2}

        return custom_linear_solve(
            lambda x: {"u": x["u"] * scale, "v": x["v"] + x["u"]}, b, steps, has_aux=True
        )

    b = {"u": np.array([2.0, 6.0]), "v": np.array([1.0, 1.0])}
    x, aux = bt.jit(solve)(2.0, b)
    close(x["u"], [1.0, 3.0])
    close(x["v"], [0.0, -2.0])
    assert int(aux["count"]) == 2
    (_, aux), (x_dot, aux_dot) = bt.jvp(lambda s: solve(s, b), (2.0,), (1.0,))
    close(x_dot["u"], [-0.5, -1.5])
    close(x_dot["v"], [0.5, 1.5])
    assert aux_dot["count"].dtype == bx.float0


def test_what_the_solver_alone_closes_over_has_no_derivative() -> None:
    def f(omega: Any) -> Any:
        def relaxed(matvec: Any, b: Any) -> Any:
            return fori_loop(0, 200, lambda i, x: x + omega * (b - matvec(x)), b * 0.0)

        return custom_linear_solve(lambda x: dot(A, x), B, relaxed, relaxed).sum()

    close(f(0.2), np.linalg.solve(A, B).sum())
    assert float(bt.grad(f)(0.2)) == 0.0


def test_unused_aux_is_not_computed() -> None:
    def f(b: Any) -> Any:
        def solve(matvec: Any, b: Any) -> Any:
            return b / 2.0, tanh(b)

        return custom_linear_solve(lambda x: 2.0 * x, b, solve, has_aux=True)[0]

    closed = bt.make_jaxpr(f)(B)
    assert "tanh" in str(closed)
    pruned, _ = bt.dce_jaxpr(closed.jaxpr, [True])
    assert "tanh" not in str(pruned)


def test_solves_in_a_scan() -> None:
    def loss(a: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            x = linear(a, x)
            return x, x.sum()

        return scan(step, B, None, length=3)[1].sum()

    inverse = np.linalg.inv(A)
    close(loss(A), sum((np.linalg.matrix_power(inverse, n) @ B).sum() for n in (1, 2, 3)))
    step = 1e-6
    up, down = loss(A + step * np.eye(3)), loss(A - step * np.eye(3))
    slope = np.trace(bt.jit(bt.grad(loss))(A))
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-6)


def square_root(a: Any, guess: Any = 1.0) -> Any:
    def newton(f: Any, x: Any) -> Any:
        return while_loop(lambda x: abs(f(x)) > 1e-14, lambda x: x - f(x) / bt.grad(f)(x), x)

    return custom_root(lambda x: x * x - a, guess, newton, lambda g, y: y / g(1.0))


@pytest.mark.parametrize("wrap", [lambda f: f, bt.jit], ids=["eager", "jit"])
def test_root_and_its_derivatives(wrap: Callable[[Any], Any]) -> None:
    close(wrap(square_root)(2.0), np.sqrt(2.0))
    close(wrap(bt.grad(square_root))(2.0), 0.5 / np.sqrt(2.0))
    close(wrap(bt.grad(bt.grad(square_root)))(2.0), -0.25 * 2.0**-1.5)
    close(wrap(lambda a: bt.jvp(square_root, (a,), (3.0,))[1])(2.0), 1.5 / np.sqrt(2.0))
    numbers = np.array([1.0, 4.0, 9.0])
    close(wrap(bt.vmap(square_root))(numbers), np.sqrt(numbers))
    close(wrap(bt.vmap(bt.grad(square_root)))(numbers), 0.5 / np.sqrt(numbers))
    assert float(wrap(bt.grad(square_root, argnums=1))(2.0, 1.5)) == 0.0


def test_root_of_a_system_with_aux() -> None:
    def f(parameters: Any, x: Any) -> Any:
        return {"p": x["p"] + tanh(x["q"]) - parameters[0], "q": x["q"] - 0.5 * parameters[1]}

    def solve(f: Any, guess: Any) -> Any:
        def step(i: Any, x: Any) -> Any:
            residual = f(x)
            return {name: x[name] - residual[name] for name in x}

        return fori_loop(0, 5, step, guess), 5

    def tangent_solve(g: Any, y: Any) -> Any:
        def back_substitution(g: Any, y: Any) -> Any:
            return {"p": y["p"] - (g({"p": 0.0, "q": y["q"]})["p"]), "q": y["q"]}

        def transposed(g: Any, y: Any) -> Any:
            return {"p": y["p"], "q": y["q"] - g({"p": y["p"], "q": 0.0})["q"]}

        return custom_linear_solve(g, y, back_substitution, transposed)

    def root(*parameters: Any) -> Any:
        guess = {"p": 0.0, "q": 0.0}
        return custom_root(lambda x: f(parameters, x), guess, solve, tangent_solve, has_aux=True)

    x, aux = root(1.0, 2.0)
    assert int(aux) == 5
    close([x["p"], x["q"]], [1.0 - np.tanh(1.0), 1.0])
    gradient = bt.jit(bt.grad(lambda a, b: root(a, b)[0]["p"], argnums=(0, 1)))(1.0, 2.0)
    close(gradient, [1.0, -0.5 / np.cosh(1.0) ** 2])


def test_weak_types_are_promoted() -> None:
    a = np.float32(2.0)
    assert square_root_once(a).dtype == np.float32
    out = custom_linear_solve(lambda x: a * x, 3.0, lambda f, b: b / a)
    assert out.dtype == np.float32
    close(out, 1.5)


def square_root_once(a: Any) -> Any:
    return custom_root(lambda x: x - a, 1.0, lambda f, x: x - f(x), lambda g, y: y)


def test_the_program_prints() -> None:
    printed = str(
        bt.make_jaxpr(lambda b: custom_linear_solve(lambda x: 2.0 * x, b, lambda f, b: b))(1.0)
    )
    assert "linear_solve" in printed


# --------------------------------------------------------------------------------- bad input


def test_reverse_mode_without_a_transposed_solver() -> None:
    def f(b: Any) -> Any:
        return custom_linear_solve(lambda x: dot(A, x), b, jacobi).sum()

    close(bt.jvp(f, (B,), (B,))[1], np.linalg.solve(A, B).sum())
    with pytest.raises(
        TypeError, match=r"pass transpose_solve=\.\.\., or symmetric=True if matvec"
    ):
        bt.grad(f)(B)


def test_transpose_with_respect_to_the_matrix() -> None:
    with pytest.raises(TypeError, match="is linear in b, but not in what its functions close over"):
        bt.linear_transpose(lambda s: custom_linear_solve(lambda x: s * x, B, jacobi, jacobi), 1.0)(
            B
        )


def test_structures_that_differ() -> None:
    with pytest.raises(
        TypeError,
        match=r"matvec of custom_linear_solve must return the structure of b, .* but "
        r"<lambda> .* returns PyTreeDef.*: output\['u'\] is missing; output\['v'\] is new\.",
    ):
        custom_linear_solve(lambda x: {"v": x["u"]}, {"u": B}, lambda f, b: b)
    with pytest.raises(TypeError, match="solve of custom_linear_solve must return the structure"):
        custom_linear_solve(lambda x: x, B, lambda f, b: (b, b))
    with pytest.raises(TypeError, match="transpose_solve of custom_linear_solve must return the s"):
        custom_linear_solve(lambda x: x, B, lambda f, b: b, lambda f, b: (b, b))
    with pytest.raises(TypeError, match="tangent_solve of custom_root must return the structure"):
        custom_root(lambda x: x, 1.0, lambda f, x: x, lambda g, y: [y])


def test_types_that_differ() -> None:
    with pytest.raises(
        TypeError,
        match=r"matvec of custom_linear_solve must return the types of b, but b\['u'\] is "
        r"float64\[3\] and <lambda> .* returns float64\[1,3\] there\. Reshape or conv",
    ):
        custom_linear_solve(lambda x: {"u": expand_dims(x["u"], (0,))}, {"u": B}, lambda f, b: b)
    with pytest.raises(TypeError, match=r"solve of custom_linear_solve .*returns float32\[3\]"):
        custom_linear_solve(lambda x: x, B, lambda f, b: b.astype(np.float32))
    with pytest.raises(TypeError, match="f of custom_root must return the types of initial_guess"):
        custom_root(lambda x: x.sum(), B, lambda f, x: x, lambda g, y: y)


def test_arguments_that_are_no_functions_or_arrays() -> None:
    with pytest.raises(TypeError, match="matvec of custom_linear_solve must be a function, but go"):
        custom_linear_solve(A, B, jacobi)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tangent_solve of custom_root must be a function, but got"):
        custom_root(lambda x: x, 1.0, lambda f, x: x, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"b\[0\] of custom_linear_solve: .*str"):
        custom_linear_solve(lambda x: x, ["text"], lambda f, b: b)
    with pytest.raises(
        TypeError, match=r"must return a pair \(solution, aux\), because has_aux is T"
    ):
        custom_linear_solve(lambda x: x, B, lambda f, b: b, has_aux=True)
