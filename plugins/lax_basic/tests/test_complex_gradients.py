"""Real functions of complex numbers: ``grad`` gives what JAX gives, the conjugate of the slope."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
import bindax_transforms

Z = np.array([0.5 + 0.25j, -1.0 + 2.0j, 3.0 - 0.5j], np.complex64)


def squares(lax: Any, z: Any) -> Any:
    return lax.real(lax.mul(z, lax.conj(z)))


def real_part(lax: Any, z: Any) -> Any:
    return lax.real(lax.mul(z, lax.sin(z)))


@pytest.mark.parametrize("function", [squares, real_part])
def test_like_jax(function: Any, jax_answers: Any) -> None:
    def total(lax: Any) -> Any:
        return lambda z: lax.reduce_sum(function(lax, z), (0,))

    value, slope = bindax_transforms.value_and_grad(total(lax))(Z)
    (expected_value, expected), jacobian = jax_answers(
        "both",
        lambda jax: (
            jax.value_and_grad(total(jax.lax))(Z),
            jax.jacrev(lambda z: function(jax.lax, z))(Z),
        ),
        x64=False,
    )
    # Terms larger than one cancel in the sum: their rounding is that of the terms.
    np.testing.assert_allclose(value, expected_value, rtol=1e-6, atol=5e-7)
    np.testing.assert_allclose(slope, expected, rtol=1e-6)
    assert slope.dtype == np.complex64
    np.testing.assert_allclose(
        bindax_transforms.jacrev(lambda z: function(lax, z))(Z),
        jacobian,
        rtol=1e-6,
    )


def test_by_real_and_imaginary_part() -> None:
    def of_parts(x: Any, y: Any) -> Any:
        return real_part(lax, lax.complex(x, y)).sum()

    along_x, along_y = bindax_transforms.grad(of_parts, (0, 1))(Z.real.copy(), Z.imag.copy())

    slope = bindax_transforms.grad(lambda z: real_part(lax, z).sum())(Z)
    np.testing.assert_allclose(lax.real(slope), along_x, rtol=1e-6)
    np.testing.assert_allclose(lax.imag(slope), -along_y.numpy(), rtol=1e-6)
