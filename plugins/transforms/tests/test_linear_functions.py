"""Functions that ``vjp``, ``linearize`` and ``linear_transpose`` return are trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.extend import tree_leaves, tree_map

pytestmark = pytest.mark.usefixtures("toy_operations")

X = np.arange(3.0)


def function(x: Any, y: Any) -> Any:
    return {"out": toy.sin(x) * y}


def test_their_leaves_are_residuals() -> None:
    _, f_vjp = bt.vjp(function, X, X)
    leaves = tree_leaves(f_vjp)
    assert leaves
    assert all(np.shape(x) == (3,) for x in leaves)
    _, of_one = bt.vjp(toy.sin, X)
    doubled = tree_map(lambda x: 2 * x, of_one)
    np.testing.assert_allclose(doubled(np.ones(3))[0], 2 * np.cos(X))
    _, of_number = bt.vjp(toy.sin, 2.0)  # numbers too
    np.testing.assert_allclose(tree_map(lambda x: 2 * x, of_number)(1.0)[0], 2 * np.cos(2.0))


def test_they_leave_and_enter_jit() -> None:
    (_, f_vjp), (_, f_lin) = (
        bt.jit(lambda x, k=k: k(function, x, X))(X) for k in (bt.vjp, bt.linearize)
    )
    expected = np.cos(X) * X, np.sin(X)
    apply = bt.jit(lambda f, *args: f(*args))
    for found in (f_vjp({"out": np.ones(3)}), apply(f_vjp, {"out": np.ones(3)})):
        np.testing.assert_allclose(found, expected)
    for found in (f_lin(X, X), apply(f_lin, X, X)):
        np.testing.assert_allclose(found["out"], np.cos(X) * X * X + np.sin(X) * X)
    transposed = bt.jit(lambda a: bt.linear_transpose(lambda x: x * a, X))(X)
    np.testing.assert_allclose(apply(transposed, np.ones(3))[0], X)


def test_they_are_mapped() -> None:
    f_vjps = bt.vmap(lambda x: bt.vjp(lambda x: toy.sin(x) * x, x)[1])(X)
    found = bt.vmap(lambda f: f(1.0)[0])(f_vjps)
    np.testing.assert_allclose(found, np.cos(X) * X + np.sin(X))


def test_they_are_residuals_of_custom_vjp() -> None:
    @bt.custom_vjp
    def f(x: Any) -> Any:
        return toy.sin(x)

    f.defvjp(lambda x: bt.vjp(toy.sin, x), lambda f_vjp, ct: f_vjp(ct))
    grad = bt.grad(f)
    np.testing.assert_allclose(grad(0.5), np.cos(0.5))
    np.testing.assert_allclose(bt.jit(grad)(0.5), np.cos(0.5))
    np.testing.assert_allclose(bt.vmap(grad)(X), np.cos(X))


def test_they_say_what_they_are() -> None:
    _, f_vjp = bt.vjp(function, X, X)
    assert "vjp of function" in repr(f_vjp)
