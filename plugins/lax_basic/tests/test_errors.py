"""What is refused, and what the error says."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_lax_basic import dtypes

pytestmark = pytest.mark.smoke

F = np.zeros((2, 3), np.float32)
I = np.zeros((2, 3), np.int32)
B = np.zeros((2, 3), bool)
C = np.zeros((2, 3), np.complex64)

CASES = [
    (lambda: lax.sin(I), TypeError, r"sin does not accept the dtype int32.*int32\[2,3\].*astype"),
    (
        lambda: lax.add(F, I),
        TypeError,
        "add requires operands of equal dtypes.*do not promote",
    ),
    (lambda: lax.add(F, 1), TypeError, r"float32\[2,3\] and int64\[\]"),
    (lambda: lax.add(F, F[0]), TypeError, r"equal shapes or scalars.*float32\[3\]"),
    (lambda: lax.add(B, B), TypeError, "add does not accept the dtype bool"),
    (lambda: lax.lt(C, C), TypeError, "lt does not accept the dtype complex64"),
    (lambda: lax.integer_pow(I, -1), TypeError, "negative power -1"),
    (lambda: lax.integer_pow(F, 1.5), TypeError, "an integer for y"),
    (lambda: lax.reshape(F, (4, 2)), TypeError, "6 elements.*which has 8"),
    (lambda: lax.reshape(F, (-1, 6)), ValueError, "must not be negative"),
    (lambda: lax.transpose(F, (0, 0)), ValueError, "not a permutation of the 2 axes"),
    (lambda: lax.broadcast_in_dim(F, (2, 4), (0, 1)), ValueError, "axis 1 of.*has size 3"),
    (lambda: lax.broadcast_in_dim(F, (3, 2), (1, 0)), ValueError, "strictly increasing"),
    (lambda: lax.broadcast_in_dim(F, (2, 3), (0,)), TypeError, "each of the 2 axes"),
    (lambda: lax.squeeze(F, (0,)), ValueError, "axis 0.*size must be 1"),
    (lambda: lax.reduce_sum(F, (2,)), ValueError, "axes 2 is out of bounds"),
    (lambda: lax.reduce_sum(F, (0, -2)), ValueError, "axis twice"),
    (lambda: lax.reduce_sum(B), TypeError, "reduce_sum does not accept the dtype bool"),
    (lambda: lax.argmax(np.zeros((0,)), 0, "int32"), ValueError, "is empty"),
    (lambda: lax.argmax(F, 0, "float32"), TypeError, "index_dtype must be an integer"),
    (lambda: lax.slice(F, (0, 0), (3, 3)), ValueError, "0:3:1 is not a piece of axis 0"),
    (lambda: lax.slice(F, (0,), (1,)), TypeError, "one entry for each of the 2 axes"),
    (lambda: lax.pad(F, 0.0, [(0, 0, 0)]), TypeError, "needs one for each of its 2 axes"),
    (lambda: lax.pad(F, 0.0, [(0, 0), (0, 0)]), TypeError, r"\(low, high, interior\)"),
    (lambda: lax.pad(F, 0.0, [(-3, 0, 0), (0, 0, 0)]), ValueError, "would give size -1"),
    (lambda: lax.concatenate([F, F[:, :1]], 0), TypeError, "equal but for axis 0"),
    (lambda: lax.concatenate([F, I], 0), TypeError, "equal dtypes"),
    (lambda: lax.concatenate([], 0), ValueError, "at least one"),
    (
        lambda: lax.dot_general(F, F, (((1,), (0,)), ((), ()))),
        TypeError,
        "sizes, 3 and 2",
    ),
    (lambda: lax.dot_general(F, F, (((1,), ()), ((), ()))), TypeError, "cannot be paired"),
    (lambda: lax.dot_general(F, F, (((5,), (0,)), ((), ()))), TypeError, "within its 2 axes"),
    (lambda: lax.dot(F[None], F), TypeError, "vectors and matrices"),
    (lambda: lax.dot(F, F.T, precision="exact"), ValueError, "precision must be"),
    (lambda: lax.select_n(F, F, F), TypeError, "booleans or int32"),
    (lambda: lax.select_n(B, F, F, F), TypeError, "at most two cases"),
    (lambda: lax.select_n(B[:1], F, F), TypeError, "shape of the cases"),
    (lambda: lax.clamp(F[0], F, F), TypeError, "clamp: min must be a scalar"),
    (lambda: lax.iota("bool", 3), TypeError, "counts in numbers"),
    (lambda: lax.full((2,), F), TypeError, "must be a scalar"),
    (lambda: lax.full((2,), 1.0, "float31"), TypeError, "does not name a dtype"),
    (lambda: lax.convert_element_type(F, "U3"), TypeError, "cannot have the dtype"),
    (lambda: lax.conj(np.zeros(2, np.float16)), TypeError, "float32 or float64"),
    (lambda: lax.broadcast_shapes((2, 3), (4,)), ValueError, "do not broadcast together"),
    (lambda: lax.promote_types("float8_e4m3fn", "bfloat16"), ValueError, "no implicit promotion"),
    (lambda: bx.Array.from_numpy(I.astype(np.int8)) + 300, OverflowError, "300 does not fit"),
]


@pytest.mark.parametrize(("call", "error", "text"), CASES, ids=[case[2] for case in CASES])
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(("call", "error", "text"), CASES[:6], ids=[c[2] for c in CASES[:6]])
def test_refused_while_tracing_too(call, error, text):
    with pytest.raises(error, match=text):
        bt.make_jaxpr(call)()


def test_dtype_arguments():
    assert dtypes.canonical_dtype("bfloat16").name == "bfloat16"
    assert dtypes.canonical_dtype(int) == np.int32
    assert dtypes.canonical_dtype(np.float64) == np.float64
    assert dtypes.result_type(1, 2.0) == np.float32
    assert dtypes.result_type(np.int8(1), 2) == np.int8


def test_saturating_conversion():
    x = np.array([1e20, -1e20, np.nan, -3.9, 200.0])
    for name, wanted in (
        ("int32", [2**31 - 1, -(2**31), 0, -3, 200]),
        ("uint8", [255, 0, 0, 0, 200]),
        ("int8", [127, -128, 0, -3, 127]),
    ):
        np.testing.assert_array_equal(lax.convert_element_type(x, name), wanted)


def test_integer_division_by_zero():
    np.testing.assert_array_equal(lax.div(np.array([3, -3]), 0), [-1, -1])
    np.testing.assert_array_equal(lax.rem(np.array([3, -3]), 0), [3, -3])
    low = np.array([-128], np.int8)
    np.testing.assert_array_equal(lax.div(low, np.int8(-1)), low)


def test_start_indices_of_several_types():
    x, one = np.zeros((3, 3)), np.zeros((1, 1))
    mixed = np.int32(0), np.uint8(0)
    for call in (
        lambda: lax.dynamic_slice(x, mixed, (1, 1)),
        lambda: lax.dynamic_update_slice(x, one, mixed),
    ):
        with pytest.raises(TypeError, match=r"start indices of one dtype, but got int32.*uint8"):
            call()
    assert lax.dynamic_slice(x, (np.int32(0), 1), (1, 1)).shape == (1, 1)
    assert lax.dynamic_slice(x, (np.int32(0), np.int64(1)), (1, 1)).shape == (1, 1)
