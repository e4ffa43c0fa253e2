"""Derivatives at singular places that exist all the same."""

from __future__ import annotations

import numpy as np
import pytest

import bindax_numpy as bnp
import bindax_transforms as bt


def cofactors(x):
    """By their definition: determinants of what is left without a row and a column."""
    n = len(x)
    return np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(n)]
            for i in range(n)
        ]
    )


def matrices():
    rng = np.random.default_rng(0)
    low = [rng.normal(size=(4, k)) @ rng.normal(size=(k, 4)) for k in (0, 1, 2, 3)]
    first_column_zero = rng.normal(size=(4, 4)) * [0, 1, 1, 1]
    complex_ones = rng.normal(size=(4, 3)) @ rng.normal(size=(3, 4)) * (1 + 2j)
    regular = rng.normal(size=(4, 4))
    return [*low, np.diag([1.0, 2.0, 3.0, 0.0]), first_column_zero, regular, complex_ones]


@pytest.mark.parametrize("x", matrices())
def test_slope_of_a_determinant(x):
    grad = bt.grad(bnp.linalg.det, holomorphic=np.iscomplexobj(x))
    np.testing.assert_allclose(grad(x), cofactors(x), rtol=1e-9, atol=1e-12)


def test_slopes_of_mapped_determinants():
    x = np.stack(matrices()[:-1])
    expected = np.stack([cofactors(m) for m in x])
    for grad in (bt.vmap(bt.grad(bnp.linalg.det)), bt.grad(lambda x: bnp.linalg.det(x).sum())):
        np.testing.assert_allclose(grad(x), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(bt.jit(grad)(x), expected, rtol=1e-9, atol=1e-12)


def test_curvature_of_a_determinant():
    x = matrices()[3]  # of rank 3, and then a regular one
    for m in (x, x + np.eye(4)):
        tangent = np.random.default_rng(1).normal(size=(4, 4))
        found = bt.jvp(bt.grad(bnp.linalg.det), (m,), (tangent,))[1]
        step = 1e-5 * tangent
        expected = (cofactors(m + step) - cofactors(m - step)) / 2e-5
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_slope_of_sinc_far_out():
    assert abs(float(bt.grad(bnp.sinc)(np.float32(1e20)))) < 1e-18
    assert abs(float(bt.grad(bnp.sinc)(np.float64(1e200)))) < 1e-198
    assert float(bt.grad(bt.grad(bnp.sinc))(0.0)) == pytest.approx(-(np.pi**2) / 3, rel=1e-5)
