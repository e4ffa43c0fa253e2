"""Formulas that are rounded where the compiler rounds them.

A compiled program rounds the sum of a product once. Numbers of the normal distribution, which are
quantiles of uniform ones, it computes in the dtype that is drawn, by the polynomials of M. Giles,
*Approximating the erfinv function*, GPU Computing Gems, 2011. Evaluation does the same, so that a
key gives the same numbers without a compiler, but for the last digits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive, rules
from bindax_lax_basic import erf_inv, exp, full_like, square
from bindax_lax_basic.extend import FLOAT, composition, elementwise, nonlinear, partials

NumPyArray = np.ndarray[Any, Any]

_CENTER = np.array(
    [
        2.81022636e-08,
        3.43273939e-07,
        -3.5233877e-06,
        -4.39150654e-06,
        0.00021858087,
        -0.00125372503,
        -0.00417768164,
        0.246640727,
        1.50140941,
    ],
    np.float32,
)
_TAILS = np.array(
    [
        -0.000200214257,
        0.000100950558,
        0.00134934322,
        -0.00367342844,
        0.00573950773,
        -0.0076224613,
        0.00943887047,
        1.00167406,
        2.83297682,
    ],
    np.float32,
)


def quantile(x: Any) -> Array:
    """Elementwise inverse of the error function.

    Args:
        x: floats from -1 to 1.

    >>> quantile(np.array([-0.5, 0.0, 1.0], np.float32)).round(4)
    Array([-0.4769,  0.    ,     inf], dtype=float32)
    """
    return quantile_p.bind(x)


def _impl(x: NumPyArray) -> NumPyArray:
    if x.dtype != np.float32:
        return erf_inv(x).numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        w = -np.log1p(-(x * x))
        center = w < 5
        w = np.where(center, w - np.float32(2.5), np.sqrt(w) - np.float32(3))
        out = np.where(center, _CENTER[0], _TAILS[0])
        for near, far in zip(_CENTER[1:], _TAILS[1:], strict=True):
            out = _multiply_add_impl(out, w, np.where(center, near, far))
        return np.where(np.abs(x) == 1, x * np.float32(np.inf), out * x)


quantile_p: Primitive = primitive(
    "random.quantile",
    *elementwise("random.quantile", _impl, FLOAT),
    *nonlinear("chlo.erf_inv", lambda x, y: exp(square(y)) * (math.pi**0.5 / 2)),
)
"""Operand: floats from -1 to 1."""


def multiply_add(x: Any, y: Any, z: Any) -> Array:
    """Elementwise ``x * y + z``, rounded once.

    >>> multiply_add(np.float32(2), np.float32(3), np.float32(1))
    Array(7., dtype=float32)
    """
    return multiply_add_p.bind(x, y, z)


def _multiply_add_impl(x: NumPyArray, y: NumPyArray, z: NumPyArray) -> NumPyArray:
    if x.dtype != np.float32:
        return x * y + z
    return (x.astype(np.float64) * y + z).astype(np.float32)


multiply_add_p: Primitive = primitive(
    "random.multiply_add",
    *elementwise("random.multiply_add", _multiply_add_impl, FLOAT, FLOAT, FLOAT),
    partials(
        lambda x, y, z, out: y,
        lambda x, y, z, out: x,
        lambda x, y, z, out: full_like(z, 1),
    ),
    rules.transpose.absent("it is not linear; its derivative is made of products and sums"),
    rules.lowering["stablehlo"](composition(lambda x, y, z: x * y + z)),
)
"""Operands: two factors and a term."""
