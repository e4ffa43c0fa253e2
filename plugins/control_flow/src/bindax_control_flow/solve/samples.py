"""Samples for the conformance suite: linear systems, and roots of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow.solve.custom_linear_solve import custom_linear_solve
from bindax_control_flow.solve.custom_root import custom_root
from bindax_control_flow.while_loop.fori_loop import fori_loop
from bindax_testing import Sample, array, between, sample


def _cramer(matvec: Callable[[Any], Any], b: Any) -> Any:
    """The solution of two equations by Cramer's rule (G. Cramer, 1750)."""
    one, zero = np.ones((), b.dtype), np.zeros((), b.dtype)
    p, r = matvec(lax.stack([one, zero]))
    q, s = matvec(lax.stack([zero, one]))
    return lax.stack([s * b[0] - q * b[1], p * b[1] - r * b[0]]) / (p * s - q * r)


def _dominant(a: Any) -> Callable[[Any], Any]:
    """A matrix that is far from singular, for numbers between -1 and 1."""
    return lambda x: lax.reduce_sum(a * lax.expand_dims(x, (0,)), axes=(1,)) + 4 * x


def _dense(a: Any, b: Any) -> Any:
    return custom_linear_solve(_dominant(a), b, _cramer, _cramer)


def _symmetric(a: Any, b: Any) -> Any:
    def matvec(x: Any) -> Any:
        return _dominant(a + lax.transpose(a, (1, 0)))(x)

    return custom_linear_solve(matvec, b, _cramer, symmetric=True)


def _components(scale: Any, coupling: Any, last: Any, b: Any, c: Any) -> Any:
    """A triangular system of two arrays; a batch axis reaches the second by way of the first."""

    def matvec(x: Any) -> Any:
        return x[0] * scale, x[1] * last + coupling * x[0]

    def solve(matvec: Any, b: Any) -> Any:
        first = b[0] / scale
        return (first, (b[1] - coupling * first) / last), first > 0

    def transpose_solve(vecmat: Any, y: Any) -> Any:
        second = y[1] / last
        return ((y[0] - coupling * second) / scale, second), None

    return custom_linear_solve(matvec, (b, c), solve, transpose_solve, has_aux=True)[0]


def _root(a: Any, b: Any) -> Any:
    def f(x: Any) -> Any:
        return x + a * lax.tanh(x) - b

    def iterate(f: Any, x: Any) -> Any:
        return fori_loop(0, 60, lambda i, x: x - f(x) / 1.3, x)

    return custom_root(f, b, iterate, lambda g, y: y / g(y * 0 + 1))


def solver_samples() -> Iterator[Sample]:
    """Calls of ``custom_linear_solve`` and ``custom_root``."""
    small = between(-1.0, 1.0)
    for dtype in ("float64", "float32", "complex128"):
        yield sample(_dense, array((2, 2), dtype, small), array((2,), dtype))
    yield sample(_symmetric, array((2, 2), "float64", small), array((2,), "float64"))
    positive = array((3,), "float64", between(0.5, 2.0))
    x = array((3,), "float64")
    yield sample(_components, positive, x, positive, x, x)
    empty = array((0,), "float64")
    yield sample(_components, empty, empty, empty, empty, empty)
    yield sample(_root, array((), "float64", between(0.1, 0.6)), array((), "float64"))
