"""Ufuncs beside NumPy's, grids and joined ranges beside NumPy's, files, texts."""

import io
import pickle

import numpy as np
import pytest
from jax_calls import split_calls as calls

import bindax_core as bx
import bindax_numpy as jnp
import bindax_transforms as bt

X = np.array([[3, 1, 2], [6, 5, 4]], np.int32)
K = np.array([[True, False, True], [False, True, True]])
BINARY = calls("add multiply subtract maximum minimum bitwise_and bitwise_or bitwise_xor")
LOGICAL = ["logical_and", "logical_or", "logical_xor", "logaddexp", "logaddexp2"]


def assert_equal(got, wanted):
    assert np.shape(got) == np.shape(wanted)
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-6)


NEWER = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.2.0",
    reason="this NumPy, the reference, has it not yet",
)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_bits_that_where_leaves_out_do_not_count(dtype):
    x = X.astype(dtype)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        got = getattr(jnp, name).reduce(x, 1, where=K)
        assert_equal(got, getattr(np, name).reduce(x, 1, where=K))


@pytest.mark.parametrize("name", [*BINARY, *LOGICAL])
def test_reductions_are_those_of_numpy(name):
    mine, theirs = getattr(jnp, name), getattr(np, name)
    x = X if name in BINARY or name == "logical_and" else X.astype(np.float32)
    assert isinstance(mine, jnp.ufunc)
    assert (mine.nin, mine.nout, mine.nargs) == (2, 1, 2)
    assert mine.identity == theirs.identity
    assert_equal(mine(x, x[:1]), theirs(x, x[:1]))
    for axis in (0, 1, -1):
        assert_equal(mine.reduce(x, axis), theirs.reduce(x, axis))
        assert_equal(mine.accumulate(x, axis), theirs.accumulate(x, axis))
    assert_equal(mine.reduce(x, 1, keepdims=True), theirs.reduce(x, 1, keepdims=True))
    assert_equal(mine.outer(x, x[0]), theirs.outer(x, x[0]))
    starts = np.array([0, 2, 1])
    assert_equal(mine.reduceat(x, starts, 1), theirs.reduceat(x, starts, 1))
    if name != "subtract":
        start = {} if theirs.identity is not None else {"initial": 2}
        assert_equal(mine.reduce(x, 1, where=K, **start), theirs.reduce(x, 1, where=K, **start))
        assert_equal(mine.reduce(x, initial=2), theirs.reduce(x, initial=2))
        assert_equal(mine.reduce(x, None), theirs.reduce(x, None))
    wanted = x.copy()
    theirs.at(wanted, (np.array([0, 1, 0]), np.array([1, 0, 1])), 2)
    got = mine.at(x, (np.array([0, 1, 0]), np.array([1, 0, 1])), 2)
    # Where theirs writes truth values into the array, ours is an array of them.
    assert_equal(got, wanted.astype(np.asarray(got).dtype))
    assert pickle.loads(pickle.dumps(mine)) is mine


def test_changed_elements_have_the_dtype_of_the_function():
    places = np.array([0, 0, 1])
    integers = np.arange(3, dtype=np.int32)
    wanted = np.array([np.logaddexp(np.logaddexp(0, 2), 2), np.logaddexp(1, 2), 2])
    got = jnp.logaddexp.at(integers, places, 2)
    assert got.dtype == np.float32
    assert_equal(got, wanted)
    booleans = np.array([True, False])
    assert jnp.maximum.at(booleans, 0, np.int32(2)).dtype == np.int32
    assert jnp.add.at(integers, places, 2).dtype == np.int32
    assert jnp.logical_and.at(integers, 0, 2).dtype == np.bool_


def test_joined_numbers_are_a_matrix():
    assert_equal(jnp.r_["r", 1, 2], [[1, 2]])
    assert_equal(jnp.r_["c", 1, 2], [[1], [2]])
    assert_equal(jnp.r_["r", X], X)


def test_ufuncs_are_traced():
    f = jnp.frompyfunc(lambda x, y: x * y + 1, 2, 1, identity=1)
    x = np.array([1.0, 2.0, 3.0], np.float32)
    assert_equal(bt.jit(f.reduce, backend="numpy")(x), 10)
    assert_equal(bt.grad(lambda v: f.reduce(v))(x), [6, 3, 3])
    assert_equal(bt.jit(jnp.add)(x, 1), x + 1)
    assert_equal(bt.vmap(jnp.maximum.reduce)(X), X.max(1))
    assert_equal(f.reduce(x[:0]), 1)
    assert_equal(f(x, X[:, :1]), np.array(x * X[:, :1] + 1))
    assert_equal(jnp.negative.at(x, np.array([0, 2])), [-1, 2, -3])
    double = jnp.frompyfunc(lambda v: (2 * v, -v), 1, 2)
    assert_equal(double(x)[1], -x)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jnp.add(1), TypeError, "add takes 2 arguments, but got 1"),
        (lambda: jnp.add(1, 2, where=K), TypeError, "add: .* where must be None"),
        (lambda: jnp.negative.reduce(X), ValueError, "negative.reduce needs a function of two"),
        (lambda: jnp.subtract.reduce(X[:0]), ValueError, "no identity.* give initial"),
        (lambda: jnp.subtract.reduce(X, where=K), ValueError, "no identity"),
        (lambda: jnp.add.at(X, 0), ValueError, "takes an array, indices, and 1 more"),
        (lambda: jnp.add.at(X, 0, 1, inplace=True), ValueError, "inplace must be False"),
        (lambda: jnp.add.reduceat(X, X), ValueError, "takes a vector of indices"),
        (lambda: jnp.frompyfunc(3, 1, 1), TypeError, "takes a function, but got 3"),
        (lambda: jnp.mgrid[3:], ValueError, "a slice needs its end"),
        (lambda: jnp.r_["x", 1], ValueError, "up to three integers"),
        (lambda: jnp.r_[()], ValueError, "nothing between the brackets"),
        (lambda: jnp.compress(K[0], X, axis=0), ValueError, "compress: condition has 3 entries"),
        (lambda: jnp.searchsorted(X[0], 1, method="x"), ValueError, "method must be one of .* 'x'"),
        (lambda: jnp.einsum("ij", 1, 2), ValueError, "names 1 operands"),
        (lambda: jnp.einsum(X, 3), TypeError, "comes a list of integers"),
        (lambda: jnp.quantile(X, 0.5, weights=X), ValueError, "only the method 'inverted_cdf'"),
        (
            lambda: jnp.quantile(X, 0.5, 0, method="inverted_cdf", weights=X[0]),
            ValueError,
            "weights must have the shape",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "text",
    [
        "mgrid[0:3]",
        "mgrid[0:3, 1:2]",
        "mgrid[0:1:3j, 0:4:2]",
        "ogrid[0:2, 0:3]",
        "ogrid[0:1:3j]",
        "r_[1:4, 0, np.array([7, 8])]",
        "r_[0:1:3j, [5, 6]]",
        "r_['0,2', [1, 2], [3, 4]]",
        "r_['1,2,0', [1, 2], [3, 4]]",
        "r_['0,3,1', [[1, 2]], [[3, 4]]]",
        "r_['-1', X, X]",
        "c_[[1, 2], [3, 4]]",
        "c_[X, X]",
        "c_[1, 2]",
        "s_[::2, 1]",
        "index_exp[1]",
        "einsum(X, [0, 1], X, [0, 1])",
        "einsum(X, [0, 1], X, [2, 1], [0, 2])",
        "einsum(X, [..., 1], [..., 1])",
        "quantile(X, 0.5, method='inverted_cdf')",
        "quantile(X, 0.4, 1, method='inverted_cdf')",
        "quantile(X, 0.3, 1, method='inverted_cdf', weights=X)",
        "quantile(X, np.array([0.0, 1.0]), 1, method='inverted_cdf', weights=np.array([0, 1, 2]))",
        "percentile(X, 30, method='inverted_cdf', weights=X)",
        "angle(np.array([1j, -1.0]), deg=True)",
        pytest.param("trim_zeros(np.array([[0, 0, 0], [0, 1, 0], [2, 0, 0]]))", marks=NEWER),
        pytest.param(
            "trim_zeros(np.array([[0, 0, 0], [0, 1, 0], [2, 0, 0]]), 'b', 1)", marks=NEWER
        ),
        "concat([X, X], axis=1)",
        pytest.param("reshape(X, (3, 2), copy=True)", marks=NEWER),
    ],
)
def test_as_numpy(text):
    got, wanted = (eval(text, {**vars(m), "np": np, "X": X}) for m in (jnp, np))
    if text.startswith(("s_", "index_exp")):
        assert got == wanted
        return
    pairs = zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]
    for a, b in pairs:
        assert_equal(a, b)


def test_indices_along_an_axis():
    index = np.array([[0, -1], [5, 1]])
    x = X.astype(np.float32)
    got = jnp.take_along_axis(x, index, 1, mode="one_hot")
    assert_equal(got, [[3, 2], [0, 5]])
    got = jnp.take_along_axis(x, index[:1, :1] - 1, 0, mode="one_hot")
    assert_equal(got, [[6, 5, 4]])
    wrapped = jnp.take_along_axis(x, index, 1, wrap_negative_indices=False, fill_value=7)
    assert_equal(wrapped, [[3, 7], [7, 5]])


def test_padding_by_a_function():
    def ends(row, width, axis, options):
        return row.at[: width[0]].set(options["value"] + axis)

    got = jnp.pad(jnp.ones((1, 2)), ((1, 0), (2, 0)), ends, value=5)
    assert_equal(got, [[6, 6, 5, 5], [6, 6, 1, 1]])


def test_files_and_texts(tmp_path):
    for x in (X, X.astype("complex64"), jnp.asarray(X, "bfloat16")):
        jnp.save(tmp_path / "x.npy", x)
        found = jnp.load(tmp_path / "x.npy")
        assert found.dtype == x.dtype
        assert_equal(found, x)
    file = io.BytesIO()
    jnp.savez(file, X, k=K)
    file.seek(0)
    found = jnp.load(file)
    assert_equal(found["arr_0"], X)
    assert_equal(found["k"], K)
    X.tofile(tmp_path / "bytes")
    assert_equal(jnp.fromfile(tmp_path / "bytes", "int32", 2, offset=4), [1, 2])
    assert_equal(jnp.fromiter(range(4), float, 3), [0, 1, 2])
    assert_equal(jnp.fromstring("1, 2", sep=","), [1, 2])
    with jnp.printoptions(precision=2):
        assert repr(jnp.array([1.23456])) == "Array([1.23], dtype=float32)"
    assert jnp.array_repr(jnp.zeros(0)) == "Array([], shape=(0,), dtype=float32)"
    assert jnp.array_str(3) == "3"


def test_ufuncs_compare_by_what_they_are_of_and_cannot_be_changed():
    def scaled(x, y):
        return 10 * x + y

    one, other = jnp.frompyfunc(scaled, 2, 1), jnp.frompyfunc(scaled, 2, 1)
    assert one == other
    assert hash(one) == hash(other)
    assert one != jnp.frompyfunc(scaled, 2, 1, identity=0)
    assert one != jnp.add
    assert one != scaled
    for name in ("nin", "nout", "nargs", "identity"):
        with pytest.raises(AttributeError, match=f"{name} of <ufunc 'scaled'"):
            setattr(one, name, None)
    assert (one.nin, one.nout, one.nargs, one.identity) == (2, 1, 2, None)
    assert one(1, 2) == 12
    assert pickle.loads(pickle.dumps(jnp.add)) is jnp.add


def test_vectorize_passes_none_on_where_no_axes_are_named():
    either = jnp.vectorize(lambda x, y: x if y is None else x + y)
    assert_equal(either(X, None), X)
    assert_equal(either(X, X[0]), X + X[0])
    with pytest.raises(ValueError, match="argument 1 of dot is None, but the signature"):
        jnp.vectorize(jnp.dot, signature="(n),(n)->()")(X, None)


def test_vectorize_counts_arguments_and_results():
    product = jnp.vectorize(jnp.dot, signature="(n,m),(m,k)->(n,k)")
    with pytest.raises(TypeError, match="takes 2 arrays, but here it is 1"):
        product(X)
    pair = jnp.vectorize(jnp.add, signature="(),()->(),()")
    with pytest.raises(TypeError, match="returns a tuple of 2 arrays, but here it is 1"):
        pair(1, 2)
    with pytest.raises(TypeError, match="a tuple of 2"):
        jnp.vectorize(lambda x: [x, x], signature="()->(),()")(1)
    with pytest.raises(TypeError, match=r"excluded .* 1\.5 is neither"):
        jnp.vectorize(jnp.add, excluded={1.5})
    with pytest.raises(ValueError, match="excluded has -1"):
        jnp.vectorize(jnp.add, excluded={-1})


def test_vectorize_broadcasts_as_the_setting_of_ranks_says():
    add = jnp.vectorize(jnp.add, signature="(),()->()")
    with bx.config.override(numpy_rank_promotion="raise"):
        with pytest.raises(ValueError, match="different ranks"):
            add(X, X[0])
        assert_equal(add(X, 1), X + 1)
        for outer in (jnp.add.outer, jnp.frompyfunc(lambda x, y: x + y, 2, 1).outer):
            assert_equal(outer(X, X[0]), np.add.outer(X, X[0]))
        assert_equal(jnp.vectorize(jnp.add, signature="(n),()->(n)")(X, X[:, 0]), X + X[:, :1])
