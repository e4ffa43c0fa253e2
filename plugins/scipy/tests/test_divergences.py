"""Divergences of numbers that are nearly equal, of which rounding must leave some digits."""

from __future__ import annotations

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.scipy import special


@pytest.mark.parametrize("t", [2.0**-20, -(2.0**-12), 0.125, -0.25])
def test_kl_div_beside_equal_numbers(t: float) -> None:
    # p (t - log(1 + t)) with q = p (1 + t), which is exact for these.
    exact = 3 * sum((-t) ** k / k for k in range(2, 60))

    got = special.kl_div(jnp.array(3.0), 3 * (1 + jnp.array(t)))

    np.testing.assert_allclose(got, exact, rtol=5e-7)


def test_derivatives_of_kl_div_beside_equal_numbers() -> None:
    p, q = jnp.array(2.0), jnp.array(2.0 * (1 + 2**-12))

    by_p, by_q = bindax.grad(special.kl_div, (0, 1))(p, q)

    np.testing.assert_allclose(by_p, -np.log1p(2**-12), rtol=1e-6)
    np.testing.assert_allclose(by_q, 2**-12 / (1 + 2**-12), rtol=1e-6)


def test_second_derivatives_of_kl_div_of_equal_numbers() -> None:
    hessian = bindax.hessian(lambda v: special.kl_div(v[0], v[1]))(jnp.array([4.0, 4.0]))

    np.testing.assert_allclose(hessian, [[0.25, -0.25], [-0.25, 0.25]], rtol=1e-6)
