"""Values at the edges: no elements, zero divisors, nan, numbers without axes, huge arguments."""

import copy

import numpy as np
import pytest

import bindax_core as bx
import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.errors import ConcretizationTypeError
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
    "trapezoid(arange(4.0), dx=array([[2.0]]))": [9.0],
    "vander(array([2], int8), 300)[0, -9:-6]": [0, -128, 64],
    "polyint(array([2.0, 6.0]), 3, k=array([1.0, 2.0, 3.0]))": [1 / 12, 1, 0.5, 2, 3],
    "trapezoid(ones((4, 2)), array([0., 1., 3., 6.]), axis=0)": [6.0, 6.0],
    "diff(arange(4.), n=2**40)": [],
    "diff(arange(4.), n=4)": [],
    "diff(arange(0.), n=1)": [],
    "quantile(arange(4.), 1.5)": 3.0,
    "quantile(arange(4.), NAN)": NAN,
    "nanquantile(array([1.0, NAN, 2.0]), array([1.5, -0.5]))": [2.0, 1.0],
    "sinc(array([1e30, INF]))[0] < 1": True,
    "roots(array([0.0, 0, 1, -3, 2]), strip_zeros=False)": [1, 2, NAN + NAN * 1j, NAN + NAN * 1j],
    "roots(zeros(2), strip_zeros=False)": [NAN + NAN * 1j],
    "prod(array([2, 1]), initial=2.5)": 4,
    "sum(array([2, 1]), initial=float32(2.5))": 5,
    "nansum(array([True, False]), initial=2.5)": 3,
    "sum(array([1.0]), initial=2 + 1j)": 3,
    "max(array([1], int8), initial=300)": 44,
    "bitwise_or.reduce(array([2, 1]), initial=4.5)": 7,
    "average(array([INF, 1.0]), weights=array([False, True]))": 1,
}


NAMES = {**vars(jnp), "NAN": NAN, "INF": INF, "uint8": np.uint8, "int32": np.int32, "int8": np.int8}


@pytest.mark.parametrize("call", CASES)
def test_values(call):
    got, wanted = (np.asarray(x).astype(complex) for x in (eval(call, NAMES), CASES[call]))
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-46)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_determinants_of_empty_stacks_have_derivatives(shape):
    slope = bt.grad(lambda x: jnp.linalg.det(x).sum())
    assert slope(np.zeros(shape, np.float32)).shape == shape


def test_logaddexp2_is_weak_where_all_numbers_are():
    for x, weak in ((np.int8(1), False), (1, True), (True, True), (jnp.array(1.0), True)):
        assert typeof(jnp.logaddexp2(x, 2.0)).weak_type is weak
    assert not typeof(jnp.logaddexp2(np.ones(2, np.int8), 2.0)).weak_type


def test_the_derivative_of_logaddexp_is_nan_where_it_is():
    slope = bt.grad(jnp.logaddexp, argnums=(0, 1))
    for x, y in ((NAN, 1.0), (1.0, NAN), (NAN, INF)):
        assert np.isnan(slope(x, y)).all()
    np.testing.assert_allclose(slope(INF, INF), 1.0)
    whole = bt.vmap(bt.grad(lambda x: jnp.logaddexp(x + 0j, 1.0).real))(np.array([NAN, 1.0]))
    np.testing.assert_allclose(whole, [NAN, 0.5])


@pytest.mark.parametrize("part", [0.5, np.float32(0.5), np.full(2, 0.5)])
def test_quantiles_are_as_wide_as_the_array(part):
    for f in (jnp.quantile, jnp.nanquantile, jnp.percentile, jnp.nanpercentile):
        assert f(np.ones(3, np.float16), part).dtype == np.float16
        assert f(np.ones(3, np.int32), part).dtype == np.float32


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


# ------------------------------------------------------------------- traced numbers and structures


def test_traced_numbers_where_shapes_do_not_depend_on_them():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for f, arg, wanted in (
        (lambda k: jnp.eye(3, k=k), 1, np.eye(3, k=1)),
        (lambda k: jnp.tri(2, 3, k), -1, np.tri(2, 3, -1)),
        (lambda k: jnp.tril(x, k), 1, np.tril(x, 1)),
        (lambda k: jnp.trace(x, k), 1, np.trace(x, 1)),
        (lambda k: jnp.trace(np.array([[1.0, np.inf], [2.0, 3.0]]), k), 0, 4.0),
        (lambda k: jnp.linalg.lstsq(x, A[:2], k)[2], np.float32(0.5), 1),
        (lambda k: jnp.linalg.lstsq(x, A[:2], k)[2], -1, 2),
        (lambda i: jnp.insert(A, i, 5), 1, np.insert(A, 1, 5)),
        (lambda i: jnp.insert(A, i, 5), np.array([3, -1, 0]), np.insert(A, [3, -1, 0], 5)),
        (lambda i: jnp.insert(x, i, A[:2], axis=1), 2, np.insert(x, 2, A[:2], axis=1)),
        (lambda i: jnp.asarray(x)[:, [0, i]], 2, x[:, [0, 2]]),
        (lambda i: jnp.unravel_index(i, (2, 3))[1], 4, 1),
        (lambda r: jnp.repeat(A, r, total_repeat_length=6), 2, np.repeat(A, 2)[:6]),
        (
            lambda r: jnp.repeat(x, r, axis=1, total_repeat_length=4),
            np.array([1, 0, 2]),
            x[:, [0, 2, 2, 2]],
        ),
    ):
        assert_close(bt.jit(f, backend="numpy")(arg), wanted)
        assert_close(f(arg), wanted)


@pytest.mark.parametrize(
    ("f", "argument"),
    [
        (lambda x: jnp.repeat(A, x), "repeat: the size .* total_repeat_length"),
        (lambda x: jnp.delete(A, x), "delete: obj must be known .*assume_unique_indices"),
        (lambda x: jnp.trim_zeros(x), "trim_zeros: filt must be known while tracing"),
        (lambda x: jnp.choose(x, [A] * 4), "choose: a must be known while tracing.* mode='clip'"),
        (lambda x: jnp.ravel_multi_index((x,), (3,)), "multi_index must be known while tracing"),
    ],
)
def test_what_must_be_known_says_so(f, argument):
    with pytest.raises(ConcretizationTypeError, match=argument):
        bt.jit(f)(np.arange(4))


class Column:
    def __jax_array__(self):
        return jnp.arange(3)


def test_objects_with_arrays_are_operands_of_operators_and_creation():
    for made in (
        jnp.asarray(Column()),
        jnp.array([Column()])[0],
        jnp.stack([Column()])[0],
        jnp.zeros(3) + Column(),
        Column() + jnp.zeros(3),
    ):
        assert_close(made, [0, 1, 2])
    if_bytes = jnp.asarray(bytearray(b"ab"))
    assert_close(if_bytes, [97, 98])


def test_arrays_of_jax_are_operands_of_creation():
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(3)
    for made in (jnp.asarray(theirs), jnp.array(theirs), jnp.array([theirs, theirs])[1]):
        assert isinstance(made, bx.Array)
        assert_close(made, [0, 1, 2])
    assert_close(np.from_dlpack(jnp.arange(3)), [0, 1, 2])
    assert_close(jnp.from_dlpack(theirs), [0, 1, 2])


def test_types_and_lists_have_shapes_and_dtypes():
    struct = bx.ShapeDtypeStruct((2, 3), np.dtype("float16"))
    for x in (struct, np.zeros((2, 3)), [[1, 2, 3], [4, 5, 6]]):
        assert (jnp.shape(x), jnp.ndim(x), jnp.size(x), jnp.size(x, (0, 1))) == ((2, 3), 2, 6, 6)
    assert jnp.result_type(struct) == np.float16
    assert jnp.result_type(struct, np.float32) == np.float32
    assert jnp.iscomplexobj([1, 2j])
    assert jnp.iscomplexobj(jnp.complex64)
    assert not jnp.iscomplexobj(None)
    assert jnp.array_equal([1, 2], [1, 2])
    assert jnp.array_equiv([1, 2], [[1, 2]])


def test_arrays_and_dtypes_have_classes():
    seen = []
    bt.jit(lambda x: seen.append(isinstance(x, jnp.ndarray)) or x)(1.0)
    assert seen == [True]
    assert isinstance(jnp.zeros(1), jnp.ndarray)
    assert not isinstance(np.zeros(1), jnp.ndarray)
    assert isinstance(jnp.zeros(1).dtype, jnp.dtype)
    assert isinstance(np.dtype("int8"), jnp.dtype | None)
    assert not isinstance(3, jnp.dtype)


def test_complex_numbers_have_an_order():
    x, y = jnp.array([1 + 2j, 1 + 1j, 2]), jnp.array([1 + 3j, 0, 2])
    for name in ("less", "less_equal", "greater", "greater_equal"):
        assert_close(getattr(jnp, name)(x, y), getattr(np, name)(np.asarray(x), np.asarray(y)))
    assert_close(x >= 1.0, [True, True, True])


def test_operators_of_python():
    assert_close(abs(jnp.array([1, 2], "uint8")), [1, 2])
    assert_close(abs(jnp.array([True, False])), [True, False])
    assert_close(round(jnp.array([1.25, -3.75]), 1), [1.2, -3.8])
    assert_close(round(jnp.array([15.0, 25.0]), -1), [20, 20])
    assert_close(round(jnp.array([1.25 + 2.35j]), 1), [1.2 + 2.4j])
    assert_close(round(jnp.array([15]), 1), [15])


def test_booleans_are_summed_where_asked_for():
    x = np.array([[0, 1, 2], [0, 0, 0]])
    for name in ("sum", "prod", "cumsum", "cumprod"):
        got = getattr(jnp, name)(x, axis=1, dtype=bool)
        assert typeof(got).dtype == np.bool_
        assert_close(got, getattr(np, name)(x, axis=1, dtype=bool))


def test_norms_of_nothing():
    nothing, empty = jnp.zeros(0), jnp.zeros((0, 3))
    for order in (1, 2, INF, None):
        assert jnp.linalg.norm(nothing, order) == 0
    for order in (1, 2, INF, "nuc", "fro"):
        assert jnp.linalg.norm(empty, order) == 0
    assert jnp.linalg.vector_norm(nothing, ord=INF) == 0
    assert jnp.ones((2, 2))[jnp.zeros((0, 0), bool)].shape == (0,)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 3), (4, 1), (0, 2), (2, 4, 3)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_raw_decompositions_are_those_of_lapack(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape) + 0j
    x = x + 1j * np.random.default_rng(1).normal(size=shape)
    x = (x if dtype == "complex128" else x.real).astype(dtype)
    got = jnp.linalg.qr(x, mode="raw")
    for a, b in zip(got, np.linalg.qr(x, mode="raw"), strict=True):
        assert_close(a, b)


def test_programs_of_raw_decompositions_do_not_grow_with_the_columns():
    def raw(x):
        return tuple(jnp.linalg.qr(x, mode="raw"))

    rng = np.random.default_rng(0)
    x, t, small = rng.normal(size=(5, 4)), rng.normal(size=(5, 4)), 1e-6
    lengths = {len(bt.make_jaxpr(raw)(y).jaxpr.eqns) for y in (x, x[:, :2], x[:3])}
    assert len(lengths) == 1
    _, tangents = bt.jvp(raw, (x,), (t,))
    for found, after, before in zip(tangents, raw(x + small * t), raw(x - small * t), strict=True):
        np.testing.assert_allclose(found, (after - before) / (2 * small), rtol=1e-4, atol=1e-6)


def test_copies_have_bytes_of_their_own():
    for copied in (
        jnp.array,
        jnp.copy,
        lambda x: jnp.asarray(x, copy=True),
        lambda x: x.copy(),
        lambda x: x.astype("float32", copy=True),
        copy.copy,
        copy.deepcopy,
    ):
        for x in (jnp.arange(3.0), bt.jit(lambda v: v + 0)(np.arange(3, dtype=np.float32))):
            y = copied(x)
            y.delete()
            assert_close(x, [0, 1, 2])
            z = copied(x)
            x.delete()
            assert_close(z, [0, 1, 2])
    x = jnp.arange(3.0)
    assert jnp.asarray(x, copy=False) is x
    with pytest.raises(ValueError, match=r"asarray: .* needs a copy"):
        jnp.asarray(np.arange(3), copy=False)


def test_an_array_made_of_a_number_is_given_away_alone():
    for make in (jnp.array, jnp.asarray, lambda x: jnp.full((), x), jnp.positive, jnp.squeeze):
        kept = jnp.array(2.5)
        make(2.5).delete()
        assert_close(kept, 2.5)
        assert_close(make(2.5), 2.5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jnp.sum(A, where=A), ValueError, r"sum: where must be None or booleans"),
        (lambda: jnp.nanmean(A, where=A), ValueError, r"nanmean: where must be None or boo"),
        (lambda: jnp.max(A, initial=A), ValueError, r"max: initial must be a scalar"),
        (lambda: jnp.nansum(A, initial=A), ValueError, r"nansum: initial must be a scalar"),
        (lambda: jnp.arange(3j), ValueError, "arange takes real numbers"),
        (lambda: jnp.take(A[:0], np.array([0])), IndexError, "take: there is nothing to take"),
        (lambda: jnp.concatenate({"a": A}), TypeError, r"takes a sequence of arrays, but got \{"),
        (lambda: jnp.stack("ab"), TypeError, "takes a sequence of arrays, but got 'ab'"),
        (lambda: jnp.from_dlpack(None), TypeError, "from_dlpack takes an array with __dlpack__"),
        (
            lambda: jnp.asarray(np.ma.array([1])),
            ValueError,
            "asarray: (?s:.*) Its mask would be ignored",
        ),
        (lambda: jnp.ones(2, device="cpu"), ValueError, "ones: device must be one of .*'cpu'"),
        (lambda: jnp.vectorize(abs, signature=["()->()"]), TypeError, r"a text such as"),
        (lambda: jnp.vectorize(jnp.ravel, signature="(n)->(n,m)")(A), ValueError, "1.* axes"),
        (
            lambda: jnp.vectorize(lambda v: v[:2], signature="(n)->(n)")(A),
            ValueError,
            r"shape \(2,\), whose axis 'n' has the size 2, but it is 4",
        ),
        (lambda: jnp.nanstd(A, 3), ValueError, "nanstd: axis 3"),
        (lambda: jnp.nanstd("a"), TypeError, "nanstd takes arrays"),
        (lambda: jnp.ptp(A, 3), ValueError, "ptp: axis 3"),
        (lambda: jnp.std(A, 3), ValueError, "std: axis 3"),
        (lambda: jnp.count_nonzero(A, 3), ValueError, "count_nonzero: axis 3"),
        (lambda: jnp.average(A, 3), ValueError, "average: axis 3"),
        (lambda: jnp.polymul("a", A), TypeError, "polymul takes"),
        (lambda: jnp.sin([1]), TypeError, r"with bindax\.numpy\.asarray"),
    ],
)
def test_errors_name_what_was_called(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_arrays_of_words_have_a_shape():
    words = np.array([["a", "b"]])
    assert (jnp.shape(words), jnp.ndim(words), jnp.size(words, 1)) == ((1, 2), 2, 2)
    assert (jnp.shape(None), jnp.ndim(None), jnp.size(None)) == ((), 0, 1)


@pytest.mark.parametrize("name", ["hypot", "heaviside", "copysign"])
def test_results_are_weak_where_all_operands_are(name):
    function = getattr(jnp, name)
    for run in (function, bt.jit(function)):
        assert run(3.0, 4.0).weak_type
        mixed = run(1.0, np.ones(1, np.float16))
        assert (mixed.dtype, mixed.weak_type) == (np.float16, False)


def test_frexp_of_numbers_that_compiled_programs_take_for_zero():
    x = jnp.array([1e-39, 0.1], jnp.bfloat16)
    for run in (jnp.frexp, bt.jit(jnp.frexp)):
        fraction, exponent = run(x)
        numbers = np.asarray(fraction).astype(float) * 2.0 ** np.asarray(exponent)
        assert numbers[1] == float(x[1])
        assert (numbers[0] == float(x[0])) or (float(fraction[0]), int(exponent[0])) == (0, 0)
