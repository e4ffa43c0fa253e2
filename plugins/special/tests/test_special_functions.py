"""Special functions: precision, special values, and what has no derivative."""

import math

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import typeof

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def evaluated():
    """What is tested here are the rules on NumPy arrays, which a compiler would do without."""
    with bx.config.override(backend="numpy"):
        yield


def logarithmic(low, high, count=1500):
    return np.exp(RNG.uniform(low, high, count))


def assert_precise(got, wanted, rtol):
    got, wanted = np.asarray(got), np.asarray(wanted)
    normal = np.abs(wanted) > 1e-290
    np.testing.assert_allclose(got[normal], wanted[normal], rtol=rtol)
    np.testing.assert_allclose(got[~normal], wanted[~normal], atol=1e-289)


@pytest.mark.parametrize(
    ("name", "other", "x", "rtol"),
    [
        ("erf", math.erf, RNG.uniform(-6.5, 6.5, 2000), 1e-15),
        ("erf", math.erf, logarithmic(-600, 3), 1e-15),
        ("erfc", math.erfc, RNG.uniform(-7, 27, 2000), 2e-15),
        ("lgamma", math.lgamma, logarithmic(-600, 600), 4e-15),
        ("lgamma", math.lgamma, RNG.uniform(3, 30, 2000), 4e-15),
    ],
)
def test_precision_beside_the_standard_library(name, other, x, rtol):
    assert_precise(getattr(lax, name)(x), [other(v) for v in x], rtol)


scipy = pytest.importorskip("scipy.special")
ANY = RNG.uniform(-30, 30, 2000)
SMALL_A, SMALL_X = logarithmic(-6, 4), logarithmic(-6, 4)
NEAR = logarithmic(5.4, 9)
NEAR_X = NEAR + np.sqrt(NEAR) * RNG.normal(0, 2, NEAR.size)


@pytest.mark.parametrize(
    ("name", "other", "operands", "rtol"),
    [
        ("erf_inv", "erfinv", [RNG.uniform(-1, 1, 2000)], 2e-15),
        ("erf_inv", "erfinv", [1 - logarithmic(-36, 0)], 2e-15),
        ("digamma", "psi", [logarithmic(-600, 600)], 4e-15),
        ("digamma", "psi", [RNG.uniform(0.2, 12, 2000)], 4e-15),
        ("bessel_i0e", "i0e", [np.concatenate([ANY, logarithmic(-300, 300)])], 3e-15),
        ("bessel_i1e", "i1e", [np.concatenate([ANY, logarithmic(-300, 300)])], 3e-15),
        ("zeta", "zeta", [1 + logarithmic(-10, 5), logarithmic(-4, 8)], 4e-15),
        ("igamma", "gammainc", [SMALL_A, SMALL_X], 2e-13),
        ("igammac", "gammaincc", [SMALL_A, SMALL_X], 2e-13),
        ("igamma", "gammainc", [NEAR, NEAR_X], 2e-13),
        ("igammac", "gammaincc", [NEAR, NEAR_X], 2e-13),
        ("betainc", "betainc", [SMALL_A, SMALL_X, RNG.random(1500)], 2e-13),
    ],
)
def test_precision_beside_scipy(name, other, operands, rtol):
    assert_precise(getattr(lax, name)(*operands), getattr(scipy, other)(*operands), rtol)


def test_precision_of_polygamma():
    m, x = np.floor(RNG.uniform(1, 90, 1500)), logarithmic(-2, 4)
    assert_precise(lax.polygamma(m, x), scipy.polygamma(m.astype(int), x), 5e-14)


def test_closed_forms():
    x = np.linspace(0.1, 30, 200)
    assert_precise(lax.igammac(np.ones_like(x), x), np.exp(-x), 4e-15)
    np.testing.assert_allclose(lax.igammac(0.5, x), lax.erfc(np.sqrt(x)), rtol=2e-14)
    t = x / 31
    np.testing.assert_allclose(
        lax.betainc(0.5, 0.5, t), 2 / np.pi * np.arcsin(np.sqrt(t)), rtol=4e-15
    )
    # d/da of Q(a, x) at a = 1 is exp(-x) log(x) + E1(x) - psi(1) exp(-x).
    slope = np.exp(-x) * (np.log(x) + np.euler_gamma) + scipy.exp1(x)
    np.testing.assert_allclose(lax.igamma_grad_a(np.ones_like(x), x), -slope, rtol=1e-13)
    density = np.exp(-x)
    np.testing.assert_allclose(
        lax.random_gamma_grad(np.ones_like(x), x), slope / density, rtol=1e-13
    )


def test_reflection_far_below_zero():
    x = np.array([-0.5, -20.5, -300.25])
    assert_precise(lax.polygamma(np.ones(3), x) + lax.polygamma(np.ones(3), 1 - x),
                   (np.pi / np.sin(np.pi * x)) ** 2, 1e-12)  # fmt: skip


def test_slopes_agree_where_expansions_meet():
    for a in (199.9, 200.1):
        for x in (140.0, 139.9, 260.1, 259.9, a, a * 1.01):
            h = 1e-4 * a
            up, down = (lax.igamma(np.float64(a + s * h), np.float64(x)) for s in (1, -1))
            slope = lax.igamma_grad_a(np.float64(a), np.float64(x))
            np.testing.assert_allclose(slope, (up - down) / (2 * h), rtol=2e-5)


def compiled(function, *operands):
    with bx.config.override(backend="xla"):
        return bt.jit(function)(*operands)


INF, NAN = np.inf, np.nan
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1, -1, 2, -2, 0.5, -0.5, -1.5, 1e-30, 1e30, -1e30, 30, 100]
UNARY = ["erf", "erf_inv", "erfc", "lgamma", "digamma", "bessel_i0e", "bessel_i1e"]
BINARY = ["polygamma", "zeta", "igamma", "igammac", "igamma_grad_a", "random_gamma_grad"]
FIRST = [0.0, INF, -INF, NAN, 1, -1, 2, 0.5, -2, 1e-30, 50]
GRID = [g.ravel() for g in np.meshgrid(FIRST, SPECIAL)]


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_at_special_values(dtype):
    pytest.importorskip("bindax_xla_backend")
    x = np.array(SPECIAL, dtype)
    pairs = [g.astype(dtype) for g in GRID]
    for names, operands in ((UNARY, [x]), (BINARY, pairs), (["betainc"], [*pairs, pairs[0] / 3])):
        functions = [getattr(lax, name) for name in names]
        fast = compiled(lambda *xs, fs=functions: [f(*xs) for f in fs], *operands)
        for name, f, b in zip(names, functions, fast, strict=True):
            a = f(*operands)
            assert typeof(a) == typeof(b)
            tolerance = {"rtol": 1e-12} if dtype is np.float64 else {"rtol": 1e-5, "atol": 1e-6}
            np.testing.assert_allclose(np.asarray(b), np.asarray(a), **tolerance, err_msg=name)


def by_jax(names, *operands):
    """A function of JAX that gives what functions of some names do."""
    return lambda jax: [getattr(jax.lax, name)(*operands) for name in names]


def test_special_values_are_jaxs(jax_answers):
    x = np.array(SPECIAL)
    for name, wanted in zip(UNARY, jax_answers("unary", by_jax(UNARY, x)), strict=True):
        wanted = np.array(wanted)
        if name == "digamma":
            wanted[x == 0] = -np.inf  # JAX before 0.12: nan
        np.testing.assert_allclose(
            np.asarray(getattr(lax, name)(x)), wanted, rtol=1e-12, err_msg=name
        )
    values = [0.0, NAN, 1, -1, 2, 0.5, -2, 50]
    # At a = 0 and small x JAX gives nan, and at a = 0 and x from 1 on the limit, as here.
    a, b = (g.ravel() for g in np.meshgrid(values[1:], values))
    names = ("igamma", "igammac", "igamma_grad_a")
    for name, wanted in zip(names, jax_answers("gamma", by_jax(names, a, b)), strict=True):
        np.testing.assert_allclose(
            np.asarray(getattr(lax, name)(a, b)), wanted, rtol=1e-9, atol=1e-15, err_msg=name
        )
    a, b = (g.ravel() for g in np.meshgrid(values, values))
    x = np.resize([0.0, 1, 0.5, -0.1, 1.1, NAN, INF], a.size)
    (wanted,) = jax_answers("betainc", by_jax(["betainc"], a, b, x))
    np.testing.assert_allclose(np.asarray(lax.betainc(a, b, x)), wanted, rtol=1e-12)


def test_better_than_jax_at_infinity_and_far_below_zero():
    assert float(lax.zeta(2.0, np.inf)) == 0.0
    assert float(lax.polygamma(1.0, np.inf)) == 0.0
    assert float(lax.igamma(np.inf, 1.0)) == 0.0
    far = np.array([-20.5, -300.5])
    near = sum((far + k) ** -2.0 for k in range(600))
    np.testing.assert_allclose(lax.zeta(np.full(2, 2.0), far), near + lax.zeta(2.0, far + 600))


def test_narrow_floats_are_rounded_once():
    x = np.linspace(0.5, 3, 50).astype(np.float16)
    for name in UNARY:
        wide = np.asarray(getattr(lax, name)(x.astype(np.float64)))
        np.testing.assert_array_equal(np.asarray(getattr(lax, name)(x)), wide.astype(np.float16))


WIDE_RANGE = {
    **{
        name: [np.concatenate([ANY, logarithmic(-80, 80)])] for name in ("bessel_i0e", "bessel_i1e")
    },
    "zeta": [1 + logarithmic(-5, 4, 4000), logarithmic(-4, 8, 4000)],
    **{
        name: [np.concatenate([SMALL_A, NEAR]), np.concatenate([SMALL_X, NEAR_X])]
        for name in ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad")
    },
    "betainc": [SMALL_A, SMALL_X, RNG.random(1500)],
}


def units_off(narrow, wide):
    """How far numbers are from those that they are rounded from, in units of their last digit."""
    limits = np.finfo(narrow.dtype)
    inside = (np.abs(wide) > limits.tiny) & (np.abs(wide) < limits.max)
    assert inside.sum() > 500
    unit = np.spacing(np.abs(wide[inside]).astype(narrow.dtype))
    return (np.abs(narrow[inside] - wide[inside]) / unit).max()


EVALUATED = [(name, "numpy") for name in WIDE_RANGE]
COMPILED = [(name, "xla") for name in WIDE_RANGE if name != "bessel_i1e"]  # the compiler has it


@pytest.mark.every(7)
@pytest.mark.parametrize(("name", "backend"), EVALUATED + COMPILED)
def test_fewer_terms_for_narrow_floats_are_as_good_as_all(name, backend):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
    function = getattr(lax, name)
    operands = [x.astype(np.float32) for x in WIDE_RANGE[name]]
    with bx.config.override(backend=backend):
        narrow = np.asarray(bt.jit(function)(*operands))
        wide = np.asarray(bt.jit(function)(*[x.astype(np.float64) for x in operands]))
    assert narrow.dtype == np.float32
    assert units_off(narrow, wide) < 0.51


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: bt.grad(lambda a: lax.betainc(a, 2.0, 0.5))(2.0), "betainc with respect to a"),
        (lambda: bt.grad(lambda b: lax.betainc(2.0, b, 0.5))(2.0), "betainc with respect to b"),
        (lambda: bt.grad(lambda m: lax.polygamma(m, 2.0))(1.0), "polygamma with respect to m"),
        (lambda: bt.grad(lambda x: lax.zeta(x, 2.0))(2.0), "zeta with respect to x"),
        (lambda: bt.hessian(lambda a: lax.igamma(a, 2.0))(1.0), "igamma_grad_a with respect to a"),
        (lambda: lax.erf(1), "erf does not accept the dtype"),
        (lambda: lax.erf(1j), "erf does not accept the dtype"),
        (lambda: lax.igamma(np.float32(1), np.array(1.0)), "igamma requires.*equal dtypes"),
        (lambda: lax.igamma(np.ones(3), np.ones(2)), "igamma requires.*equal shapes"),
    ],
)
def test_refused(call, text):
    with pytest.raises(TypeError, match=text):
        call()
