"""Reductions, windows, scans, sorts and splits: what no comparison with JAX shows."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.extend import tree_leaves
from bindax_lax_basic.samples.reductions import REDUCTION_SAMPLES

F = np.zeros((2, 3), np.float32)
I = np.zeros((2, 3), np.int32)
B = np.zeros((2, 3), bool)
C = np.zeros((2, 3), np.complex64)
KEY = np.zeros(4, np.uint32)


def reduce_pairs(a, b):
    return a[0], b[1]


def using_a_tracer(x):
    return lax.reduce(F, 0.0, lambda a, b: lax.mul(lax.add(a, b), x), (0,))


CASES = [
    (lambda: lax.cumprod(B), TypeError, "cumprod does not accept the dtype bool"),
    (lambda: lax.cumlogsumexp(I), TypeError, "cumlogsumexp does not accept the dtype int32"),
    (lambda: lax.cummax(F, axis=2), ValueError, "cummax: axis 2 is out of bounds"),
    (lambda: lax.cummin(np.float32(1)), ValueError, "the operand is a scalar"),
    (lambda: lax.reduce(F, 0.0, lax.add, (2,)), ValueError, "dimensions 2 is out of bounds"),
    (lambda: lax.reduce(F, 0.0, lax.add, (0, 0)), ValueError, "name an axis twice"),
    (lambda: lax.reduce(F, 1, lax.add, (0,)), TypeError, r"must have its dtype.*int64\[\]"),
    (lambda: lax.reduce(F, F[0], lax.add, (0,)), ValueError, r"must be a scalar.*float32\[3\]"),
    (lambda: lax.reduce((F, F), (0.0,), reduce_pairs, (0,)), ValueError, "the same structure"),
    (lambda: lax.reduce((F, F[0]), (0.0, 0.0), reduce_pairs, (0,)), TypeError, "equal shapes"),
    (lambda: lax.reduce([], [], reduce_pairs, ()), ValueError, "needs at least one operand"),
    (lambda: lax.reduce(F, 0.0, lax.gt, (0,)), TypeError, r"gt.* returns bool\[\]"),
    (lambda: lax.reduce(F, 0.0, lambda a, b: (a, b), (0,)), TypeError, "must return the structure"),
    (lambda: bt.jit(using_a_tracer)(np.float32(2)), TypeError, "must not use traced arrays"),
    (lambda: lax.reduce_xor(F), TypeError, "reduce_xor does not accept the dtype float32"),
    (lambda: lax.reduce_window(F, 0.0, lax.add, (2,)), TypeError, "one entry for each of the 2"),
    (
        lambda: lax.reduce_window(F, 0.0, lax.add, (0, 2)),
        ValueError,
        "window_dimensions must be pos",
    ),
    (lambda: lax.reduce_window(F, 0.0, lax.add, (1, 1), (0, 1)), ValueError, "window_strides must"),
    (
        lambda: lax.reduce_window(F, 0.0, lax.add, (1, 1), None, "FULL"),
        ValueError,
        "but got 'FULL'",
    ),
    (lambda: lax.reduce_window(F, 0.0, lax.add, (1, 1), None, [(1, 1)]), TypeError, "one pair"),
    (
        lambda: lax.reduce_window(F, 0.0, lax.add, (1, 1), None, [(-3, 0), (0, 0)]),
        ValueError,
        "leaves the negative sizes",
    ),
    (
        lambda: lax.select_and_gather_add(F, F[0], lax.ge_p, (1,)),
        TypeError,
        r"equal shapes, but got float32\[2,3\] and float32\[3\]",
    ),
    (
        lambda: lax.select_and_gather_add(F, F, lax.gt_p, (1, 1)),
        TypeError,
        "select_prim must be ge_p or le_p",
    ),
    (
        lambda: lax.select_and_scatter_add(F, F, lax.ge_p, (2, 2)),
        TypeError,
        r"one element for each window.*the shape \(1, 2\)",
    ),
    (
        lambda: lax.select_and_scatter(F, lax.add, (1, 1), None, "VALID", F, 0.0, lax.add),
        TypeError,
        r"select must return bool\[\]",
    ),
    (lambda: lax.sort([]), TypeError, "at least one array"),
    (lambda: lax.sort([F, F[0]]), TypeError, "arrays of equal shapes"),
    (lambda: lax.sort(F, dimension=2), ValueError, "dimension 2 is out of bounds"),
    (lambda: lax.sort([F, F], num_keys=3), ValueError, "between 1 and 2"),
    (lambda: lax.sort(F, num_keys=0), ValueError, "between 1 and 1"),
    (lambda: lax.top_k(F, 4), ValueError, "between 0 and 3, the size of axis 1"),
    (lambda: lax.top_k(F, -1), ValueError, "but it is -1"),
    (lambda: lax.top_k(C, 1), TypeError, "top_k does not accept the dtype complex64"),
    (lambda: lax.top_k(F, 1, axis=2), ValueError, "axis 2 is out of bounds"),
    (lambda: lax.split(F, (1, 1), 1), ValueError, "sum to 2, but axis 1"),
    (lambda: lax.split(F, (-1, 4), 1), ValueError, "must not be negative"),
    (lambda: lax.split(F, (3,), 2), ValueError, "axis 2 is out of bounds"),
    (lambda: lax.tile(F, (2,)), TypeError, "one entry for each of the 2 axes"),
    (lambda: lax.tile(F, (2, -1)), ValueError, "reps must not be negative"),
    (lambda: lax.stack([]), ValueError, "at least one array"),
    (lambda: lax.stack([F, F[0]]), ValueError, "arrays of equal shapes"),
    (lambda: lax.stack([F, I]), TypeError, "equal dtypes"),
    (lambda: lax.unstack(np.float32(0)), ValueError, "the operand is a scalar"),
    (lambda: lax.rng_bit_generator(KEY[:3], (2,)), TypeError, r"uint32\[4\] or uint64\[2\].*\[3\]"),
    (lambda: lax.rng_bit_generator(KEY, (2,), "int32"), TypeError, "but dtype is int32"),
    (lambda: lax.rng_bit_generator(KEY, (-2,)), ValueError, "must not be negative"),
    (lambda: lax.rng_bit_generator(KEY, (2,), algorithm=7), ValueError, "but it is 7"),
]


@pytest.mark.parametrize(("call", "error", "text"), CASES, ids=[case[2] for case in CASES])
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.every(8)
@pytest.mark.parametrize("sample", REDUCTION_SAMPLES, ids=[s.label for s in REDUCTION_SAMPLES])
def test_batches_are_stacked_results(sample):
    batches = [np.stack(pair) for pair in zip(sample.make(), sample.make(1), strict=True)]
    got = bt.vmap(lambda *xs: sample.call(lax, *xs))(*batches)
    rows = [sample.call(lax, *[x[i] for x in batches]) for i in range(2)]
    for batch, *elements in zip(*map(tree_leaves, (got, *rows)), strict=True):
        wide = [np.asarray(x) for x in (batch, *elements)]
        wide = [x.astype(np.float32) if x.dtype.kind == "V" else x for x in wide]
        np.testing.assert_allclose(
            wide[0], np.stack(wide[1:]), rtol=2e-2 if x_is_narrow(batch) else 1e-5
        )


def x_is_narrow(x):
    return x.dtype.itemsize == 2


def test_order_of_zeros_and_nans():
    x = np.array([np.nan, 1, 0.0, -0.0, -np.nan, np.inf, -np.inf], np.float32)
    values, places = lax.sort_key_val(x, np.arange(7, dtype=np.int32))
    np.testing.assert_array_equal(places, [6, 2, 3, 1, 5, 0, 4])
    np.testing.assert_array_equal(values, x[[6, 2, 3, 1, 5, 0, 4]])
    np.testing.assert_array_equal(lax.top_k(x, 7)[1], [0, 5, 1, 2, 3, 6, 4])


def test_sort_of_several_keys_takes_the_derivatives_along():
    keys = np.array([1, 0, 1, 0], np.int32)
    x, t = np.array([4.0, 3.0, 2.0, 1.0]), np.array([10.0, 20.0, 30.0, 40.0])
    (_, out), (_, tangent) = bt.jvp(
        lambda x: lax.sort([lax.convert_element_type(keys, "int32"), x], num_keys=2), (x,), (t,)
    )
    np.testing.assert_array_equal(out, [1.0, 3.0, 2.0, 4.0])
    np.testing.assert_array_equal(tangent, [40.0, 20.0, 30.0, 10.0])


def difference(function, x, step=1e-6):
    """The gradient by central differences."""
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = step
        out[i] = (float(function(x + d)) - float(function(x - d))) / (2 * step)
    return out


def check_gradient(function, x, tolerance=1e-5):
    wanted = difference(function, x)
    np.testing.assert_allclose(bt.grad(function)(x), wanted, tolerance, tolerance)


def total(x):
    return lax.reduce_sum(lax.mul(x, lax.sin(x)))


POOL = ((2, 3), (1, 2), "SAME", (2, 1), (1, 2))


@pytest.mark.parametrize("name", ["add", "max"])
def test_pooling_twice_differentiated(name):
    init = {"add": 0.0, "max": -np.inf}[name]
    x = np.random.default_rng(0).standard_normal((3, 4))

    def pooled(x):
        return total(lax.reduce_window(lax.mul(x, x), init, getattr(lax, name), *POOL))

    check_gradient(pooled, x)
    check_gradient(lambda x: total(bt.grad(pooled)(x)), x)


def test_scattering_by_any_computation_is_differentiable():
    x = np.random.default_rng(1).standard_normal((3, 4))
    source = np.random.default_rng(2).standard_normal((2, 3))

    def scattered(source):
        out = lax.select_and_scatter(
            x, lax.ge, (2, 2), (1, 1), "VALID", source, 0.5, lambda a, b: lax.mul(a, lax.sin(b))
        )
        return total(out)

    check_gradient(scattered, source)


def test_general_reduction_is_differentiable_in_its_initial_value():
    x = np.random.default_rng(3).standard_normal((3, 5))

    def reduced(a):
        joined = lambda p, q: lax.add(lax.add(p, q), lax.mul(p, q))  # noqa: E731
        return total(lax.reduce(x, a, joined, (1,)))

    check_gradient(reduced, np.array(0.3))


@pytest.mark.parametrize("name", ["cumprod", "cummax", "cumlogsumexp"])
def test_scans_twice_differentiated(name):
    x = np.array([0.5, -1.2, 0.0, 2.0, 0.7])

    def scanned(x):
        return total(getattr(lax, name)(x))

    check_gradient(scanned, x)
    check_gradient(lambda x: total(bt.grad(scanned)(x)), x, 1e-4)


def test_products_through_zeros():
    gradient = bt.grad(lambda x: lax.reduce_sum(lax.cumprod(x)))(np.array([2.0, 0.0, 0.0, 3.0]))
    np.testing.assert_array_equal(gradient, [1.0, 2.0, 0.0, 0.0])


def test_logarithms_of_nothing_and_of_everything():
    x = np.array([-np.inf, -np.inf, 1.0, np.inf])
    np.testing.assert_array_equal(lax.cumlogsumexp(x), x)
    gradient = bt.grad(lambda x: lax.cumlogsumexp(x)[2])(x)
    np.testing.assert_array_equal(gradient, [0.0, 0.0, 1.0, 0.0])


def test_batches_of_random_bits_are_those_of_each_key():
    keys = np.arange(8, dtype=np.uint32).reshape(2, 4)
    states, bits = bt.vmap(lambda key: lax.rng_bit_generator(key, (3,)))(keys)
    for i in range(2):
        state, row = lax.rng_bit_generator(keys[i], (3,))
        np.testing.assert_array_equal(states[i], state)
        np.testing.assert_array_equal(bits[i], row)


def test_batches_of_random_bits_compiled():
    pytest.importorskip("bindax_xla_backend")
    keys = np.arange(8, dtype=np.uint32).reshape(2, 4)
    batch = bt.vmap(lambda key: lax.rng_bit_generator(key, (3,), "uint8"))
    with bx.config.override(backend="xla"):
        compiled = bt.jit(batch)(keys)
    for got, wanted in zip(compiled, batch(keys), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_evaluation_leaves_the_callers_arrays_alone():
    x = np.ones((2, 3))
    lax.reduce_window(x, 0.0, lambda a, b: lax.add(a, lax.mul(b, b)), (2, 2))
    out = lax.optimization_barrier(x)
    x[:] = 5.0
    np.testing.assert_array_equal(out, np.ones((2, 3)))


def test_products_at_one_place_are_differentiated_thrice_through_zeros():
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    places = np.array([[1], [0], [1], [1]])

    def product(u):
        return lax.scatter_mul(np.array([2.0, 5.0]), places, u, numbers)[1]

    third = bt.jacfwd(bt.jacfwd(bt.jacrev(product)))(np.zeros(4))
    wanted = np.zeros((4, 4, 4))
    for i, j, k in [(0, 2, 3), (0, 3, 2), (2, 0, 3), (2, 3, 0), (3, 0, 2), (3, 2, 0)]:
        wanted[i, j, k] = 5.0
    np.testing.assert_array_equal(third, wanted)


def test_the_largest_of_many():
    x = np.random.default_rng(4).integers(0, 9, (3, 100)).astype(np.int32)
    values, places = lax.top_k(x, 5)
    order = np.argsort(-x, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


def test_batches_of_reductions_of_several_arrays_are_one_reduction():
    def both(x, y):
        return lax.add(x[0], y[0]), lax.mul(x[1], y[1])

    def reduced(x, y):
        return lax.reduce((x, y), (0.0, 1.0), both, (0,))

    x = np.arange(6.0).reshape(2, 3)
    program = bt.make_jaxpr(bt.vmap(reduced))(x, x)
    assert [eqn.primitive.name for eqn in program.jaxpr.eqns] == ["reduce"]
    for found, wanted in zip(bt.vmap(reduced)(x, x), (x.sum(1), x.prod(1)), strict=True):
        np.testing.assert_array_equal(np.asarray(found), wanted)


def test_a_computation_is_traced_once_while_it_sees_the_same():
    traces, most = [], 9.0
    note = traces.append

    def add(a, b):
        note("add")
        return lax.min(lax.add(a, b), np.float32(most))

    x = np.ones(3, np.float32)
    assert [float(lax.reduce(x, np.float32(0), add, (0,))) for _ in range(3)] == [3.0] * 3
    assert len(traces) == 1
    most = 2.0
    assert float(lax.reduce(x, np.float32(0), add, (0,))) == 2.0


@pytest.mark.parametrize(("dtype", "large"), [("bfloat16", 256), ("float16", 2048)])
def test_compiled_sums_and_products_of_16_bits_round_once(dtype, large):
    pytest.importorskip("bindax_xla_backend")
    x = lax.convert_element_type(np.array([large, 1.0, 1.0, 0.0]), dtype)
    zero = lax.convert_element_type(0.0, dtype)
    near_one = lax.convert_element_type(np.full(64, 1 + 2 / large), dtype)
    window = {"window_dimensions": (3,), "window_strides": (1,), "padding": "VALID"}
    for function, operand in (
        (lambda x: lax.reduce_sum(x, (0,)), x),
        (lambda x: lax.cumsum(x)[2], x),
        (lambda x: lax.reduce_window(x, zero, lax.add, **window)[0], x),
        (lambda x: lax.reduce_prod(x, (0,)), near_one),
    ):
        evaluated, compiled = function(operand), bt.jit(function)(operand)
        assert float(compiled) == float(evaluated)
    assert float(bt.jit(lambda x: lax.reduce_sum(x, (0,)))(x)) == large + 2


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_compiled_updates_of_16_bits_are_added_up_before_they_are_rounded(dtype):
    pytest.importorskip("bindax_xla_backend")
    ones = lax.convert_element_type(np.ones(4096), dtype)
    zeros, index = lax.convert_element_type(np.zeros(3), dtype), np.zeros(4096, int)
    near_one = lax.convert_element_type(np.full(64, 1.0078125), dtype)
    product = float(lax.reduce_prod(near_one, (0,)))
    for function, wanted in (
        (lambda x: x.at[index].add(ones), 4096.0),
        (lambda x: x.at[index].subtract(ones), -4096.0),
        (lambda x: (x + 1).at[index[:64]].multiply(near_one), product),
        (bt.grad(lambda x: lax.reduce_sum(x[index].astype("float32"), (0,))), 4096.0),
    ):
        for result in (function(zeros), bt.jit(function)(zeros)):
            assert result.dtype == dtype
            assert float(result[0]) == wanted
