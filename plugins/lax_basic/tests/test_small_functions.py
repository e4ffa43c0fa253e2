"""Functions that are made of others, compared with JAX's."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_core
import bindax_transforms
from bindax import lax

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


REFLECTORS, FACTORS = random(2, 4, 3), random(2, 3)
UPPER = np.triu(random(3, 3)) + 3 * np.eye(3, dtype=np.float32)
NHWC = ("NHWC", "HWIO", "NHWC")
SAME_AS_JAX: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "reciprocal": (lambda l, x: l.reciprocal(x), (random(3),)),
    "broadcast_like": (lambda l, x, y: l.broadcast_like(x, y), (random(3, 1), random(2, 3, 4))),
    "index_take": (
        lambda l, x: l.index_take(x, [np.array([2, -1, 7]), np.array([1, 0, -6])], (0, 2)),
        (random(3, 2, 4),),
    ),
    "patches": (
        lambda l, x: l.conv_general_dilated_patches(x, (2, 3), (1, 2), "SAME"),
        (random(2, 3, 4, 5),),
    ),
    "patches, features last": (
        lambda l, x: l.conv_general_dilated_patches(
            x, (2, 3), (1, 2), [(1, 0), (2, 1)], (1, 2), (2, 1), dimension_numbers=NHWC
        ),
        (random(2, 4, 5, 3),),
    ),
    "local": (
        lambda l, x, k: l.conv_general_dilated_local(x, k, (1, 2), "VALID", (2, 3)),
        (random(2, 3, 4, 5), random(5, 18, 3, 2)),
    ),
    "local, features last": (
        lambda l, x, k: l.conv_general_dilated_local(
            x, k, (1, 2), "VALID", (2, 3), dimension_numbers=NHWC
        ),
        (random(2, 4, 5, 3), random(3, 2, 18, 5)),
    ),
    "symmetric_product": (
        lambda l, a, c: l.linalg.symmetric_product(
            a, c + c.mT, alpha=2.0, beta=-0.5, symmetrize_output=True
        ),
        (random(2, 3, 4), random(2, 3, 3)),
    ),
    "ormqr": (lambda l, *x: l.linalg.ormqr(*x), (REFLECTORS, FACTORS, random(2, 4, 2))),
    "ormqr, transposed": (
        lambda l, *x: l.linalg.ormqr(*x, transpose=True),
        (REFLECTORS, FACTORS, random(2, 4, 2)),
    ),
    "ormqr, right": (
        lambda l, *x: l.linalg.ormqr(*x, left=False),
        (REFLECTORS, FACTORS, random(2, 2, 4)),
    ),
    "ormqr, few reflectors": (
        lambda l, *x: l.linalg.ormqr(*x, left=False, transpose=True),
        (REFLECTORS[0], FACTORS[0, :2], random(2, 4)),
    ),
    "ormqr, complex": (
        lambda l, *x: l.linalg.ormqr(*x, transpose=True),
        (REFLECTORS[0] * (1 + 2j), FACTORS[0] * (1 - 1j), random(4, 2) * (2 + 1j)),
    ),
    "cholesky_update": (lambda l, *x: abs(l.linalg.cholesky_update(*x)), (UPPER, random(3))),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", SAME_AS_JAX)
def test_values_and_derivatives_are_those_of_jax(name: str, jax_answers: Any) -> None:
    function, operands = SAME_AS_JAX[name]
    operands = tuple(x.astype(np.result_type(x, np.float32), copy=False) for x in operands)
    theirs = jax_answers(
        "value", lambda jax: jax.jit(lambda *xs: function(jax.lax, *xs))(*operands), x64=False
    )
    ours = function(lax, *map(bindax_core.Array.from_numpy, operands))
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=2e-4, atol=2e-5)
    compiled = bindax_transforms.jit(lambda *xs: function(lax, *xs))(*operands)
    np.testing.assert_allclose(np.asarray(compiled), theirs, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", [n for n in SAME_AS_JAX if "complex" not in n])
def test_derivatives_are_right(name: str) -> None:
    function, operands = SAME_AS_JAX[name]
    wide = tuple(x.astype(np.float64) for x in operands)
    directions = tuple(np.cos(x) for x in wide)

    def at(step: float) -> Any:
        moved = [x + step * d for x, d in zip(wide, directions, strict=True)]
        return np.asarray(function(lax, *map(bindax_core.Array.from_numpy, moved)))

    _, tangent = bindax_transforms.jvp(lambda *xs: function(lax, *xs), wide, directions)
    np.testing.assert_allclose(
        np.asarray(tangent), (at(1e-6) - at(-1e-6)) / 2e-6, rtol=1e-5, atol=1e-6
    )


SHAPES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "conv_shape_tuple": (
        lambda l, *a: l.conv_shape_tuple(*a),
        ((1, 4, 8), (6, 4, 3), (2,), [(0, 1)]),
    ),
    "conv_general_shape_tuple": (
        lambda l, *a: l.conv_general_shape_tuple(*a),
        ((1, 8, 4), (3, 4, 6), (2,), "SAME", ("NHC", "HIO", "NHC")),
    ),
    "conv_transpose_shape_tuple": (
        lambda l, *a: l.conv_transpose_shape_tuple(*a),
        ((1, 8, 4), (3, 4, 6), (2,), "VALID", ("NHC", "HIO", "NHC")),
    ),
    "reduce_window_shape_tuple": (
        lambda l, *a: l.reduce_window_shape_tuple(*a),
        ((5, 6), (2, 3), (1, 2), [(0, 1), (1, 1)], (2, 1), (1, 2)),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_those_of_jax(name: str, jax_answers: Any) -> None:
    function, arguments = SHAPES[name]
    wanted = jax_answers("shape", lambda jax: list(map(int, function(jax.lax, *arguments))))
    assert list(function(lax, *arguments)) == wanted


def test_an_array_to_be_written_has_a_type() -> None:
    made = lax.empty((2, 3), "int8")
    assert (made.shape, made.dtype, made.weak_type) == ((2, 3), np.int8, False)


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: lax.broadcast_like(np.ones((2, 3)), np.ones(3)),
        ValueError,
        "broadcast_like: float64[2,3] does not fit the shape (3,)",
    ),
    (
        lambda: lax.index_take(np.ones((2, 3)), [np.array([0])], (0, 1)),
        ValueError,
        "index_take: idxs must be one vector of integers for each of the axes (0, 1), but got",
    ),
    (
        lambda: lax.index_take(np.ones((0, 3)), [np.array([0])], (0,)),
        ValueError,
        "index_take: an axis of (0,) is empty in the shape (0, 3)",
    ),
    (
        lambda: lax.conv_general_dilated_local(
            np.ones((1, 1, 4)), np.ones((1, 3, 3)), (1,), "VALID", (2,)
        ),
        TypeError,
        "have 3 input features at the places (3,), but the windows have 2 elements at the places",
    ),
    (
        lambda: lax.linalg.symmetric_product(np.ones((2, 3)), np.ones((3, 3))),
        ValueError,
        "symmetric_product takes A of shape [..., m, n] and C of shape [..., m, m], but got",
    ),
    (
        lambda: lax.linalg.symmetric_product(np.ones((2, 3), np.complex64), np.ones((2, 2))),
        TypeError,
        "symmetric_product takes arrays of equal dtypes, but got complex64[2,3] and float64[2,2]",
    ),
    (
        lambda: lax.linalg.symmetric_product(np.ones((2, 3), "c8"), np.ones((2, 2), "c8")),
        TypeError,
        "symmetric_product takes matrices of real numbers, but got complex64[2,3]",
    ),
    (
        lambda: lax.linalg.ormqr(np.ones((3, 2)), np.ones(2), np.ones((2, 2))),
        ValueError,
        "and matrices with m rows, but got",
    ),
    (
        lambda: lax.linalg.cholesky_update(np.ones((2, 2)), np.ones(3)),
        ValueError,
        "cholesky_update takes one matrix of shape [n, n] and a vector of shape [n], but got",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
