"""Derivatives that lose no digits, evaluated and compiled, beside results of higher precision."""

import decimal
import math

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax

BACKENDS = ["numpy", "xla"]


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param == "xla":
        pytest.importorskip("bindax_xla_backend")
    with bx.config.override(backend=request.param):
        yield


def density(a, x):
    """``x^(a - 1) exp(-x) / gamma(a)`` for a whole number ``a``, in 60 digits."""
    with decimal.localcontext(prec=60):
        x = decimal.Decimal(x)
        return float(x ** (a - 1) * (-x).exp() / math.factorial(a - 1))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("function", ["igamma", "igammac"])
def test_slopes_of_incomplete_gamma_functions(function):
    a, x = (v.ravel() for v in np.meshgrid([1, 2, 5, 9, 40, 239, 2000], [0.8, 0.97, 1.0, 1.2]))
    x = a * x
    sign = 1 if function == "igamma" else -1
    got = bt.jit(
        lambda x: bt.jvp(lambda x: getattr(lax, function)(a * 1.0, x), (x,), (np.ones(a.size),))[1]
    )(x)
    wanted = np.array([sign * density(int(n), float(v)) for n, v in zip(a, x, strict=True)])
    # The exponent is rounded: a unit in the last place for each unit of its size.
    units = 4 + np.abs(np.log(np.abs(wanted)))
    assert np.all(np.abs(got - wanted) <= units * np.spacing(np.abs(wanted)))


@pytest.mark.usefixtures("backend")
def test_slopes_of_incomplete_gamma_functions_at_the_edges():
    a = np.array([1.0, 2.0, 3.0, 2.0, -1.0, 2.0])
    x = np.array([0.0, 0.0, 0.0, np.inf, 1.0, -1.0])
    got = bt.jvp(lambda x: lax.igamma(a, x), (x,), (np.ones(6),))[1]
    assert np.array_equal(got, [1.0, 0.0, 0.0, 0.0, np.nan, np.nan], equal_nan=True)


@pytest.mark.usefixtures("backend")
def test_second_derivatives_of_incomplete_gamma_functions():
    def slope(a, x):
        return bt.jvp(lambda x: lax.igamma(a, x), (x,), (1.0,))[1]

    a, x = 239.25, 240.5
    along = bt.jvp(lambda x: slope(a, x), (x,), (1.0,))
    assert np.isclose(along[1], along[0] * ((a - 1) / x - 1), rtol=1e-12, atol=0)
    across = bt.jvp(lambda a: slope(a, x), (a,), (1.0,))
    rate = np.log(x) - np.asarray(lax.digamma(a))
    assert np.isclose(across[1], across[0] * rate, rtol=1e-11, atol=0)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3)])
def test_singular_vectors_turn_precisely(shape):
    rng = np.random.default_rng(0)
    x = np.eye(*shape) * np.arange(10, 10 * shape[1] + 10, 10) + rng.random(shape)
    x, t = x.astype(np.float32), rng.random(shape).astype(np.float32)

    def tangents(x, t):
        values, moved = bt.jvp(lambda x: lax.linalg.svd(x, full_matrices=False), (x,), (t,))
        # Products do not depend on the signs of singular vectors.
        return (*moved[1:2], values[0].T @ moved[0], moved[2] @ values[2].T)

    got = bt.jit(tangents)(x, t)
    with bx.config.override(backend="numpy"):
        wanted = tangents(x.astype(np.float64), t.astype(np.float64))
    for a, b in zip(got, wanted, strict=True):
        assert np.allclose(np.abs(a), np.abs(b), rtol=0, atol=64 * np.finfo(np.float32).eps)


@pytest.mark.usefixtures("backend")
def test_eigenvectors_do_not_turn_along_themselves():
    x = np.diag([1.1, 2.3, 3.7]).astype(np.float32)
    t = np.ones((3, 3), np.float32)
    (v, _), (dv, dw) = bt.jit(lambda x, t: bt.jvp(lax.linalg.eigh, (x,), (t,)))(x, t)
    assert np.allclose(dw, [1, 1, 1], atol=1e-5)
    assert np.allclose(np.diagonal(np.asarray(v).T @ np.asarray(dv)), 0, atol=1e-6)
