"""Families of functions beside NumPy: sizes that depend on values, edges, errors, what is there."""

import inspect

import numpy as np
import pytest

import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.errors import ConcretizationTypeError

A = np.arange(6, dtype=np.float32).reshape(2, 3)
V = np.array([3, 1, 2], np.float32)
I = np.array([0, 2, 0, 5, 2], np.int32)
M = np.array([[2.0, 1.0], [1.0, 3.0]], np.float32)


def assert_equal(got, wanted):
    if isinstance(wanted, (list, tuple)):
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            assert_equal(a, b)
        return
    assert np.shape(got) == np.shape(wanted)
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-6, atol=1e-6)


# -------------------------------------------------------------------- sizes that depend on values


def test_results_are_as_long_as_values_say_where_those_are_known():
    assert_equal(jnp.nonzero(I), np.nonzero(I))
    assert_equal(jnp.nonzero(A > 2), np.nonzero(A > 2))
    assert_equal(jnp.where(A > 2), np.where(A > 2))
    assert_equal(jnp.argwhere(A > 2), np.argwhere(A > 2))
    assert_equal(jnp.argwhere(np.float32(3)), np.argwhere(np.float32(3)))
    assert_equal(jnp.flatnonzero(A), np.flatnonzero(A))
    assert_equal(jnp.extract(A > 2, A), np.extract(A > 2, A))
    assert_equal(jnp.compress(V > 1, A, 1), np.compress(V > 1, A, 1))
    assert_equal(jnp.unique(I), np.unique(I))
    assert_equal(
        jnp.unique(I, True, True, True),
        np.unique(I, return_index=True, return_inverse=True, return_counts=True),
    )
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        assert_equal(getattr(jnp, name)(I, I[:1]), getattr(np, name)(I, I[:1]))
        assert_equal(getattr(jnp, name)(I, I[:0]), getattr(np, name)(I, I[:0]))
    assert_equal(jnp.bincount(I), np.bincount(I))
    assert_equal(jnp.bincount(I[:0], minlength=2), np.bincount(I[:0], minlength=2))
    assert_equal(jnp.trim_zeros(I), np.trim_zeros(I))
    assert_equal(jnp.trim_zeros(I[:1]), np.trim_zeros(I[:1]))
    assert_equal(jnp.roots(np.array([0.0, 1, -1, 0])), np.roots([0, 1, -1, 0]))
    assert_equal(jnp.polymul(I, I, trim_leading_zeros=True), np.polymul(I, I))
    assert_equal(jnp.mask_indices(3, np.tril), np.mask_indices(3, np.tril))


def test_derivatives_know_the_values_of_what_they_choose():
    def f(x):
        return jnp.sum(jnp.extract(x > 1, x) ** 2) + jnp.sum(jnp.unique(x))

    assert_equal(bt.grad(f)(V), [7.0, 1.0, 5.0])


NEWER = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.2.0",
    reason="this NumPy, the reference, has it not yet",
)


@pytest.mark.parametrize(
    ("name", "f", "argument"),
    [
        ("nonzero", jnp.nonzero, "size"),
        ("argwhere", lambda x: jnp.argwhere(x[0]), "size"),
        ("unique", jnp.unique, "size"),
        ("flatnonzero", jnp.flatnonzero, "size"),
        ("compress", lambda x: jnp.compress(jnp.ravel(x) > 1, x), "size"),
        ("setdiff1d", lambda x: jnp.setdiff1d(x, x), "size"),
        ("bincount", lambda x: jnp.bincount(jnp.ravel(x).astype("int32")), "length"),
    ],
)
def test_traced_values_need_a_size(name, f, argument):
    for transformed in (bt.jit(f), bt.vmap(f)):
        with pytest.raises(ConcretizationTypeError, match=f"{name}: how many .* with {argument}"):
            transformed(np.stack([V, V]))


# ------------------------------------------------------------------------ what JAX does not have


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("delete", (A, [0, -1], 1)),
        ("delete", (A, [], 1)),
        ("insert", (A, [0, 2], 5.0, 1)),
        ("insert", (A, [1], np.ones((2, 2)), 1)),
        ("insert", (A, slice(0, 2), 9)),
        pytest.param("insert", (A, np.array([True, False, True]), 9, 1), marks=NEWER),
        pytest.param("pad", (A, {0: 1, -1: (2, 3)}, "edge"), marks=NEWER),
        ("frexp", (np.array([1e-40, -3e-45, 1e-38], np.float32),)),
        ("ldexp", (np.array([1.0, 3e-45], np.float32), np.array([-149, 200]))),
        ("modf", (np.array([np.inf, -np.inf, -1.5], np.float32),)),
        pytest.param("cumulative_prod", (np.array([3, 100], np.uint8),), marks=NEWER),
        ("spacing", (np.array([0.0, 1.0, -1.0], np.float32),)),
        ("can_cast", ("int8", "int16")),
        ("can_cast", ("float64", "int8", "same_kind")),
        ("gcd", (np.array([2**62, -12, 2971215073]), np.array([2**40, 18, 1836311903]))),
        ("array_equiv", (A, V[:2])),
        ("geomspace", (1, 1000, 4)),
    ],
)
def test_as_numpy(name, args):
    assert_equal(getattr(jnp, name)(*args), getattr(np, name)(*args))


def test_unsigned_products_have_the_default_width():
    assert jnp.cumulative_prod(np.array([3, 100], np.uint8)).dtype == np.uint32


def test_diagonals_may_start_anew():
    tall = np.zeros((5, 2), np.float32)
    wanted = tall.copy()
    np.fill_diagonal(wanted, 1, wrap=True)
    assert_equal(jnp.fill_diagonal(tall, 1, wrap=True), wanted)


def test_arrays_of_other_libraries():
    assert_equal(jnp.from_dlpack(V), V)
    assert_equal(jnp.from_dlpack(jnp.asarray(V), copy=True), V)
    assert_equal(jnp.frombuffer(V.tobytes(), "float32", 2, 4), V[1:])
    host = V.copy()
    made = jnp.from_dlpack(host)
    host[:] = 0
    assert_equal(made, V)


@NEWER
def test_an_array_of_bindax_is_exchanged_without_a_copy():
    ours = jnp.asarray(V)
    assert jnp.from_dlpack(ours, copy=False) is ours
    wanted = ("stream", "max_version", "dl_device", "copy")
    assert tuple(inspect.signature(ours.__dlpack__).parameters) == wanted
    ours.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0), copy=None)


@pytest.mark.parametrize("k", [2**31, -(2**31) - 1, 2**70, -(2**70)])
def test_diagonals_far_outside_of_a_matrix(k):
    for made, theirs in [(jnp.eye, np.eye), (jnp.tri, np.tri)]:
        assert_equal(made(2, 3, k), theirs(2, 3, 3 if k > 0 else -3).astype(np.float32))
    x = np.ones((2, 3), np.float32)
    assert_equal(jnp.tril(x, k), np.tril(x, 3 if k > 0 else -3))
    assert_equal(jnp.triu(x, k), np.triu(x, 3 if k > 0 else -3))


def test_questions_about_dtypes():
    assert jnp.isdtype("bfloat16", "real floating")
    assert jnp.isdtype(jnp.uint8, ("bool", "integral"))
    assert jnp.isdtype("int8", jnp.int8)
    assert not jnp.isdtype("bool", "numeric")
    assert jnp.bool is jnp.bool_
    assert jnp.double == jnp.float64
    assert jnp.isscalar(np.float32(1))
    assert not jnp.isscalar("a")
    assert jnp.iscomplexobj(1j)
    assert jnp.isrealobj(V)


# -------------------------------------------------------------------------------- linear algebra


def test_determinants_of_singular_matrices_have_derivatives():
    singular = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
    assert_equal(bt.grad(jnp.linalg.det)(singular), np.zeros((3, 3)))
    assert_equal(bt.grad(jnp.linalg.det)(np.ones((2, 2))), [[1, -1], [-1, 1]])


def test_pseudoinverses_have_derivatives_where_singular_values_are_equal():
    identity = np.eye(3)
    _, moved = bt.jvp(jnp.linalg.pinv, (identity,), (np.ones((3, 3)),))
    assert_equal(moved, -np.ones((3, 3)))
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]])
    _, moved = bt.jvp(lambda x: jnp.linalg.pinv(x, hermitian=True), (np.eye(2),), (skew,))
    assert_equal(moved, np.zeros((2, 2)))


def test_decompositions_give_the_matrix_back():
    q, r = jnp.linalg.qr(A)
    assert all(map(np.array_equal, (q, r), jnp.linalg.qr(A, "full")))
    assert_equal(q @ r, A)
    u, s, vh = jnp.linalg.svd(A, full_matrices=False)
    assert_equal((u * s) @ vh, A)
    u, s, vh = jnp.linalg.svd(-M, hermitian=True)
    assert_equal((u * s) @ vh, -M)
    w, v = jnp.linalg.eigh(M)
    assert_equal((v * w) @ v.T, M)
    w, v = jnp.linalg.eig(M)
    assert_equal(v * w, M @ np.asarray(v))
    upper = jnp.linalg.cholesky(M, upper=True)
    assert_equal(upper.T @ upper, M)
    first = jnp.linalg.svd(A, full_matrices=False, subset_by_index=(0, 1))
    assert [x.shape for x in first] == [(2, 1), (1,), (1, 3)]


def test_results_keep_their_names_under_transformations():
    found = bt.jit(jnp.linalg.svd)(A)
    assert found.S.shape == (2,)
    assert bt.vmap(jnp.linalg.slogdet)(np.stack([M, M])).logabsdet.shape == (2,)
    assert bt.jit(lambda x: jnp.unique_counts(x, size=2))(V).counts.shape == (2,)


def test_residuals_of_least_squares_may_be_empty():
    wanted = np.linalg.lstsq(A, V[:2], rcond=None)
    assert_equal(jnp.linalg.lstsq(A, V[:2], numpy_resid=True), wanted)
    assert jnp.linalg.lstsq(A, V[:2])[1].shape == (1,)


def test_vectors_and_scalars_have_a_rank():
    assert int(jnp.linalg.matrix_rank(V)) == 1
    assert int(jnp.linalg.matrix_rank(np.float32(0))) == 0
    assert int(jnp.linalg.matrix_rank(M, tol=1.5)) == 1


def test_chains_are_multiplied_in_the_cheapest_order():
    shapes = [(2, 50), (50, 3), (3, 60), (60, 2)]
    chain = [np.ones(shape, np.float32) for shape in shapes]
    assert_equal(jnp.linalg.multi_dot(chain), np.linalg.multi_dot(chain))
    program = bt.make_jaxpr(lambda *x: jnp.linalg.multi_dot(x))(*chain)
    made = [eqn.outvars[0].aval.shape for eqn in program.jaxpr.eqns]
    assert made == [(2, 3), (3, 2), (2, 2)]


def test_transforms_of_more_axes_than_one_operation_takes():
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 4, 3))
    assert_equal(jnp.fft.fftn(x), np.fft.fftn(x))
    assert_equal(jnp.fft.irfftn(jnp.fft.rfftn(x), x.shape), x)


# ----------------------------------------------------------------------------- what there is

STANDARD = {
    "": """
    arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
    tril triu zeros zeros_like astype can_cast finfo iinfo isdtype result_type abs acos acosh add
    asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor
    floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
    log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
    negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh
    square sqrt subtract tan tanh trunc take take_along_axis matmul matrix_transpose tensordot
    vecdot broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat
    reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero searchsorted where
    unique_all unique_counts unique_inverse unique_values isin argsort sort cumulative_sum
    cumulative_prod max mean min prod std sum var all any diff e inf nan newaxis pi bool int8 int16
    int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
    """,
    "fft": """
    fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift
    """,
    "linalg": """
    cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power
    matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot
    vector_norm
    """,
}


@pytest.mark.parametrize("part", STANDARD)
def test_functions_of_the_array_api_standard_are_there(part):
    module = getattr(jnp, part) if part else jnp
    assert set(STANDARD[part].split()) <= set(module.__all__)


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jnp.sort(V, kind="heap"), ValueError, "kind and order must be None"),
        (lambda: jnp.lexsort(()), ValueError, "at least one key"),
        (lambda: jnp.partition(V, 3), ValueError, "kth is 3, but axis -1 of .* has 3 elements"),
        (lambda: jnp.searchsorted(V, V, "up"), ValueError, "side must be 'left' or 'right'"),
        (lambda: jnp.searchsorted(A, V), ValueError, r"a must be a vector, but it is float32\[2"),
        (lambda: jnp.nonzero(1.0), ValueError, "use atleast_1d first"),
        (lambda: jnp.nonzero(A, fill_value=(1,)), ValueError, "one for each of 2 axes"),
        (lambda: jnp.compress(A, A), ValueError, "condition must be a vector"),
        (lambda: jnp.take(A, V), TypeError, "take takes integers as indices, but got float32"),
        (lambda: jnp.take(A, I, mode="x"), ValueError, "mode must be one of .*'x'"),
        (lambda: jnp.take(A, I + 9, mode="raise"), IndexError, "index is out of bounds .* size 6"),
        (lambda: jnp.take_along_axis(A, I, 1), ValueError, "must have as many axes"),
        (lambda: jnp.take_along_axis(A, A > 1, None), TypeError, "takes integers as indices"),
        (lambda: jnp.put_along_axis(A, I, 1, None, True), ValueError, "inplace must be False"),
        (lambda: jnp.diag(A[None]), ValueError, "diag takes a vector or a matrix"),
        (lambda: jnp.diagonal(A, 0, 1, 1), ValueError, "takes two axes, but both are 1"),
        (lambda: jnp.fill_diagonal(V, 1), ValueError, "fill_diagonal takes matrices"),
        (lambda: jnp.diag_indices_from(A), ValueError, "equal axes"),
        (lambda: jnp.tril_indices_from(V), ValueError, "takes a matrix"),
        (lambda: jnp.ix_(A), ValueError, "vectors of integers"),
        (lambda: jnp.ravel_multi_index((I,), (3,)), ValueError, "out of bounds for dims"),
        (lambda: jnp.ravel_multi_index((I,), (3, 3)), ValueError, "for 1 axes, but dims are"),
        (
            lambda: jnp.ravel_multi_index((I,), (3,), "far"),
            ValueError,
            "mode must be 'raise', 'clip'",
        ),
        (lambda: jnp.choose(I, [V]), ValueError, "out of bounds for 1 arrays; see mode"),
        (lambda: jnp.choose(I, [V], mode="x"), ValueError, "mode must be 'raise'"),
        (lambda: jnp.select([A > 1], []), ValueError, "0 arrays for 1 conditions"),
        (lambda: jnp.piecewise(V, [V > 1], [1, 2, 3]), ValueError, "each of 1 conditions, and one"),
        (lambda: jnp.place(A, V > 1, V), ValueError, "a mask of 6 elements"),
        (lambda: jnp.put(A, I, V, "far"), ValueError, "mode must be None"),
        (lambda: jnp.quantile(V, 0.5, method="x"), ValueError, "quantile: method must be one of"),
        (lambda: jnp.quantile(V, A), ValueError, "q must be a scalar or a vector"),
        (lambda: jnp.median(A[:0], 0), ValueError, r"median over axes \(0,\).*no elements"),
        (lambda: jnp.diff(A, -1), ValueError, "n that is not negative"),
        (lambda: jnp.gradient(V[:1]), ValueError, "axis 0 must have two samples"),
        (lambda: jnp.gradient(A, 1, 2, 3), ValueError, "one for each of 2 axes, but got 3"),
        (lambda: jnp.gradient(A, edge_order=2), ValueError, "edge_order must be None or 1"),
        (lambda: jnp.cumulative_sum(A), ValueError, "an axis where there are several"),
        (lambda: jnp.bincount(A.astype(int)), ValueError, "bincount takes a vector"),
        (lambda: jnp.bincount(V), TypeError, "takes integers"),
        (lambda: jnp.histogram(V, "auto"), ValueError, "number of intervals or their bounds"),
        (lambda: jnp.histogramdd(V), ValueError, r"takes points, \[n, d\]"),
        (lambda: jnp.histogramdd(A, [2]), ValueError, "there are 1 and 3"),
        (lambda: jnp.interp(V, V, V[:2]), ValueError, "vectors of one size"),
        (lambda: jnp.cov(A[None]), ValueError, "vectors and matrices"),
        (lambda: jnp.cov(A, aweights=V[:2]), ValueError, "aweights must be a vector of 3 weights"),
        (lambda: jnp.vecdot(A, V[:2]), ValueError, "one size in both arrays, but they are 3 and 2"),
        (lambda: jnp.cross(I, I), ValueError, "vectors of 2 or 3 elements"),
        (lambda: jnp.convolve(A, V), ValueError, "vectors that are not empty"),
        (lambda: jnp.convolve(V, V, "near"), ValueError, "mode must be 'full', 'same' or 'valid'"),
        (lambda: jnp.polyadd(A, V), ValueError, "vectors of coefficients"),
        (lambda: jnp.polyder(V, -1), ValueError, "order m must not be negative"),
        (lambda: jnp.polyint(V, 2, V), ValueError, "one constant or 2, but there are 3"),
        (lambda: jnp.polyfit(V, V[:2], 1), ValueError, "values for each of its elements"),
        (lambda: jnp.polyfit(V, V, 2, cov=True), ValueError, "give cov='unscaled'"),
        (lambda: jnp.poly(A), ValueError, "roots or a square matrix"),
        (lambda: jnp.vander(A), ValueError, "vander takes a vector"),
        (lambda: jnp.left_shift(V, 1), TypeError, "left_shift takes integers, but got float32"),
        (lambda: jnp.unpackbits(I), TypeError, "takes uint8, but got int32"),
        (lambda: jnp.packbits(I, bitorder="x"), ValueError, "bitorder must be 'big' or 'little'"),
        (lambda: jnp.ldexp(V, V), TypeError, "exponents must be integers"),
        (lambda: jnp.copysign(1j, V), TypeError, "not defined for complex numbers"),
        (lambda: jnp.pad(V, 1, stat_length=1), ValueError, r"takes \['constant_values'\], but not"),
        (lambda: jnp.pad(V, 1, "edge", x=1), ValueError, "takes no further arguments"),
        (lambda: jnp.pad(A[:0], 1, "edge"), ValueError, "axis 0 of .* has no elements to repeat"),
        (lambda: jnp.pad(V, 1, "reflect", reflect_type="x"), ValueError, "'even' or 'odd'"),
        (lambda: jnp.pad(V, 1, "mean", stat_length=0), ValueError, "stat_length must be positive"),
        (lambda: jnp.pad(V, 1, constant_values=(1, 2, 3)), ValueError, "constant_values must be a"),
        (lambda: jnp.block((A, A)), TypeError, "lists of arrays, but got a tuple"),
        (lambda: jnp.block([A, [A]]), ValueError, "nested equally deep"),
        (lambda: jnp.delete(V, 3), IndexError, "delete: obj 3 is out of bounds for .* size 3"),
        (lambda: jnp.insert(V, 4, 1), IndexError, "insert: obj 4 is out of bounds"),
        (lambda: jnp.delete(V, 0.5), TypeError, "integers, booleans or a slice"),
        (lambda: jnp.trim_zeros(A, "x"), ValueError, "trim must be 'f', 'b' or 'fb'"),
        (lambda: jnp.copy(A, "F"), ValueError, "order must be None"),
        (lambda: jnp.from_dlpack(V, copy=False), ValueError, "always copies"),
        (lambda: jnp.linalg.solve(A, V), ValueError, r"square matrices, of shape \[..., n, n\]"),
        (
            lambda: jnp.linalg.solve(M, V),
            ValueError,
            "a vector of 2 elements or matrices of as many",
        ),
        (lambda: jnp.linalg.inv(V), ValueError, "inv takes square matrices"),
        (lambda: jnp.linalg.qr(A, "x"), ValueError, "mode must be 'reduced', .* 'raw'"),
        (lambda: jnp.linalg.eigh(M, "X"), ValueError, "UPLO must be 'L', 'U' or None"),
        (lambda: jnp.linalg.pinv(M, 0.1, rcond=0.1), ValueError, "two names of one argument"),
        (lambda: jnp.linalg.matrix_rank(M, 0.1, tol=0.1), ValueError, "rtol or tol, but got both"),
        (
            lambda: jnp.linalg.slogdet(M, method="svd"),
            ValueError,
            "method must be None, 'lu' or 'qr'",
        ),
        (lambda: jnp.linalg.lstsq(A, V), ValueError, "vector or matrix of as many rows"),
        (lambda: jnp.linalg.multi_dot([A]), ValueError, "two arrays or more, but got 1"),
        (lambda: jnp.linalg.multi_dot([A, V, A]), ValueError, "array 1 is float32"),
        (lambda: jnp.linalg.cross(M, M), ValueError, "axis -1 must have 3 elements"),
        (lambda: jnp.linalg.outer(A, V), ValueError, "linalg.outer takes vectors"),
        (lambda: jnp.linalg.tensorinv(A, 1), ValueError, "must have equally many elements"),
        (lambda: jnp.linalg.tensorinv(A, 0), ValueError, "ind must be positive"),
        (lambda: jnp.linalg.tensorsolve(A, V[:2]), ValueError, "as many elements as b"),
        (lambda: jnp.fft.fft(V, norm="x"), ValueError, "norm must be one of"),
        (lambda: jnp.fft.fft(V, 0), ValueError, "lengths must be positive"),
        (lambda: jnp.fft.rfft(V * 1j), TypeError, "rfft takes real arrays.*see fft"),
        (lambda: jnp.fft.fftn(A, (1, 2, 3)), ValueError, "out of bounds"),
        (lambda: jnp.fft.fftn(A, (1,), (0, 1)), ValueError, "s has 1 lengths for 2 axes"),
        (lambda: jnp.fft.fft2(A, axes=(0,)), ValueError, "fft2 takes two axes"),
        (lambda: jnp.fft.fftn(A, axes=(0, 0)), ValueError, "name an axis twice"),
        (lambda: jnp.fft.fftfreq(0), ValueError, "n must be positive"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
