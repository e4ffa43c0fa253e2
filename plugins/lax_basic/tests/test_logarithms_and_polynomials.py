"""Base-two logarithms, ``1 - x²`` and polynomials, beside NumPy and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import polynomial as numpy_polynomial

from bindax import grad, jit, jvp, lax, vmap

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logarithms_to_base_two(dtype: str) -> None:
    x = np.array([0.0, 1e-30, 0.3, 1.0, 8.0, np.inf, np.nan], dtype)
    with np.errstate(divide="ignore"):
        wanted = np.log2(x)
    for found in (lax.log2(x), jit(lax.log2)(x)):
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    assert float(lax.log2(np.array(1024.0, dtype))) == 10.0
    assert float(grad(lax.log2)(np.array(2.0, dtype))) == pytest.approx(0.5 / np.log(2))


def test_logarithms_to_base_two_of_complex_numbers() -> None:
    x = np.array([2j, -1 + 0j, 3 - 4j, np.inf + 0j])
    for found in (lax.log2(x), jit(lax.log2)(x)):
        np.testing.assert_allclose(found, np.log2(x), rtol=1e-14)


def test_one_minus_square_keeps_its_digits() -> None:
    near_one = np.float32(1) - np.float32(2**-20)
    exact = 1.0 - float(near_one) ** 2
    for f in (lax.one_minus_square, jit(lax.one_minus_square)):
        assert float(f(near_one)) == pytest.approx(exact, rel=1e-7)
    tiny = np.float32(1e-12)  # (1 + x) - (1 - x) would be 0
    assert float(grad(lax.one_minus_square)(tiny)) == -2 * tiny
    assert int(lax.one_minus_square(np.int32(3))) == -8
    np.testing.assert_allclose(lax.one_minus_square(np.array([2 + 1j])), [-2 - 4j])


@pytest.mark.parametrize("count", [1, 2, 20])
def test_polynomials_beside_numpy(count: int) -> None:
    x, coeffs = RNG.normal(size=(2, 3)) / 2, RNG.normal(size=count)
    wanted = numpy_polynomial.polyval(x, coeffs)
    for f in (lax.polynomial, jit(lax.polynomial)):
        np.testing.assert_allclose(f(x, list(coeffs)), wanted, rtol=1e-13)
    slope = numpy_polynomial.polyval(x, numpy_polynomial.polyder(coeffs))
    primal, tangent = jvp(lambda x: lax.polynomial(x, list(coeffs)), (x,), (np.ones_like(x),))
    np.testing.assert_allclose(primal, wanted, rtol=1e-13)
    np.testing.assert_allclose(tangent, slope, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(vmap(lambda x: lax.polynomial(x, list(coeffs)))(x), wanted)


def test_coefficients_of_polynomials() -> None:
    assert [float(g) for g in grad(lambda c: lax.polynomial(3.0, c))([1.0, 2.0])] == [1.0, 3.0]
    x = np.ones((2, 3), np.float32)
    rows = lax.polynomial(x, [np.full((1, 3), 2.0, np.float32), 5])
    assert rows.dtype == np.float32
    assert rows.shape == (2, 3)
    assert lax.polynomial(np.ones((0, 2)), [1.0]).shape == (0, 2)
    assert float(lax.polynomial(2.0, [])) == 0.0
    assert float(lax.polynomial(3.0, [1.0, 5.0, 2.0], unroll=1)) == 34.0


@pytest.mark.parametrize(
    ("x", "coefficient", "text"),
    [
        (np.int32(1), 0.5, "a coefficient of type .* does not fit the dtype of x, which is int32"),
        (np.float32(1), 1j, "a coefficient of type .* does not fit the dtype of x"),
        (np.ones((2, 3)), np.ones(3), "has another number of axes than x, which is float64.2,3."),
        (np.array([True]), True, "polynomial does not accept the dtype bool"),
    ],
)
def test_coefficients_that_do_not_fit(x: Any, coefficient: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        lax.polynomial(x, [coefficient])
