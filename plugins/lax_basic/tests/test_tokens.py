"""Tokens, and the accuracy that programs ask for."""

import numpy as np
import pytest

import bindax
import bindax_lax_basic as lax


def test_tokens():
    join = lambda: lax.after_all(lax.create_token(), lax.create_token(3))  # noqa: E731
    for call in (join, bindax.jit(join), lax.after_all):
        token = call()
        assert (token.shape, token.dtype) == ((0,), np.bool_)
    with pytest.raises(TypeError, match=r"after_all takes tokens, .*, but got float64\[\]"):
        lax.after_all(1.0)


@pytest.mark.parametrize(
    "name",
    [
        "cbrt",
        "cos",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "logistic",
        "rsqrt",
        "sin",
        "sqrt",
        "tan",
        "tanh",
    ],
)
def test_accuracy(name):
    function = getattr(lax, name)
    for accuracy in (*lax.AccuracyMode, lax.Tolerance(atol=1e-3), lax.Tolerance(ulps=2), None):
        assert float(function(0.5, accuracy)) == float(function(0.5))
    with pytest.raises(TypeError, match=f"{name}: accuracy must be an AccuracyMode, a Tolerance"):
        function(0.5, accuracy="high")


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({}, "one of atol, rtol and ulps must be given, above zero"),
        ({"atol": -1.0}, "has a bound that is negative or no number"),
        ({"rtol": np.nan}, "has a bound that is negative or no number"),
    ],
)
def test_bad_tolerances(bounds, text):
    with pytest.raises(ValueError, match=text):
        lax.Tolerance(**bounds)
