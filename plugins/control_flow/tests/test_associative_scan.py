"""``associative_scan``: prefixes of products, derivatives, messages; Viterbi as a product."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import associative_scan
from bindax_lax_basic import concatenate, max, reduce_max


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    with bx.config.override(backend="numpy", check_jaxprs=True):
        yield


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 7, 8, 13])
def test_lengths(length: int) -> None:
    x = np.linspace(0.5, 1.5, length)
    np.testing.assert_allclose(associative_scan(lambda a, b: a * b, x), np.cumprod(x))
    backwards = associative_scan(lambda a, b: a * b, x, reverse=True)
    np.testing.assert_allclose(backwards, np.cumprod(x[::-1])[::-1])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_axes(axis: int, reverse: bool) -> None:
    x = np.sin(np.arange(30.0)).reshape(2, 5, 3)
    for wrap in (lambda f: f, bt.jit):
        found = wrap(lambda x: associative_scan(max, x, reverse, axis))(x)
        turned = np.flip(x, axis) if reverse else x
        expected = np.maximum.accumulate(turned, axis)
        np.testing.assert_array_equal(found, np.flip(expected, axis) if reverse else expected)


def affine(f: Any, g: Any) -> Any:
    """First ``f``, then ``g``, of maps ``y -> a y + b``; not commutative."""
    return {"a": g["a"] * f["a"], "b": g["a"] * f["b"] + g["b"]}


def test_a_linear_recurrence_of_trees() -> None:
    elems = {"a": np.linspace(0.5, 1.5, 6), "b": np.cos(np.arange(6.0))}
    states, y = [], 0.0
    for a, b in zip(elems["a"], elems["b"], strict=True):
        y = a * y + b
        states.append(y)
    np.testing.assert_allclose(associative_scan(affine, elems)["b"], states)
    with bx.config.override(backend=None):
        np.testing.assert_allclose(
            bt.jit(lambda e: associative_scan(affine, e))(elems)["b"], states
        )
    jax = pytest.importorskip("jax", reason="JAX is the reference of differential tests")
    with jax.enable_x64(True):
        slopes = jax.grad(lambda e: (jax.lax.associative_scan(affine, e)["b"] ** 2).sum())(elems)

    def loss(elems: Any) -> Any:
        y = associative_scan(affine, elems)["b"]
        return (y * y).sum()

    found = bt.grad(loss)(elems)
    for name in elems:
        np.testing.assert_allclose(found[name], slopes[name], rtol=1e-9)
    batch = {name: np.stack([x, 2.0 * x]) for name, x in elems.items()}
    doubled = associative_scan(affine, {name: 2.0 * x for name, x in elems.items()})["b"]
    mapped = bt.vmap(lambda e: associative_scan(affine, e))(batch)["b"]
    np.testing.assert_allclose(mapped, np.stack([states, doubled]))


def test_depth_is_logarithmic() -> None:
    calls = []

    def fn(a: Any, b: Any) -> Any:
        calls.append(a.shape[0])
        return a + b

    associative_scan(fn, np.ones(1024))
    assert len(calls) == 19
    assert sum(calls) < 2 * 1024


def test_viterbi() -> None:
    """The most probable path's score, by max-plus matrix products (A. J. Viterbi, 1967)."""
    rng = np.random.default_rng(0)
    transitions, emissions = rng.normal(size=(3, 3)), rng.normal(size=(6, 3))
    score = emissions[0]
    for row in emissions[1:]:
        score = (score[:, None] + transitions).max(0) + row

    def product(left: Any, right: Any) -> Any:
        return reduce_max(left[:, :, :, None] + right[:, None, :, :], axes=(2,))

    products = associative_scan(product, transitions + emissions[1:, None, :])
    found = (emissions[0][:, None] + np.asarray(products[-1])).max(0)
    np.testing.assert_allclose(found, score)


def test_messages() -> None:
    x = np.ones(4)
    with pytest.raises(TypeError, match="fn of associative_scan must be a function, but got 3 of"):
        associative_scan(3, x)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="associative_scan needs an array, but elems holds none"):
        associative_scan(max, {})
    with pytest.raises(ValueError, match=r"axis 1, but elems\['a'\] is float64\[4\], which has 1"):
        associative_scan(max, {"a": x}, axis=1)
    with pytest.raises(
        ValueError, match=r"one size along axis 0 .* but elems\[0\] has 4 and elems\[1\] has 5"
    ):
        associative_scan(lambda a, b: a, (x, np.ones(5)))
    with pytest.raises(TypeError, match=r"must return what it takes, .* but .* returned"):
        associative_scan(lambda a, b: (a, b), x)
    with pytest.raises(
        TypeError, match=r"at elems\['a'\] .* returned float64\[4\] for float64\[2\]"
    ):
        associative_scan(lambda a, b: {"a": concatenate([a["a"], b["a"]], 0)}, {"a": x})
    with pytest.raises(TypeError, match=r"elems of associative_scan: .*builtins.str"):
        associative_scan(max, "text")
