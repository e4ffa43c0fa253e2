"""``x[...]`` and ``x.at[...].get`` beside NumPy's and JAX's."""

import numpy as np
import pytest
from _indexing import array, compiled, traced_parts

import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.errors import ConcretizationTypeError
from bindax_lax_basic.samples.indices import INDEXED as X
from bindax_lax_basic.samples.indices import INDICES as TABLE

I = np.array([0, 3, -1])
OUT = np.array([7, -9, 2])
ROWS = np.array([True, False, True, True])


@pytest.mark.every(2)
@pytest.mark.parametrize("index", TABLE.values(), ids=TABLE)
def test_values(index):
    wanted = X[index]
    np.testing.assert_array_equal(np.asarray(array(X)[index]), wanted, strict=True)
    np.testing.assert_array_equal(np.asarray(array(X).at[index].get()), wanted, strict=True)
    rebuild, dynamic = traced_parts(index)
    got = bt.jit(lambda x, *arrays: x[rebuild(arrays)])(X, *dynamic)
    np.testing.assert_array_equal(np.asarray(got), wanted, strict=True)
    got = compiled(lambda x, *arrays: x[rebuild(arrays)], X, *dynamic)
    np.testing.assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("index", TABLE.values(), ids=TABLE)
def test_derivatives(index):
    weights = np.cos(np.arange(X[index].size)).reshape(X[index].shape)
    wanted = np.zeros_like(X)
    np.add.at(wanted, index, weights)
    gradient = bt.grad(lambda x: (x[index] * weights).sum())(X)
    np.testing.assert_allclose(np.asarray(gradient), wanted)
    tangent = bt.jvp(lambda x: x[index], (X,), (X,))[1]
    np.testing.assert_array_equal(np.asarray(tangent), X[index])


@pytest.mark.parametrize("name", ["array and slice", "arrays apart", "slices with steps", "array"])
def test_batches_of_positions(name):
    rebuild, dynamic = traced_parts(TABLE[name])
    stacked = [np.stack([d, (d + 1) % 2]) for d in dynamic]
    rows = [X[rebuild([s[n] for s in stacked])] for n in range(2)]
    pick = lambda x, *arrays: x[rebuild(arrays)]  # noqa: E731
    got = bt.vmap(pick, in_axes=(None, *[0] * len(dynamic)))(array(X), *stacked)
    np.testing.assert_array_equal(np.asarray(got), np.stack(rows))
    both = bt.vmap(pick)(np.stack([X, -X]), *stacked)
    np.testing.assert_array_equal(np.asarray(both), np.stack([rows[0], -rows[1]]))


MODES = [None, "clip", "fill", "drop", "promise_in_bounds"]
DTYPES = ["int32", "uint8", "bool", "bfloat16"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_out_of_bounds(mode, dtype, jax_answers):
    x = np.asarray(lax.convert_element_type(X, dtype))
    indices = [OUT, (slice(1, 3), OUT), 9, -9, (1, 9), np.array([2**40, -(2**40)])]
    keys = [str(number) for number in range(len(indices))]
    answers = jax_answers.each(
        keys, lambda jax: [jax.numpy.asarray(x).at[index].get(mode=mode) for index in indices]
    )
    for index, wanted in zip(indices, answers, strict=True):
        got = array(x).at[index].get(mode=mode)
        assert got.dtype == wanted.dtype
        if dtype == "bfloat16":  # of which NumPy does not know that nan is nan
            got, wanted = got.astype("float32"), wanted.array.astype("float32")
        # JAX narrows wide positions, which changes them.
        if not isinstance(index, np.ndarray) or index is OUT:
            np.testing.assert_array_equal(np.asarray(got), np.asarray(wanted))
    far = array(x).at[indices[-1]].get(mode="clip")
    np.testing.assert_array_equal(np.asarray(far), x[[-1, 0]])


def test_fill_values():
    x = array(np.arange(5.0))
    fill = x.at[np.array([1, 9])].get(mode="fill", fill_value=-3)
    np.testing.assert_array_equal(np.asarray(fill), [1, -3])
    one_hot = x.at[np.array([1, 9])].get(mode="one_hot")
    np.testing.assert_array_equal(np.asarray(one_hot), [1, 0])
    kept = x.at[np.array([-1, 1])].get(mode="fill", fill_value=0, wrap_negative_indices=False)
    np.testing.assert_array_equal(np.asarray(kept), [0, 1])
    traced = bt.jit(lambda x, i: x.at[i].get(mode="fill", fill_value=7))(x, 6)
    assert float(traced) == 7


def test_unsigned_positions_of_32_bits_are_not_taken_for_negative_ones():
    x, places = np.arange(5.0), np.array([[2**31], [1], [2**32 - 1]], np.uint32)
    numbers = lax.GatherDimensionNumbers((), (0,), (0,))

    def read(places):
        return lax.gather(x, places, numbers, (1,), mode="clip")

    np.testing.assert_array_equal(np.asarray(read(places)), [4, 1, 4])
    np.testing.assert_array_equal(compiled(read, places), [4, 1, 4])


def test_empty_arrays():
    x = np.zeros((0, 3))
    assert array(x)[np.zeros((2, 0), int)].shape == (2, 0, 3)
    assert array(x)[:, np.array([2, 0])].shape == (0, 2)
    assert array(x).at[np.array([4])].get(mode="fill", fill_value=2).tolist() == [[2.0] * 3]
    with pytest.raises(IndexError, match="axis without elements is indexed"):
        array(x)[np.array([0])]
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 0"):
        array(x)[0]


def test_masks_that_are_concrete_in_transformations():
    gradient = bt.grad(lambda x: x[x > 2.0].sum())(np.arange(5.0))
    np.testing.assert_array_equal(np.asarray(gradient), [0, 0, 0, 1, 1])
    staged = bt.jit(lambda x: x[ROWS].sum())(np.arange(4.0))
    assert float(staged) == 5.0


def test_tuples_inside_of_an_index_are_positions():
    np.testing.assert_array_equal(np.asarray(array(X)[..., (1, 0)]), X[..., (1, 0)])
    got = bt.jit(lambda x, i: x[(i, 0), :])(array(X), 1)
    np.testing.assert_array_equal(np.asarray(got), X[(1, 0), :])


ERRORS = [
    (lambda x: x[[0, 1]], TypeError, r"got the list \[0, 1\].*numpy.array"),
    (lambda x: x[1.0], TypeError, "got 1.0 of type float"),
    (lambda x: x["a"], TypeError, "got 'a' of type str"),
    (lambda x: x[np.array([0.5])], TypeError, "and dtype float64"),
    (lambda x: x[I, I[:2]], ValueError, "do not broadcast together"),
    (lambda x: x[0, 0, 0, 0, 0], IndexError, "too many indices: 5"),
    (lambda x: x[ROWS, ROWS, ROWS, ROWS, ROWS], IndexError, "too many indices: 5"),
    (lambda x: x[ROWS[:3]], IndexError, r"boolean index of shape \(3,\).*sizes \(4,\)"),
    (lambda x: x[..., 0, ...], IndexError, "one Ellipsis"),
    (lambda x: x[9, I], IndexError, "index 9 is out of bounds for axis 0"),
    (lambda x: x[::0], ValueError, "step"),
    (lambda x: x[1.5:], TypeError, "bounds of a slice must be integers"),
    (lambda x: x.at[0].get(mode="round"), ValueError, "'clip', 'fill'.*'round'"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS, ids=[e[2] for e in ERRORS])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(array(X))
    with pytest.raises(error, match=text):
        bt.make_jaxpr(call)(X)


def test_errors_while_tracing():
    with pytest.raises(ConcretizationTypeError, match=r"traced: bool\[4\].*bindax\.numpy\.where"):
        bt.jit(lambda x, m: x[m])(X, ROWS)
    with pytest.raises(ConcretizationTypeError, match="mask is traced"):
        bt.jit(lambda x, m: x.at[m].set(0.0))(X, ROWS)
    with pytest.raises(TypeError, match=r"lax\.dynamic_slice_in_dim"):
        bt.jit(lambda x, i: x[i:])(X, 1)
    with pytest.raises(TypeError, match=r"x\.at\[i\]\.set\(y\)"):
        array(X)[0] = 1.0
