"""Types of arrays where programs use them as values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt

STRUCT = bx.ShapeDtypeStruct((4, 1), np.float32)


def test_they_print_as_they_are_made() -> None:
    assert repr(STRUCT) == "ShapeDtypeStruct(shape=(4, 1), dtype=float32)"
    weak = STRUCT.update(shape=(), weak_type=True)
    assert repr(weak) == "ShapeDtypeStruct(shape=(), dtype=float32, weak_type=True)"


def test_they_have_a_length() -> None:
    assert len(STRUCT) == 4
    assert len(STRUCT.update(shape=(0,))) == 0
    assert STRUCT.update(shape=(0,))  # it is there all the same
    assert STRUCT.update(shape=())
    with pytest.raises(TypeError, match=r"len\(\) of unsized object: float32\[\] has"):
        len(STRUCT.update(shape=()))


def test_functions_may_return_them_where_types_are_wanted() -> None:
    assert bt.eval_shape(lambda: STRUCT) is STRUCT
    out = bt.eval_shape(lambda x: {"a": x, "b": [STRUCT, x]}, STRUCT)
    assert out == {"a": STRUCT, "b": [STRUCT, STRUCT]}


def test_compiled_functions_take_them_where_types_alone_are_wanted() -> None:
    @bt.jit
    def double(x: dict[str, bx.Array]) -> bx.Array:
        return x["a"] * 2.0

    assert bt.eval_shape(lambda: double({"a": STRUCT})) == STRUCT
    assert bt.eval_shape(lambda y: (y, double({"a": STRUCT})), STRUCT)[1] == STRUCT
    for f in (double, bt.make_jaxpr(lambda: double({"a": STRUCT}))):
        with pytest.raises(TypeError, match=r"argument x\['a'\] is not an array"):
            f(*({"a": STRUCT},) * (f is double))


def test_result_types() -> None:
    numpy = pytest.importorskip("bindax.numpy")
    assert numpy.result_type(STRUCT, np.int32) == np.float32
    assert numpy.result_type(STRUCT.update(weak_type=True), np.float16) == np.float16


def test_what_asks_for_the_type_alone_takes_one() -> None:
    numpy, lax = pytest.importorskip("bindax.numpy"), pytest.importorskip("bindax.lax")
    assert numpy.can_cast(STRUCT, "float64")
    assert not numpy.can_cast(STRUCT, "float16")
    assert lax.dtype(STRUCT) == np.float32
    assert lax.full_like(STRUCT, 1.0).shape == (4, 1)
    assert bt.closure_convert(numpy.sin, STRUCT)[1] == []


def test_shapes_are_sequences_of_integers() -> None:
    assert bx.ShapeDtypeStruct([4, np.int8(1)], np.float32) is STRUCT
    with pytest.raises(TypeError, match="float"):
        bx.ShapeDtypeStruct((4.5, 1), np.float32)


@pytest.mark.parametrize(
    ("convert", "error", "message"),
    [
        (int, TypeError, r"Only scalar arrays can .* int32\[3\]"),
        (float, TypeError, r"Only scalar arrays can .* int32\[3\]"),
        (range, TypeError, r"Only integer scalar arrays can .* int32\[3\]"),
        (bool, ValueError, "an array with more than one element is ambiguous"),
    ],
)
def test_arrays_with_axes_are_no_numbers(convert: Any, error: Any, message: str) -> None:
    x = np.arange(3, dtype=np.int32)
    for convert_one in (lambda: convert(bx.device_put(x)), lambda: bt.jit(convert)(x)):
        with pytest.raises(error, match=message):
            convert_one()
