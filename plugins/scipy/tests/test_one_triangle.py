"""Functions of positive definite matrices read one triangle, as SciPy's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import bindax
from bindax.scipy import linalg

RNG = np.random.default_rng(0)
REAL, IMAGINARY = RNG.normal(size=(2, 4, 4))
V = RNG.normal(size=4)


def halves(dtype: Any, lower: bool) -> tuple[Any, Any]:
    """A positive definite matrix, and what remains of it without one triangle."""
    root = REAL + 1j * IMAGINARY if dtype is np.complex128 else REAL
    whole = root @ root.conj().T + np.eye(4, dtype=dtype)
    return whole, (np.tril if lower else np.triu)(whole)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_other_triangle_is_not_read(dtype: Any, lower: bool) -> None:
    whole, half = halves(dtype, lower)
    np.testing.assert_allclose(
        linalg.cholesky(half, lower=lower), scipy.linalg.cholesky(half, lower=lower)
    )
    solution = np.linalg.solve(whole, V)
    np.testing.assert_allclose(linalg.solve(half, V, lower=lower, assume_a="pos"), solution)
    np.testing.assert_allclose(linalg.cho_solve(linalg.cho_factor(half, lower), V), solution)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda a, lower: linalg.cholesky(a, lower=lower),
        lambda a, lower: linalg.solve(a, V, lower=lower, assume_a="pos"),
    ],
)
def test_derivatives_are_those_of_what_is_read(function: Any, lower: bool) -> None:
    whole, half = halves(np.float64, lower)
    slope = bindax.grad(lambda a: function(a, lower).sum())(whole)
    differences = np.zeros((4, 4))
    for place in np.ndindex(4, 4):
        step = np.zeros((4, 4))
        step[place] = 1e-6
        change = function(whole + step, lower) - function(whole - step, lower)
        differences[place] = float(change.sum()) / 2e-6
    np.testing.assert_allclose(slope, differences, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(slope, bindax.grad(lambda a: function(a, lower).sum())(half))
