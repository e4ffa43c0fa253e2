"""What needs no reference but NumPy: any shapes, transformations, errors, dtypes by name."""

import itertools
from typing import Any

import hypothesis
import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest

import bindax_core as bx
import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.extend import typeof

A = np.arange(6, dtype=np.float32).reshape(2, 3)
V = np.arange(3, dtype=np.float32)
SETTINGS = hypothesis.settings(max_examples=25, deadline=None, derandomize=True)


def values(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def assert_close(got, wanted):
    assert np.shape(got) == np.shape(wanted)
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def describe(x):
    aval = typeof(x)
    return aval.dtype.name, aval.weak_type


# ---------------------------------------------------------------------------------- any shapes


@SETTINGS
@hypothesis.given(arrays.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3))
def test_elementwise_functions_broadcast(shapes):
    x, y, z = (values(shape, i) for i, shape in enumerate(shapes.input_shapes))
    assert_close(jnp.add(x, y), x + y)
    assert_close(jnp.where(x > 0, y, z), np.where(x > 0, y, z))
    for got, wanted in zip(jnp.broadcast_arrays(x, y), np.broadcast_arrays(x, y), strict=True):
        assert_close(got, wanted)


@SETTINGS
@hypothesis.given(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3), st.data())
def test_reductions_over_any_axes(shape, data):
    axes = st.lists(st.integers(-len(shape), len(shape) - 1), unique_by=lambda i: i % len(shape))
    axis = data.draw(st.none() | axes.map(tuple)) if shape else None
    keepdims = data.draw(st.booleans())
    x = values(shape)
    for name in ("sum", "prod", "all", "count_nonzero"):
        got = getattr(jnp, name)(x, axis=axis, keepdims=keepdims)
        assert_close(got, getattr(np, name)(x, axis=axis, keepdims=keepdims))
    if x.size:
        for name in ("mean", "var", "max", "ptp"):
            got = getattr(jnp, name)(x, axis=axis, keepdims=keepdims)
            assert_close(got, getattr(np, name)(x, axis=axis, keepdims=keepdims))


@SETTINGS
@hypothesis.given(arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3), st.data())
def test_rearrangements(shape, data):
    x = values(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    shift = data.draw(st.integers(-5, 5))
    order = data.draw(st.permutations(range(len(shape))))
    for name, args in (
        ("roll", (shift, axis)),
        ("flip", (axis,)),
        ("repeat", (abs(shift), axis)),
        ("moveaxis", (axis, 0)),
        ("transpose", (order,)),
        ("expand_dims", (axis,)),
        ("tile", ((2, 1),)),
    ):
        assert_close(getattr(jnp, name)(x, *args), getattr(np, name)(x, *args))
    assert_close(jnp.stack([x, x], axis), np.stack([x, x], axis))
    assert_close(jnp.concatenate([x, x], axis), np.concatenate([x, x], axis))


class _Indexed:
    """Parts that are indexed by numbers, with no method that iterates."""

    def __getitem__(self, index: int) -> Any:
        return np.array([[1.0], [2.0]])[index]


@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack", "dstack"])
def test_join_what_is_indexed(name: str) -> None:
    assert_close(getattr(jnp, name)(_Indexed()), getattr(np, name)([[1.0], [2.0]]))


@SETTINGS
@hypothesis.given(st.data())
def test_einsum_of_random_subscripts(data):
    letters = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3)
    first, second = data.draw(letters), data.draw(letters)
    names = sorted({*first, *second})
    output = data.draw(st.lists(st.sampled_from(names), unique=True))
    sizes = dict(zip("abcd", (2, 3, 1, 4), strict=True))
    x, y = (values([sizes[c] for c in part], i) for i, part in enumerate((first, second)))
    subscripts = f"{''.join(first)},{''.join(second)}->{''.join(output)}"
    assert_close(jnp.einsum(subscripts, x, y), np.einsum(subscripts, x, y))


# ------------------------------------------------------------------------------ transformations


@pytest.mark.parametrize(
    "f",
    [
        lambda x: jnp.sum(jnp.sin(x)),
        lambda x: jnp.where(x > 1, x, 0.0),
        lambda x: jnp.var(x),
        lambda x: jnp.stack([x, 2 * x]),
        lambda x: jnp.einsum("i,j->ij", x, x),
        lambda x: jnp.roll(x, 1) + jnp.cumsum(x),
        lambda x: jnp.linalg.norm(x, 1),
        lambda x: jnp.array([x[0], [x[1], x[2]][1]]),
        lambda x: jnp.dot(x, jnp.arange(3.0)),
    ],
)
def test_mapping_is_a_loop(f):
    assert_close(bt.vmap(f)(A), np.stack([np.asarray(f(row)) for row in A]))
    assert_close(bt.jit(bt.vmap(f))(A), bt.vmap(f)(A))


def test_arrays_of_nested_sequences_of_traced_values():
    def f(x, y):
        return jnp.array([[x, 1], (y, x * y)])

    assert_close(bt.jit(f)(np.float32(2), np.float32(3)), [[2, 1], [3, 6]])
    assert_close(bt.jacfwd(f, argnums=1)(np.float32(2), np.float32(3)), [[0, 0], [1, 2]])
    assert_close(jnp.array([[V, V], [V, V]]), np.array([[V, V], [V, V]]))


def test_traced_shift_of_roll():
    for shift in (-4, 0, 2, 5):
        assert_close(bt.jit(jnp.roll)(V, np.int32(shift)), np.roll(V, shift))


def test_vectorize():
    double = jnp.vectorize(lambda x, y: 2 * x + y)
    assert_close(double(A, V), 2 * A + V)
    assert_close(double(A[:, :1], V), 2 * A[:, :1] + V)
    product = jnp.vectorize(lambda x, y: x @ y, signature="(n,m),(m)->(n)")
    stacked = values((4, 2, 3))
    assert_close(product(stacked, V), stacked @ V)
    assert_close(product(stacked[:, None], A), np.einsum("bnm,jm->bjn", stacked, A))
    scaled = jnp.vectorize(lambda k, x: x * k, excluded={0})
    assert_close(bt.jit(lambda x: scaled(3, x))(A), 3 * A)
    both = jnp.vectorize(lambda x: (x.sum(), x), signature="(n)->(),(n)")
    assert_close(both(A)[0], A.sum(1))


# ------------------------------------------------------------------------- dtypes and weak types


def test_numpy_arrays_and_named_dtypes_keep_64_bits():
    assert describe(jnp.asarray(np.arange(3.0))) == ("float64", False)
    assert describe(jnp.zeros(3, "float64")) == ("float64", False)
    assert describe(jnp.array([1, 2], jnp.int64)) == ("int64", False)
    assert describe(jnp.sum(np.arange(3))) == ("int64", False)


def test_python_scalars_are_doubles_among_themselves_and_settle_in_arrays():
    for scalar, default in ((1.5, "float32"), (2, "int32"), (1j, "complex64")):
        assert describe(jnp.asarray(scalar)) == (default, True)
        assert describe(bt.jit(jnp.asarray)(scalar)) == (default, True)
        assert describe(jnp.array([scalar])) == (default, False)
        for f in (jnp.square, jnp.negative, lambda x: jnp.add(x, x)):
            assert describe(f(scalar)) == describe(bt.jit(f)(scalar))
    assert describe(jnp.sin(1.0)) == ("float64", True)
    assert describe(jnp.sin(1.0) + V) == ("float32", False)
    assert describe(bt.vmap(lambda c: jnp.where(c, 1.0, 0))(V)) == ("float32", True)


def test_default_dtypes_of_64_bits():
    with bx.config.override(default_dtype_bits=64):
        assert describe(jnp.zeros(2)) == ("float64", False)
        assert describe(jnp.arange(3)) == ("int64", False)
        assert jnp.float_ == np.float64
        assert describe(jnp.asarray(1.0)) == ("float64", True)
    assert jnp.float_ == np.float32


def test_scalar_types_stand_for_dtypes():
    assert describe(jnp.float32(3)) == ("float32", False)
    assert jnp.zeros(1, jnp.bfloat16).dtype == ml_dtypes.bfloat16
    assert jnp.zeros(1, jnp.bool_).dtype == jnp.bool_
    assert jnp.float32 == np.dtype("float32")
    assert jnp.float32 == np.float32
    assert jnp.float32 != jnp.float64
    assert jnp.float32 != "float32"
    assert {jnp.int8: 1}[jnp.int8] == 1
    assert jnp.int8 in {np.int8, np.int16}
    assert np.zeros(2, jnp.int16).dtype == np.int16
    assert jnp.result_type(jnp.int8, jnp.float16) == np.float16
    assert repr(jnp.int8) == "<dtype int8 of bindax.numpy>"
    assert jnp.issubdtype(np.floating, jnp.inexact)
    assert not jnp.issubdtype(np.floating, jnp.float32)
    assert jnp.issubdtype(jnp.int8, "int8")
    assert not jnp.issubdtype(bool, jnp.number)
    assert jnp.iinfo(jnp.int4).max == 7


def test_functions_do_not_alias_what_can_be_written_to():
    host = np.zeros(3)
    made = [jnp.asarray(host), jnp.positive(host), jnp.reshape(host, (3,)), jnp.array([host])]
    host[:] = 1
    assert all(not np.asarray(x).any() for x in made)


def test_what_has_arrays_of_its_own_is_accepted():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.arange(2)

    assert_close(jnp.asarray(Column()), [0, 1])
    assert_close(jnp.array(memoryview(b"ab")), [97, 98])
    assert_close(jnp.array(range(3)), [0, 1, 2])
    assert jnp.zeros_like(bx.ShapeDtypeStruct((2,), np.dtype("int8"))).dtype == np.int8


def test_every_public_function_has_an_example():
    for module in (jnp, jnp.linalg, jnp.fft):
        for name in module.__all__:
            value = getattr(module, name)
            if (
                callable(value)
                and not isinstance(value, type)
                and value is not getattr(np, name, 0)
            ):
                assert ">>> " in value.__doc__, name


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jnp.add([1], 2), TypeError, r"argument 0 is \[1\] of type list.*asarray"),
        (lambda: jnp.sin(None), TypeError, "argument 0 is None"),
        (lambda: jnp.array(None), ValueError, "None of type NoneType is no number"),
        (lambda: jnp.array([1, [2, "a"]]), TypeError, r"'a' of type str at \[1\]\[1\]"),
        (lambda: jnp.array([[1, 2], [3]]), ValueError, r"ragged.*\[1\] has the shape \(1,\)"),
        (lambda: jnp.array(2**40), OverflowError, "1099511627776 does not fit into int32.*int64"),
        (lambda: jnp.array([2**40]), OverflowError, "does not fit into int32"),
        (lambda: jnp.array(-1, "uint8"), OverflowError, "-1 does not fit into uint8"),
        (lambda: jnp.array(np.array(["a"])), TypeError, "cannot have the dtype"),
        (lambda: jnp.zeros(-1), ValueError, "must not be negative"),
        (lambda: bt.jit(jnp.arange)(3), TypeError, "known while tracing"),
        (lambda: jnp.arange(0, 3, 0), ValueError, "step must not be 0"),
        (lambda: jnp.linspace(0, 1, -1), ValueError, "num must not be negative"),
        (lambda: jnp.where(A > 1, A), ValueError, "both x and y to choose from, or neither"),
        (lambda: jnp.where(A > 1, A, A, size=2), ValueError, "takes no size and fill_value"),
        (lambda: jnp.max(jnp.zeros((0, 2)), 0), ValueError, r"max over axes \(0,\).*initial"),
        (lambda: jnp.sum(A, 2), ValueError, "axis 2 is out of bounds"),
        (lambda: jnp.sum(A, out=A), TypeError, "out must be None"),
        (lambda: jnp.argmax(jnp.zeros(0)), ValueError, "empty"),
        (lambda: jnp.add(A, V[:2]), ValueError, "do not broadcast"),
        (lambda: jnp.reshape(A, (4, -1)), TypeError, "what -1 stands for"),
        (lambda: jnp.reshape(A, (-1, -1)), ValueError, "only one size can be -1"),
        (lambda: jnp.broadcast_to(A, (2, 2)), ValueError, r"does not broadcast to .*\(2, 2\)"),
        (lambda: jnp.moveaxis(A, (0, 1), 0), ValueError, "name as many axes"),
        (lambda: jnp.stack([A, V]), ValueError, "array 0 is float32.2,3. and array 1"),
        (lambda: jnp.concatenate([]), ValueError, "at least one array"),
        (lambda: jnp.concatenate([1.0, 2.0]), ValueError, "scalars have no axis"),
        (lambda: jnp.stack(1.0), TypeError, "takes a sequence of arrays"),
        (lambda: jnp.split(V, 2), ValueError, "cannot be cut into 2 equal parts"),
        (lambda: jnp.repeat(V, [1, 2]), ValueError, "one for each of the 3 slices"),
        (lambda: jnp.pad(V, 1, mode="near"), ValueError, "mode must be one of .*'constant'.*near"),
        (lambda: jnp.pad(V, -1), ValueError, "none of them negative"),
        (lambda: jnp.matmul(1.0, A), TypeError, "for scalars use multiply"),
        (lambda: jnp.dot(A, A), TypeError, "axis 1 of .* and axis 0 of .* 3 and 2"),
        (lambda: jnp.tensordot(A, A, 3), ValueError, "3 axes cannot be summed over"),
        (lambda: jnp.einsum("ij,jk", A), ValueError, "names 2 operands, but there are 1"),
        (lambda: jnp.einsum("i", A), ValueError, "names 1 axes, but the operand has 2"),
        (lambda: jnp.einsum("ij->k", A), ValueError, "must name axes of the operands"),
        (lambda: jnp.einsum("ij,ij", A, A.T), ValueError, "axes 'i' .* have sizes 2 and 3"),
        (lambda: jnp.linalg.norm(A, 7), ValueError, "7 is no norm of matrices; use 'fro', 'nuc'"),
        (lambda: jnp.linalg.norm(A[None], 1), ValueError, "name one or two axes"),
        (lambda: jnp.floor(1j), TypeError, "not defined for complex numbers"),
        (lambda: jnp.average(A, 0, jnp.ones(3)), ValueError, "weights must have the shape"),
        (lambda: jnp.rot90(V), ValueError, "out of bounds"),
        (lambda: jnp.vectorize(jnp.dot, signature="n->n"), ValueError, "names the axes of each"),
        (
            lambda: jnp.vectorize(jnp.dot, signature="(n),(n)->()")(V, A[:, :2]),
            ValueError,
            "argument 1 of dot",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_no_name_is_missing():
    for first, second in itertools.pairwise(sorted(jnp.__all__)):
        assert first != second
    assert all(hasattr(jnp, name) for name in jnp.__all__)
