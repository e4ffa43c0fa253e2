"""What each family accepts and refuses: as JAX does, and with what was wrong in the message."""

import warnings

import numpy as np
import pytest

import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import tree_leaves


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_refused(call, module):
    try:
        call(module)
    except Exception:  # some of JAX's refusals are failed assertions
        return True
    return False


F = np.zeros((2, 3), np.float32)
I = np.zeros((2, 3), np.int32)
B = np.zeros((2, 3), bool)
C = np.zeros((2, 3), np.complex64)
E = np.zeros((0, 3), np.float32)
V = np.arange(5, dtype=np.float32)
T = np.zeros((2, 3, 4), np.float32)
INDEX = np.array([[7], [-1]], np.int32)
SIZES = np.array([1, 0, 1], np.int32)
GROUPED = np.ones((3, 3, 2), np.float32)
MODES = ("clip", "fill", "drop", "promise_in_bounds")


def gathered(m, indices=INDEX, sizes=(1,), mode="clip", numbers=((), (0,), (0,)), x=V):
    return m.gather(x, indices, m.GatherDimensionNumbers(*numbers), sizes, mode=mode)


def scattered(m, name="scatter_add", updates=None, mode="clip", indices=INDEX):
    updates = np.ones(2, np.float32) if updates is None else updates
    numbers = m.ScatterDimensionNumbers((), (0,), (0,))
    return getattr(m, name)(V, indices, updates, numbers, mode=mode)


def convolved(m, x=(1, 2, 5), k=(3, 2, 2), **arguments):
    given = {"window_strides": (1,), "padding": "SAME", **arguments}
    return m.conv_general_dilated(np.zeros(x, np.float32), np.zeros(k, np.float32), **given)


def dotted(m, contract=((1,), (0,)), batch=((), ()), x=F, y=None):
    return m.dot_general(x, F.T if y is None else y, (contract, batch))


def ragged(m, axis, group, sizes=None):
    numbers = m.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), axis, group)
    return m.ragged_dot_general(F, GROUPED, SIZES if sizes is None else sizes, numbers)


def applied(m, function, update_shape=(2,)):
    numbers = m.ScatterDimensionNumbers((), (0,), (0,))
    return m.scatter_apply(V, INDEX, function, numbers, update_shape=update_shape)


def into_nothing(m, name, mode="clip"):
    numbers = m.ScatterDimensionNumbers((1,), (0,), (0,))
    updates = np.ones((2, 3), np.float32)
    return getattr(m, name)(E, INDEX, updates, numbers, mode=mode)


REFUSED = {
    # elementwise: dtypes and shapes
    "dtypes of add": (lambda m: m.add(F, I), "float32.*int32"),
    "shapes of mul": (lambda m: m.mul(F, F[:, :2]), r"2,3.*2,2"),
    "ranks of sub": (lambda m: m.sub(F, F[0]), r"2,3.*\[3\]"),
    "integers of sin": (lambda m: m.sin(I), "int32"),
    "complex of floor": (lambda m: m.floor(C), "complex64"),
    "complex of lt": (lambda m: m.lt(C, C), "complex64"),
    "booleans of neg": (lambda m: m.neg(B), "bool"),
    "floats of and": (lambda m: m.bitwise_and(F, F), "float32"),
    "floats of shift_left": (lambda m: m.shift_left(F, F), "float32"),
    "floats of clz": (lambda m: m.clz(F), "float32"),
    "floats of population_count": (lambda m: m.population_count(F), "float32"),
    "integers of erf": (lambda m: m.erf(I), "int32"),
    "complex of lgamma": (lambda m: m.lgamma(C), "complex64"),
    "dtypes of igamma": (lambda m: m.igamma(F, F.astype(np.float64)), "float32.*float64"),
    "dtypes of complex": (lambda m: m.complex(I, I), "int32"),
    "real numbers of imag": (lambda m: m.imag(I), "int32"),
    "power of integers": (lambda m: m.integer_pow(I, -1), "-1"),
    "predicate of select_n": (lambda m: m.select_n(F, F, F), "float32"),
    "cases of select_n": (lambda m: m.select_n(B, F, F, F), "two"),
    "bounds of clamp": (lambda m: m.clamp(F[0], F, F), "min"),
    "bits of bitcast": (lambda m: m.bitcast_convert_type(np.zeros(3, np.int8), np.int32), "3"),
    "exponent of reduce_precision": (lambda m: m.reduce_precision(F, 0, 2), "exponent_bits.*0"),
    "mantissa of reduce_precision": (lambda m: m.reduce_precision(F, 5, -1), "mantissa_bits.*-1"),
    # shape
    "sizes of reshape": (lambda m: m.reshape(F, (4, 2)), "6.*8"),
    "negative size of full": (lambda m: m.full((-1,), 1.0), "-1"),
    "negative size of iota": (lambda m: m.iota(np.int32, -2), "-2"),
    "negative size of reshape": (lambda m: m.reshape(F, (-2, -3)), "-2"),
    "axes of transpose": (lambda m: m.transpose(F, (0, 0)), r"\(0, 0\)"),
    "axis of transpose": (lambda m: m.transpose(F, (0, 2)), r"2"),
    "size of broadcast_in_dim": (lambda m: m.broadcast_in_dim(F, (2, 4), (0, 1)), "3"),
    "order of broadcast_in_dim": (lambda m: m.broadcast_in_dim(F, (3, 2), (1, 0)), r"1, 0"),
    "axis of squeeze": (lambda m: m.squeeze(F, (0,)), "0"),
    "axis of expand_dims": (lambda m: m.expand_dims(F, (5,)), "5"),
    "axes of expand_dims": (lambda m: m.expand_dims(F, (0, 0)), "0"),
    "axis of rev": (lambda m: m.rev(F, (2,)), "2"),
    "axes of rev": (lambda m: m.rev(F, (0, 0)), "0"),
    "limits of slice": (lambda m: m.slice(F, (0, 0), (3, 3)), "3"),
    "starts of slice": (lambda m: m.slice(F, (1, 0), (0, 3)), "1"),
    "strides of slice": (lambda m: m.slice(F, (0, 0), (2, 3), (0, 1)), "0"),
    "entries of slice": (lambda m: m.slice(F, (0,), (1,)), "2"),
    "entries of pad": (lambda m: m.pad(F, np.float32(0), [(0, 0, 0)]), "2"),
    "padding of pad": (lambda m: m.pad(F, np.float32(0), [(-3, 0, 0), (0, 0, 0)]), "-1"),
    "interior of pad": (lambda m: m.pad(F, np.float32(0), [(0, 0, -1), (0, 0, 0)]), "-1"),
    "dtype of pad": (lambda m: m.pad(F, np.int32(0), [(0, 0, 0)] * 2), "int32"),
    "shapes of concatenate": (lambda m: m.concatenate([F, F[:, :1]], 0), r"2,1"),
    "axis of concatenate": (lambda m: m.concatenate([F, F], 2), "2"),
    "nothing to concatenate": (lambda m: m.concatenate([], 0), "at least one"),
    "sizes of split": (lambda m: m.split(F, (1, 1), axis=1), r"1, 1"),
    "axis of split": (lambda m: m.split(F, (1, 1), axis=2), "2"),
    "negative size of split": (lambda m: m.split(F, (-1, 4), axis=1), "-1"),
    "dtype of iota": (lambda m: m.iota(np.bool_, 3), "bool"),
    # indexing
    "vectors of gather": (lambda m: gathered(m, np.zeros((2, 2), np.int32)), "2"),
    "dtype of indices": (lambda m: gathered(m, INDEX.astype(np.float32)), "float32"),
    "sizes of gather": (lambda m: gathered(m, sizes=(6,)), "6"),
    "count of sizes": (lambda m: gathered(m, sizes=(1, 1)), "2"),
    "window axis of gather": (lambda m: gathered(m, numbers=((3,), (), (0,))), "3"),
    "repeated axes of gather": (lambda m: gathered(m, numbers=((0, 0), (), (0,))), "0, 0"),
    "collapsed axis of gather": (lambda m: gathered(m, numbers=((), (1,), (0,))), "1"),
    "mode of gather": (lambda m: gathered(m, mode="wrap"), "wrap"),
    "updates of scatter": (lambda m: scattered(m, updates=np.ones(3, np.float32)), "3"),
    "dtype of updates": (lambda m: scattered(m, updates=np.ones(2, np.int32)), "int32"),
    "mode of scatter": (lambda m: scattered(m, mode="wrap"), "wrap"),
    "sizes of dynamic_slice": (lambda m: m.dynamic_slice(V, (0,), (6,)), "6"),
    "starts of dynamic_slice": (lambda m: m.dynamic_slice(V, (0, 0), (2,)), "2"),
    "update of dynamic_update_slice": (
        lambda m: m.dynamic_update_slice(V, np.zeros(6, np.float32), (0,)),
        "6",
    ),
    "dtype of update": (lambda m: m.dynamic_update_slice(V, np.zeros(2, np.int32), (0,)), "int32"),
    # reductions and scans
    "axis of reduce_sum": (lambda m: m.reduce_sum(F, (2,)), "2"),
    "axes of reduce_sum": (lambda m: m.reduce_sum(F, (0, 0)), "0"),
    "dtype of reduce_and": (lambda m: m.reduce_and(F, (0,)), "float32"),
    "axis of argmax": (lambda m: m.argmax(F, 2, np.int32), "2"),
    "empty argmax": (lambda m: m.argmax(E, 0, np.int32), "empty|zero|0"),
    "index of argmax": (lambda m: m.argmax(F, 0, np.float32), "float32"),
    "axis of cumsum": (lambda m: m.cumsum(F, axis=2), "2"),
    "dtype of cumlogsumexp": (lambda m: m.cumlogsumexp(I), "int32"),
    "initial value of reduce": (lambda m: m.reduce(F, np.int32(3), m.add, (0,)), "int32"),
    "initial value of any reduce": (
        lambda m: m.reduce(F, np.int32(0), lambda x, y: x + y + x * y, (0,)),
        "int32",
    ),
    "initial value of reduce_window": (
        lambda m: m.reduce_window(F, np.int32(1), m.mul, (1, 2), (1, 1), "SAME"),
        "int32",
    ),
    "rank of initial value": (lambda m: m.reduce(F, F[0], m.add, (0,)), r"\[3\]"),
    "window of reduce_window": (
        lambda m: m.reduce_window(F, np.float32(0), m.add, (2,), (1, 1), "SAME"),
        "2",
    ),
    "strides of reduce_window": (
        lambda m: m.reduce_window(F, np.float32(0), m.add, (2, 2), (0, 1), "SAME"),
        "0",
    ),
    "padding of reduce_window": (
        lambda m: m.reduce_window(F, np.float32(0), m.add, (2, 2), (1, 1), "EQUAL"),
        "EQUAL",
    ),
    "axis of sort": (lambda m: m.sort(F, dimension=2), "2"),
    "keys of sort": (lambda m: m.sort((F, F), num_keys=3), "3"),
    "fraction of keys of sort": (lambda m: m.sort(m.neg(V), num_keys=1.0), "num_keys.*1.0"),
    "fraction of an axis of sort": (lambda m: m.sort(m.neg(V), -1.0), r"dimension.*-1\.0"),
    "shapes of sort": (lambda m: m.sort((F, F[0]), num_keys=1), r"3"),
    "count of top_k": (lambda m: m.top_k(V, 6), "6"),
    "negative top_k": (lambda m: m.top_k(V, -1), "-1"),
    "rank of top_k": (lambda m: m.top_k(np.float32(1), 1), r"\[\]|scalar|axis"),
    # contraction
    "sizes of dot_general": (lambda m: dotted(m, ((1,), (1,))), "3.*2"),
    "pairs of dot_general": (lambda m: dotted(m, ((1,), ())), r"1"),
    "axis of dot_general": (lambda m: dotted(m, ((5,), (0,))), "5"),
    "repeated axes of dot_general": (lambda m: dotted(m, ((1, 1), (0, 0))), "1"),
    "batch sizes of dot_general": (lambda m: dotted(m, ((), ()), ((0,), (0,))), "2.*3"),
    "rank of dot": (lambda m: m.dot(T, F), r"2,3,4"),
    "features of conv": (lambda m: convolved(m, k=(3, 4, 2)), "4"),
    "groups of conv": (lambda m: convolved(m, feature_group_count=3), "3"),
    "no groups of conv": (lambda m: convolved(m, feature_group_count=0), "0"),
    "strides of conv": (lambda m: convolved(m, window_strides=(1, 1)), "2|1, 1"),
    "zero stride of conv": (lambda m: convolved(m, window_strides=(0,)), "0"),
    "padding of conv": (lambda m: convolved(m, padding="EQUAL"), "EQUAL"),
    "dimension numbers of conv": (
        lambda m: convolved(m, dimension_numbers=("NCW", "OIW", "NCX")),
        "X",
    ),
    "ranks of conv": (lambda m: convolved(m, k=(3, 2)), "3, 2|3,2"),
    "kind of fft": (lambda m: m.fft(C, "FTT", (3,)), "FTT"),
    "length of fft": (lambda m: m.fft(C, "FFT", (4,)), "4"),
    "lengths of fft": (lambda m: m.fft(C, "FFT", (1, 2, 3)), "3"),
    "dtype of rfft": (lambda m: m.fft(C, "RFFT", (3,)), "complex64"),
    "numbers of dot_general": (
        lambda m: m.dot_general(F, F.T, ((1,), (0,))),
        r"\(\(1,\), \(0,\)\)",
    ),
    "precision of dot": (lambda m: m.dot(F, F.T, precision="precise"), "'precise'"),
    "dtypes of a float8 algorithm": (
        lambda m: m.dot(F, F.T, precision="ANY_F8_ANY_F8_F32"),
        "float8.*float32",
    ),
    "matrices of ragged_dot": (lambda m: m.ragged_dot(F, T, SIZES), r"2,3,4.*3 groups"),
    "sizes of ragged_dot": (
        lambda m: m.ragged_dot(F, GROUPED, SIZES.astype(np.float32)),
        "float32",
    ),
    "scalar sizes of ragged_dot": (lambda m: m.ragged_dot(F, GROUPED, np.int32(1)), r"int32\[\]"),
    "contraction of ragged_dot": (lambda m: m.ragged_dot(F.T, GROUPED, SIZES), "2.*3"),
    "offset of ragged_dot": (
        lambda m: m.ragged_dot(F, GROUPED, SIZES, group_offset=np.array([1])),
        "group_offset must be None",
    ),
    "ragged axis": (lambda m: ragged(m, (5,), (0,)), r"\(5,\)"),
    "ragged axes": (lambda m: ragged(m, (0, 1), (0,)), r"\(0, 1\)"),
    "group axis": (lambda m: ragged(m, (0,), (1,)), r"\(1,\)"),
    "no group axis": (lambda m: ragged(m, (0,), ()), r"\(\)"),
    "group axis where groups are contracted": (lambda m: ragged(m, (1,), (0,)), r"\(0,\)"),
    "leading axes of sizes": (
        lambda m: ragged(m, (0,), (0,), sizes=np.ones((4, 3), np.int32)),
        "4,3",
    ),
    "rank of scaled_dot": (lambda m: m.scaled_dot(V, V), r"\[5\]"),
    "ranks of scaled_dot": (lambda m: m.scaled_dot(F, T), "2,3,4"),
    "scale of scaled_dot": (lambda m: m.scaled_dot(F, F.T, lhs_scale=F), "lhs_scale.*2,3"),
    "blocks of scaled_dot": (
        lambda m: m.scaled_dot(F, F.T, rhs_scale=np.ones((2, 2), np.float32)),
        "rhs_scale.*2,2",
    ),
    "rank of the scale": (lambda m: m.scaled_dot(F, F.T, lhs_scale=V), r"lhs_scale.*\[5\]"),
    "count of approx_max_k": (lambda m: m.approx_max_k(V, 6), "k .*6"),
    "nothing of approx_min_k": (lambda m: m.approx_min_k(V, 0), "k .*0"),
    "integers of approx_max_k": (lambda m: m.approx_max_k(I, 1), "int32"),
    "integers of approx_min_k": (lambda m: m.approx_min_k(I, 1), "int32"),
    "axis of approx_max_k": (lambda m: m.approx_max_k(V, 1, 1), "reduction_dimension 1"),
    "recall of approx_max_k": (lambda m: m.approx_max_k(V, 1, recall_target=1.5), "1.5"),
    "bounds of rng_uniform": (lambda m: m.rng_uniform(V, V, (2,)), r"\[5\]"),
    "dtypes of rng_uniform": (lambda m: m.rng_uniform(V[0], I[0, 0], (2,)), "float32.*int32"),
    "complex rng_uniform": (lambda m: m.rng_uniform(C[0, 0], C[0, 0], (2,)), "complex64"),
    "size of rng_uniform": (lambda m: m.rng_uniform(V[0], V[1], (-2,)), "-2"),
    "function of scatter_apply": (lambda m: applied(m, lambda x: x > 0), r"float32\[2\].*bool"),
    "shape of scatter_apply": (
        lambda m: applied(m, lambda x: m.broadcast(x, (2,))),
        r"float32\[2,2\]",
    ),
    "updates of scatter_apply": (lambda m: applied(m, m.neg, (3,)), "3"),
    "numbers of conv_general_permutations": (
        lambda m: m.conv_general_permutations(("NHHC", "HWIO", "NHWC")),
        "NHHC",
    ),
    "kernel of conv": (lambda m: convolved(m, k=(3, 2, 0)), "0"),
    "cut of conv": (lambda m: convolved(m, padding=[(-3, -3)]), "-3, -3"),
    "end of collapse": (lambda m: m.collapse(T, 2, 1), "stop_dimension 1.*start_dimension 2"),
    # linear algebra, and bits
    "lower integers of cholesky": (
        lambda m: m.linalg.cholesky(np.eye(2, dtype=np.int32), symmetrize_input=False),
        "int32",
    ),
    "shape of integers of eigh": (lambda m: m.linalg.eigh(I), "square matrices.*2,3"),
    "wide matrix of qdwh": (lambda m: m.linalg.qdwh(F), "m >= n.*2,3"),
    "stack of qdwh": (lambda m: m.linalg.qdwh(T), "2,3,4"),
    "integers of qdwh": (lambda m: m.linalg.qdwh(I.T), "int32"),
    "shape of cholesky": (lambda m: m.linalg.cholesky(F), "2,3"),
    "dtype of qr": (lambda m: m.linalg.qr(I), "int32"),
    "rank of svd": (lambda m: m.linalg.svd(V), r"\[5\]"),
    "sizes of triangular_solve": (
        lambda m: m.linalg.triangular_solve(np.eye(3, dtype=np.float32), F, left_side=True),
        "2",
    ),
    "key of rng_bit_generator": (
        lambda m: m.rng_bit_generator(np.zeros(3, np.uint32), (2,), np.uint32),
        "3",
    ),
    "dtype of rng_bit_generator": (
        lambda m: m.rng_bit_generator(np.zeros(4, np.uint32), (2,), np.float32),
        "float32",
    ),
}

ACCEPTED_BY_JAX = {
    "fraction of keys of sort": "a float that happens to be whole counts nothing",
    "order of broadcast_in_dim": "it transposes then; in bindax that is said by transpose",
}
"""What JAX accepts and bindax refuses on purpose."""

ACCEPTED = {
    **{
        f"gather out of bounds, {mode}": (lambda m, mode=mode: gathered(m, mode=mode))
        for mode in ("clip", "fill")
    },
    **{
        f"{name} out of bounds, {mode}": (lambda m, n=name, mode=mode: scattered(m, n, mode=mode))
        for name in ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max")
        for mode in ("clip", "fill", "drop")
    },
    **{
        f"{name} into nothing, {mode}": (lambda m, n=name, mode=mode: into_nothing(m, n, mode))
        for name in ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max")
        for mode in MODES
    },
    **{
        f"{dtype} sum from a neutral element of another dtype": (
            lambda m, dtype=dtype: m.reduce(I.astype(dtype), np.float64(0), m.add, (0,))
        )
        for dtype in ("int32", "float32", "complex64", "uint8")
    },
    "maximum from the least number of another dtype": lambda m: m.reduce(
        I, np.float32(-np.inf), m.max, (0,)
    ),
    "all bits of another dtype": lambda m: m.reduce(I + 5, np.uint8(255), m.bitwise_and, (0,)),
    "windows from a neutral element of another dtype": lambda m: m.reduce_window(
        F, np.int32(0), m.add, (1, 2), (1, 1), "SAME"
    ),
    **{
        f"dot of {one} and {other}": (
            lambda m, one=one, other=other: m.dot((I + 2).astype(one), (I.T + 3).astype(other))
        )
        for one, other in (
            *(("int32", "float32"), ("float16", "float32"), ("bool", "float32")),
            *(("complex64", "float64"), ("uint8", "int32"), ("int64", "float16")),
            *(("int32", "uint32"), ("uint8", "bool"), ("complex64", "complex128")),
        )
    },
    "dot of two dtypes in a third": lambda m: m.dot(
        I + 2, np.ones((3, 2), np.float16), preferred_element_type=np.float64
    ),
    "dot_general without numbers": lambda m: m.dot_general(F + 1, F.T + 2, None),
    "select_n by other integers": lambda m: m.select_n((I + 1).astype(np.uint8), F, F + 1),
    "cholesky of integers": lambda m: m.linalg.cholesky(np.array([[4, 2], [2, 5]], np.int32)),
    "cholesky of wide integers": lambda m: m.linalg.cholesky(np.array([[4, 2], [2, 5]])),
    "eigenvalues of integers": lambda m: m.linalg.eigh(np.array([[2, 0], [0, 3]], np.int8))[1],
    "cut of a whole axis by conv": lambda m: convolved(m, padding=[(-5, 0)]),
    "empty gather": lambda m: gathered(m, np.zeros((0, 1), np.int32)),
    "empty scatter": lambda m: scattered(
        m, updates=np.zeros(0, np.float32), indices=np.zeros((0, 1), np.int32)
    ),
    "dynamic_slice beyond the end": lambda m: m.dynamic_slice(V, (9,), (2,)),
    "dynamic_slice before the start": lambda m: m.dynamic_slice(V, (-9,), (2,)),
    "dynamic_slice from the end": lambda m: m.dynamic_slice(V, (-2,), (2,)),
    "dynamic_update_slice beyond the end": lambda m: m.dynamic_update_slice(V, V[:2] + 7, (9,)),
    "zero-size contraction": lambda m: dotted(m, x=F[:, :0], y=E[:, :2]),
    "empty operands of dot": lambda m: m.dot(E, F.T),
    "zero-size product": lambda m: m.reduce_prod(E, (0,)),
    "zero-size sum": lambda m: m.reduce_sum(E, (0,)),
    "zero-size max": lambda m: m.reduce_max(E, (0,)),
    "zero-size min of integers": lambda m: m.reduce_min(E.astype(np.int8), (0,)),
    "zero-size and": lambda m: m.reduce_and(E.astype(bool), (0,)),
    "empty cumsum": lambda m: m.cumsum(E, axis=0),
    "empty sort": lambda m: m.sort(E, dimension=0),
    "empty concatenate": lambda m: m.concatenate([E, E], 0),
    "empty transpose": lambda m: m.transpose(E, (1, 0)),
    "empty reshape": lambda m: m.reshape(E, (5, 0)),
    "empty convolution": lambda m: convolved(m, x=(0, 2, 5)),
    "convolution without features": lambda m: convolved(m, x=(1, 0, 5), k=(3, 0, 2)),
    "window larger than the array": lambda m: m.reduce_window(
        F, np.float32(1), m.add, (3, 4), (1, 1), "VALID"
    ),
    "empty top_k": lambda m: m.top_k(V, 0),
    "empty split": lambda m: m.split(F, (0, 3), axis=1),
    "argmax of one axis of an empty array": lambda m: m.argmax(E, 1, np.int32),
    "shift by more than there are bits": lambda m: m.shift_left(I + 3, I + 40),
    "arithmetic shift by more": lambda m: m.shift_right_arithmetic(I - 3, I + 40),
    "integer division by zero": lambda m: m.div(I + 3, I),
    "remainder of zero": lambda m: m.rem(I + 3, I),
    "empty decomposition": lambda m: m.linalg.cholesky(np.zeros((2, 0, 0), np.float32)),
    "real numbers where complex ones are transformed": lambda m: m.fft(F, "IRFFT", (4,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_by_jax_and_the_message_shows_the_values(name, jax_answers):
    call, text = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=f"(?s){text}"):
        call(lax)
    with pytest.raises((TypeError, ValueError), match=f"(?s){text}"):
        bt.make_jaxpr(lambda: call(lax))()
    refused = jax_answers("refused", lambda jax: is_refused(call, jax.lax))
    assert refused == (name not in ACCEPTED_BY_JAX)


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_as_by_jax_with_the_same_result(name, jax_answers):
    call = ACCEPTED[name]
    got = call(lax)
    wanted = jax_answers("value", lambda jax: jax.tree.leaves(call(jax.lax)))
    for a, b in zip(tree_leaves(got), wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
