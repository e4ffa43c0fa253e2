"""Functions of arrays without axes, for which NumPy gives scalars: as those of one element."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import bindax_transforms as bt
from bindax import lax
from bindax_lax_basic.elementwise.conversion import convert

FLOAT = np.dtype("float32")

REAL = """
abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos cosh digamma erf erf_inv
erfc exp exp2 expm1 floor is_finite lgamma log log1p logistic neg reciprocal round rsqrt sign sin
sinh sqrt square tan tanh
"""
COMPLEX = """
abs acos acosh asin asinh atan atanh conj cos cosh exp exp2 expm1 imag log log1p logistic neg real
reciprocal rsqrt sign sin sinh sqrt square tan tanh
"""


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in REAL.split() for dtype in ("float16", "float32", "float64")]
    + [(name, dtype) for name in COMPLEX.split() for dtype in ("complex64", "complex128")],
)
def test_like_one_element(name: str, dtype: str) -> None:
    function = getattr(lax, name)
    for value in (0.25, 0.0, -0.5, 2.0):
        scalar = lax.full((), value, dtype)
        with np.errstate(all="ignore"):
            out, expected = function(scalar), function(lax.full((1,), value, dtype))

        assert (out.shape, out.dtype) == ((), expected.dtype)
        np.testing.assert_allclose(out, expected.numpy()[0], rtol=1e-6)


class Choice(enum.IntEnum):
    FIRST = 1
    SECOND = 2


class Length(float):
    """A number with a name."""


def test_numbers_stay_in_programs_what_they_are() -> None:
    x = np.arange(3)
    program = bt.make_jaxpr(lambda: (convert(2, FLOAT, True), convert(x, FLOAT, False)))()
    assert [aval.weak_type for aval in program.out_avals] == [True, False]
    # Numbers alone are converted while the program is traced; arrays are when it runs.
    assert len(program.jaxpr.eqns) == 2
    assert not bt.make_jaxpr(lambda: convert(2, FLOAT, False))().jaxpr.eqns


def test_numbers_of_classes_of_their_own_are_numbers() -> None:
    x = lax.full((2,), 1, np.float32)
    for number in (Choice.SECOND, Length(2.0)):
        for out in (x * number, number * x):
            assert out.dtype == np.float32
            np.testing.assert_array_equal(out, [2, 2])
    assert int(lax.add(Choice.FIRST, Choice.SECOND)) == 3
