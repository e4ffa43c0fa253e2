"""Types of tangents and cotangents that fit without being the same."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core import Array, config, float0

pytestmark = pytest.mark.usefixtures("toy_operations")


@pytest.mark.parametrize("zero", [0, np.int32(5), np.zeros((), float0), True])
def test_cotangents_of_integers_are_zero(zero: Any) -> None:
    _, f_vjp = bt.vjp(lambda x: (toy.sin(x), np.int32(3)), 0.0)
    assert float(f_vjp((1.0, zero))[0]) == 1


def test_cotangents_of_integers_have_their_shape() -> None:
    _, f_vjp = bt.vjp(lambda x: (toy.sin(x), np.int32(3)), 0.0)
    with pytest.raises(TypeError, match=r"the cotangent for output\[1\] must have the type float0"):
        f_vjp((1.0, np.zeros(2, np.int32)))


def test_another_dtype_is_an_error_of_type_and_of_value() -> None:
    _, f_lin = bt.linearize(lambda x: x, np.float32(1))
    _, f_vjp = bt.vjp(lambda x: x, np.float32(1))
    for function in (f_lin, f_vjp, lambda t: bt.jvp(lambda x: x, (np.float32(1),), (t,))):
        for error in (TypeError, ValueError):
            with pytest.raises(error, match=r"must have the type float32\[\], because the"):
                function(np.int32(1))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16])
def test_backward_rules_may_compute_in_another_width(dtype: Any) -> None:
    @bt.custom_vjp
    def f(x: Any, i: Any) -> Any:
        return toy.sin(x)

    f.defvjp(lambda x, i: (toy.sin(x), None), lambda _, ct: (np.full(2, 3, dtype), i_zero))
    i_zero = np.int32(0)
    x = np.ones(2, np.float32)
    _, f_vjp = bt.vjp(lambda x: f(x, 1), x)
    (found,) = f_vjp(x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [3, 3])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_weak_primals_take_tangents_of_any_float(dtype: Any) -> None:
    _, tangent = bt.jvp(lambda x: toy.sin(x), (0.0,), (np.ones((), dtype),))
    assert tangent.dtype == np.float64
    assert float(bt.vjp(lambda x: toy.sin(x), 0.0)[1](np.ones((), dtype))[0]) == 1
    with pytest.raises(TypeError, match="must have the type float64"):
        bt.jvp(lambda x: toy.sin(x), (0.0,), (np.complex64(1),))


def test_tangents_have_exactly_the_dtype_where_jax_decides() -> None:
    with config.override(conventions="jax"):
        for tangent in (1, np.float32(1)):
            with pytest.raises(
                TypeError, match=r"the tangent for x must have the type float64\[\]"
            ):
                bt.jvp(lambda x: toy.sin(x), (0.0,), (tangent,))
        assert float(bt.jvp(lambda x: toy.sin(x), (0.0,), (1.0,))[1]) == 1


def test_tangents_of_arrays_are_arrays() -> None:
    out, tangent = bt.jvp(lambda x: toy.add(x, 1.0), (1.0,), (2.0,))
    assert type(out) is type(tangent) is Array


@pytest.mark.parametrize("decorator", [bt.custom_jvp, bt.custom_vjp])
def test_numbers_pass_functions_with_own_rules_where_jax_decides(decorator: Any) -> None:
    f = decorator(lambda x: x * 2)
    if decorator is bt.custom_jvp:
        f.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0]))
    else:
        f.defvjp(lambda x: (x * 2, None), lambda _, ct: (ct,))
    assert type(f(3)) is Array
    with config.override(conventions="jax"):
        assert type(f(3)) is int
        assert type(f(np.ones(2))) is Array
