"""``make_jaxpr``: its constants, its named axes, and what is computed while it traces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import lax
from bindax.extend import eval_jaxpr

XS = np.arange(4.0)


def test_equal_constants_are_one() -> None:
    array = np.arange(3.0, dtype=np.float32)
    own = bnp.arange(3.0)
    closed = bindax.make_jaxpr(lambda x: (bnp.array(array) * x, own + x, +array, array))(2)
    assert len(closed.consts) == len(closed.jaxpr.constvars) == 1
    found = eval_jaxpr(closed.jaxpr, closed.consts, 2)
    for x, expected in zip(found, (array * 2, array + 2, array, array), strict=True):
        np.testing.assert_array_equal(x, expected)


def test_constants_of_other_types_or_values_are_others() -> None:
    def f(x: Any) -> Any:
        zeros = np.array([0.0, -0.0]), np.array([0.0, 0.0]), np.zeros(2, np.float32)
        return [x + zero for zero in zeros]

    closed = bindax.make_jaxpr(f)(1.0)
    assert len(closed.consts) == 3
    assert np.signbit(closed.consts[0]).tolist() == [False, True]


def test_names_of_axes_are_bound_where_the_jaxpr_is_evaluated() -> None:
    closed = bindax.make_jaxpr(lambda x: x - lax.psum(x, "i"), axis_env=[("i", 4)])(2.0)
    assert "psum" in str(closed)
    assert closed.in_avals == [bindax.typeof(2.0)]

    def f(x: Any) -> Any:
        return eval_jaxpr(closed.jaxpr, closed.consts, x)[0]

    for g in (
        bindax.vmap(f, axis_name="i"),
        bindax.jit(bindax.vmap(f, axis_name="i")),
        bindax.vmap(bindax.jit(f), axis_name="i"),
        bindax.vmap(bindax.vmap(f, axis_name="j"), axis_name="i", in_axes=0),
    ):
        xs = XS if g(XS[:, None]).ndim == 1 else XS[:, None]
        np.testing.assert_allclose(np.ravel(g(xs)), XS - 6.0)
    with pytest.raises(NameError, match="no axis is named 'i' here"):
        f(1.0)
    with pytest.raises(ValueError, match=r"for an axis 'i' of size 4 .* has the size 3"):
        bindax.vmap(f, axis_name="i")(XS[:3])


def test_several_named_axes() -> None:
    def f(x: Any) -> Any:
        return lax.axis_index("i") * 10 + lax.axis_index("j") + lax.psum(x, ("i", "j"))

    closed = bindax.make_jaxpr(f, axis_env=[("i", 2), ("j", 3), ("unused", 7)])(1)
    assert str(closed).count("= axis_index [") == 2

    def g(x: Any) -> Any:
        return eval_jaxpr(closed.jaxpr, closed.consts, x)[0]

    xs = np.ones((2, 3), int)
    found = bindax.vmap(bindax.vmap(g, axis_name="j"), axis_name="i")(xs)
    expected = bindax.vmap(bindax.vmap(f, axis_name="j"), axis_name="i")(xs)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda: lax.convert_element_type(3.0, "float16"),
        lambda: lax.convert_element_type(np.float32(3), "int32"),
        lambda: lax.convert_element_type(np.arange(3.0), "float64"),
        lambda: lax.broadcast(np.float32(3), ()),
    ],
)
def test_conversions_of_numbers_take_no_equation(function: Any) -> None:
    closed = bindax.make_jaxpr(function)()
    assert not closed.eqns
    (found,), expected = eval_jaxpr(closed.jaxpr, closed.consts), function()
    assert bindax.typeof(found) == bindax.typeof(expected)
    np.testing.assert_array_equal(found, expected)
