"""Elementwise functions repeat axes of size 1 where operands have equally many axes, as in JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax_transforms
from bindax import lax

SHAPES = [((1, 3), (2, 3)), ((2, 1), (1, 3)), ((1,), (4,)), ((1, 3), (0, 3)), ((1, 1), (1, 1))]
FUNCTIONS = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "pow": lax.pow,
    "max": lax.max,
    "atan2": lax.atan2,
    "nextafter": lax.nextafter,
    "lt": lax.lt,
    "complex": lax.complex,
    "igamma": lax.igamma,
    "zeta": lax.zeta,
}


def operands(left: tuple[int, ...], right: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.uniform(1, 2, shape).astype(np.float32) for shape in (left, right)]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_as_if_repeated(name: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = operands(left, right)
    function = FUNCTIONS[name]

    out = function(x, y)

    repeated = function(*(np.ascontiguousarray(v) for v in np.broadcast_arrays(x, y)))
    assert out.aval is repeated.aval
    np.testing.assert_array_equal(out, repeated)


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_derivatives_are_sums_over_what_was_repeated(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    x, y = operands(left, right)

    slopes = bindax_transforms.grad(lambda x, y: lax.mul(x, y).sum(), (0, 1))(x, y)

    stretched = np.broadcast_shapes(left, right)
    for slope, own, other in zip(slopes, (x, y), (y, x), strict=True):
        axes = tuple(i for i, size in enumerate(own.shape) if size != stretched[i])
        expected = np.broadcast_to(other, stretched).sum(axes, keepdims=True)
        np.testing.assert_allclose(slope, expected, rtol=1e-6)


def test_scalars_and_weak_operands_stay_as_they_are() -> None:
    x = np.ones((2, 3), np.float32)

    jaxpr = bindax_transforms.make_jaxpr(lambda x: lax.add(lax.add(x, 1.0), np.float32(2)))(x)

    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["add", "add"]


@pytest.mark.parametrize(
    ("left", "right"), [((3,), (2, 3)), ((2, 3), (3, 2)), ((1, 3), (2, 4)), ((1,), (1, 1))]
)
def test_others_are_refused(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match=r"add requires operands of equal shapes or scalars"):
        lax.add(*operands(left, right))
