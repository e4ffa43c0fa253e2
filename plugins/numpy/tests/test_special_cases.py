"""Values at the edges: no elements, zero divisors, nan, numbers without axes, huge arguments."""

import numpy as np
import pytest

import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.extend import tree_leaves, typeof

NAN, INF = np.nan, np.inf
A = np.arange(4, dtype=np.float32)


def described(x):
    return [(typeof(v), np.asarray(v).tolist()) for v in tree_leaves(x)]


def leaves(x):
    return tree_leaves(x) if isinstance(x, tuple) else [x]


def assert_close(got, wanted):
    for a, b in zip(leaves(got), leaves(wanted), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


# ------------------------------------------------------------------------------ bits and weak types


@pytest.mark.parametrize("x", [0.5, 3, np.float64(0.5), np.int32(3), True])
def test_parts_of_numbers_are_those_of_numpy(x):
    for f, args in (
        ("frexp", (x,)),
        ("ldexp", (x, 3)),
        ("spacing", (x,)),
        ("modf", (x,)),
        ("signbit", (x,)),
        ("copysign", (x, -2)),
        ("nextafter", (x, 7)),
    ):
        got = getattr(jnp, f)(*args)
        dtype = typeof(tree_leaves(got)[0]).dtype
        wide = [np.asarray(a).astype(dtype) if f not in ("ldexp", "signbit") else a for a in args]
        assert_close(got, getattr(np, f)(*wide))
        if not isinstance(x, np.generic):
            assert described(bt.jit(getattr(jnp, f))(*args)) == described(got), f


def test_powers_of_python_numbers_yield_to_arrays():
    for x in (0.9 ** jnp.int32(3), 0.5 ** jnp.arange(3), jnp.power(0.5, jnp.arange(3))):
        assert typeof(x).weak_type
        assert (jnp.ones(3) * x).dtype == np.float32
        assert (jnp.ones(3, "float16") * x).dtype == np.float16
    assert typeof(bt.jit(lambda n: 0.9**n)(np.int32(3))).weak_type
    assert_close(0.5 ** jnp.arange(3), [1, 0.5, 0.25])
    assert not typeof(2 ** jnp.arange(3)).weak_type
    assert typeof(jnp.ones(2) ** jnp.arange(2)).dtype == np.float32
    assert not typeof(jnp.ones(2) ** jnp.arange(2)).weak_type


# ------------------------------------------------------------------------------------- values

CASES = {
    "setxor1d(array([1., 3.]), array([1., NAN]))": [3.0, NAN],
    "setxor1d(array([1., 3., NAN]), array([1., NAN]))": [3.0, NAN, NAN],
    "setxor1d(array([1., 3., 3.]), array([1., 2.]), assume_unique=True)": [2.0],
    "setxor1d(array([3., 1.]), array([1., 2.]), assume_unique=True)": [2.0, 3.0],
    "setxor1d(array([]), array([]))": [],
    "setxor1d(array([]), array([2., 1.]), assume_unique=True)": [1.0, 2.0],
    "setdiff1d(array([3., 1., NAN]), array([1., NAN]))": [3.0, NAN],
    "intersect1d(array([3., 1., NAN]), array([1., NAN]))": [1.0],
    "intersect1d(array([3., 1.]), array([1., 3.]), assume_unique=True)": [1.0, 3.0],
    "union1d(array([NAN, 1.]), array([NAN]))": [1.0, NAN],
    "var(ones(3), ddof=5)": NAN,
    "var(ones(3), ddof=3)": NAN,
    "std(arange(3.), ddof=5)": NAN,
    "nanvar(arange(3.), ddof=5)": NAN,
    "nanstd(array([NAN, NAN]))": NAN,
    "var(array([]), ddof=1)": NAN,
    "var(arange(4.), where=array([True, True, False, False]))": 0.25,
    "cov(zeros((2, 0)))": [[NAN, NAN], [NAN, NAN]],
    "remainder(5, 0)": 0,
    "remainder(int32(-5), int32(0))": 0,
    "remainder(uint8(5), uint8(0))": 0,
    "array([5, -5]) % 0": [0, 0],
    "divmod(array([5, -5]), 0)[0]": [-2, -2],
    "array([5, -5, 5, -5]) // array([3, 3, -3, -3])": [1, -2, -2, 1],
    "fmod(array([5, -5]), 0)": [0, 0],
    "lcm(array([100, -127, 6, 0], 'int8'), array([99, 3, 4, 0], 'int8'))": [-84, 125, 12, 0],
    "log10(0j).imag": 0,
    "log2(array([0j, 8]))": [-INF, 3],
    "spacing(array([0, -0.0, 1, -1, INF]))": [1.4e-45, -1.4e-45, 2**-23, -(2**-23), NAN],
    "trapezoid(arange(4.), dx=array([1., 2., 3.]))": 11.0,
    "trapezoid(ones((4, 2)), dx=array([[1.], [2.], [3.]]), axis=0)": [6.0, 6.0],
    "trapezoid(ones((4, 3)), dx=array([1., 2., 3.]), axis=0)": [3.0, 6.0, 9.0],
    "trapezoid(ones((4, 2)), array([0., 1., 3., 6.]), axis=0)": [6.0, 6.0],
    "diff(arange(4.), n=2**40)": [],
    "diff(arange(4.), n=4)": [],
    "diff(arange(0.), n=1)": [],
    "quantile(arange(4.), 1.5)": 3.0,
    "quantile(arange(4.), NAN)": NAN,
    "nanquantile(array([1.0, NAN, 2.0]), array([1.5, -0.5]))": [2.0, 1.0],
    "sinc(array([1e30, INF]))[0] < 1": True,
}


NAMES = {**vars(jnp), "NAN": NAN, "INF": INF, "uint8": np.uint8, "int32": np.int32}


@pytest.mark.parametrize("call", CASES)
def test_values(call):
    got, wanted = (np.asarray(x).astype(complex) for x in (eval(call, NAMES), CASES[call]))
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-46)


@pytest.mark.parametrize("shape", [(2,), (), (7, 5)])
def test_results_along_an_axis_take_its_place(shape):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

    def f(v):
        return jnp.zeros(shape) + v[0] - 2 * v[-1]

    def g(v):
        return np.zeros(shape) + v[0] - 2 * v[-1]

    for axis in (0, 1, 2, -1):
        assert_close(jnp.apply_along_axis(f, axis, x), np.apply_along_axis(g, axis, x))


def test_what_does_not_count_has_no_derivative():
    x = np.array([1.0, NAN, 3.0], np.float32)
    assert_close(bt.grad(jnp.nanvar)(x), [-1, 0, 1])
    assert_close(bt.grad(jnp.nanstd)(x), [-0.5, 0, 0.5])
    assert_close(bt.grad(jnp.nanmean)(x), [0.5, 0, 0.5])
    nothing = np.full(3, NAN, np.float32)
    assert_close(bt.grad(jnp.nanstd)(nothing), [0, 0, 0])
    assert_close(bt.grad(lambda v: jnp.nanvar(v, ddof=1))(np.array([1, NAN, NAN])), [0, 0, 0])


def test_fits_of_several_columns_share_their_unscaled_covariance():
    y = np.array([[1.0, 3], [2, 5], [4, 1], [1, 1], [0, 2]], np.float32)
    wanted = np.polyfit(np.arange(5.0), y[:, 0], 1, cov="unscaled")[1]
    got = jnp.polyfit(np.arange(5.0), y, 1, cov="unscaled")[1]
    assert_close(got, wanted[:, :, None])


def test_orders_of_differences_are_one_integer():
    with pytest.raises(TypeError, match=r"diff takes one integer for n, but got \(2,\)"):
        jnp.diff(A, n=(2,))
