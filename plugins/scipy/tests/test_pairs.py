"""Sums of two floats beside exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

import bindax
from bindax_scipy._pairs import add, divide, multiply, two_product, two_sum


def exact(pair):
    return sum(Fraction(float(x)) for x in pair)


@pytest.mark.parametrize("transform", [lambda f: f, bindax.jit])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_have_twice_the_digits(dtype, transform):
    x, y = (dtype(1) / dtype(k) for k in (3, 7))
    bits = 2 * (np.finfo(dtype).nmant - 2)
    p, q = Fraction(float(x)), Fraction(float(y))

    assert exact(transform(two_sum)(x, y)) == p + q
    assert exact(transform(two_product)(x, y)) == p * q
    square = transform(lambda x, y: multiply(two_product(x, y), two_sum(x, y)))(x, y)
    assert abs(exact(square) / (p * q * (p + q)) - 1) < Fraction(1, 2**bits)
    rest = transform(lambda x, y: add(two_product(x, y), divide((x, 0 * x), (y, 0 * y))))(x, y)
    assert abs(exact(rest) / (p * q + p / q) - 1) < Fraction(1, 2**bits)
