"""Products with a scale for each block, beside NumPy: JAX has them on some processors alone."""

import numpy as np
import pytest
from _calls import operand

import bindax
from bindax import nn

A, B = operand((4, 64), "float32", 1), operand((64, 32), "float32", 2, -100.0, 100.0)
DIMS = (((1,), (0,)), ((), ()))


def test_scaled_matmul():
    a, b = operand((2, 4, 64), "float32", 3), operand((2, 5, 64), "float32", 4)
    s, t = operand((2, 4, 4), "float32", 5), operand((2, 5, 4), "float32", 6)
    wanted = (a * np.repeat(s, 16, 2)) @ (b * np.repeat(t, 16, 2)).swapaxes(1, 2)
    np.testing.assert_allclose(nn.scaled_matmul(a, b, s, t), wanted, rtol=1e-4, atol=1e-4)
    assert nn.scaled_matmul(a, b, s, t, "bfloat16").dtype.name == "bfloat16"


@pytest.mark.parametrize(("mode", "tolerance"), [("mxfp8", 0.05), ("nvfp4", 0.2)])
def test_product_and_derivative_are_near_those_without_rounding(mode, tolerance):
    configs = [nn.get_scaled_dot_general_config(mode)] * 3

    def product(a, b):
        return nn.scaled_dot_general(a, b, DIMS, configs=configs)

    a = operand((32, 64), "float32", 7)
    np.testing.assert_allclose(product(a, B), a @ B, atol=tolerance * abs(a @ B).max())
    weights = operand((32, 32), "float32", 8)
    _, pullback = bindax.vjp(product, a, B)
    d_a, d_b = pullback(weights)
    np.testing.assert_allclose(d_a, weights @ B.T, atol=tolerance * abs(weights @ B.T).max())
    np.testing.assert_allclose(d_b, a.T @ weights, atol=tolerance * abs(a.T @ weights).max())


def test_scales_are_powers_of_two():
    # 448 is the largest float8_e4m3fn: the scale of 896 is 2, which loses nothing.
    a = np.full((1, 32), 896.0, np.float32)
    configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
    out = nn.scaled_dot_general(a, np.eye(32, dtype=np.float32), DIMS, configs=configs)
    np.testing.assert_array_equal(out, a)


def test_batch_axes():
    a, b = operand((64, 2, 4), "float32", 9), operand((2, 64, 5), "float32", 10)
    configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
    out = nn.scaled_dot_general(a, b, (((0,), (1,)), ((1,), (0,))), configs=configs)
    wanted = np.einsum("kbm,bkn->bmn", a, b)
    np.testing.assert_allclose(out, wanted, atol=0.05 * abs(wanted).max())
    plain = nn.scaled_dot_general(a, b, (((0,), (1,)), ((1,), (0,))))
    np.testing.assert_allclose(plain, wanted, rtol=1e-4, atol=1e-4)
