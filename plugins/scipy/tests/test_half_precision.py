"""Functions that compute with complex numbers, of operands with half precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.scipy import special

REAL = [
    special.dawsn,
    lambda x: special.fresnel(x)[0],
    lambda x: special.fresnel(x)[1],
    lambda x: special.sici(x)[1],
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", REAL)
def test_results_are_those_of_single_precision_rounded(function: Any, dtype: str) -> None:
    x = jnp.array([0.25, 1.5, 3.0], dtype)

    got = function(x)

    assert got.dtype == x.dtype
    assert (got == function(x.astype("float32")).astype(dtype)).all()
    assert (bindax.jit(function)(x) == got).all()


@pytest.mark.parametrize("function", REAL)
def test_derivatives_are_those_of_single_precision(function: Any) -> None:
    got = bindax.grad(function)(jnp.array(1.5, "bfloat16"))

    assert got.dtype == "bfloat16"
    np.testing.assert_allclose(float(got), bindax.grad(function)(1.5), rtol=0.01)


def test_the_function_of_faddeeva_is_complex_in_single_precision() -> None:
    got = special.wofz(jnp.array([0.5], "float16"))

    assert got.dtype == np.complex64
    assert (got == special.wofz(jnp.array([0.5], "float32"))).all()
