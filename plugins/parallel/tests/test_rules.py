"""Rules of the collectives against each other, groups, and programs inside transformations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import lax

RNG = np.random.default_rng(1)
X = RNG.normal(size=(4, 4, 8))
GROUPS = [[0, 3], [2, 1]]

LINEAR: dict[str, Callable[[Any], Any]] = {
    "psum": lambda x: lax.psum(x, "i"),
    "psum groups": lambda x: lax.psum(x, "i", axis_index_groups=GROUPS),
    "pmean": lambda x: lax.pmean(x, "i"),
    "all_gather": lambda x: lax.all_gather(x, "i", axis=1),
    "all_gather groups": lambda x: lax.all_gather(x, "i", axis=2, axis_index_groups=GROUPS),
    "all_gather tiled": lambda x: lax.all_gather(x, "i", axis=-1, tiled=True),
    "psum_scatter": lambda x: lax.psum_scatter(x, "i"),
    "psum_scatter groups": lambda x: lax.psum_scatter(
        x, "i", scatter_dimension=1, axis_index_groups=GROUPS, tiled=True
    ),
    "all_to_all": lambda x: lax.all_to_all(x, "i", 0, 1),
    "all_to_all groups": lambda x: lax.all_to_all(
        x, "i", 1, 0, axis_index_groups=GROUPS, tiled=True
    ),
    "pswapaxes": lambda x: lax.pswapaxes(x, "i", 0),
    "ppermute": lambda x: lax.ppermute(x, "i", [(0, 1), (3, 0)]),
    "pshuffle": lambda x: lax.pshuffle(x, "i", [3, 1, 0, 2]),
    "pbroadcast": lambda x: lax.pbroadcast(x, "i", 2),
}
SMOOTH: dict[str, Callable[[Any], Any]] = {
    **LINEAR,
    "pmax": lambda x: lax.pmax(x, "i"),
    "pmin groups": lambda x: lax.pmin(x, "i", axis_index_groups=GROUPS),
    "softmax": lambda x: lax.exp(x) / lax.psum(lax.exp(x), "i"),
}


def named(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return bindax.vmap(function, axis_name="i")


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LINEAR)
def test_transpose_is_that_of_the_linear_map(name: str) -> None:
    function = named(LINEAR[name])
    out, backward = bindax.vjp(function, X)
    ct = RNG.normal(size=out.shape)
    (back,) = backward(ct)
    same((np.asarray(out) * ct).sum(), (np.asarray(back) * X).sum())


@pytest.mark.parametrize("name", SMOOTH)
def test_jvp_agrees_with_differences(name: str) -> None:
    function, t, h = named(SMOOTH[name]), RNG.normal(size=X.shape), 1e-5
    _, tangent = bindax.jvp(function, (X,), (t,))
    difference = (np.asarray(function(X + h * t)) - np.asarray(function(X - h * t))) / (2 * h)
    np.testing.assert_allclose(np.asarray(tangent), difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_vmap_over_another_axis_is_a_loop(name: str) -> None:
    many = RNG.normal(size=(2, 4, 4, 8))
    expected = np.stack([np.asarray(named(SMOOTH[name])(x)) for x in many])
    same(bindax.vmap(named(SMOOTH[name]))(many), expected)
    moved = np.moveaxis(many, 0, -1)
    inside = bindax.vmap(bindax.vmap(SMOOTH[name], -1, 0), axis_name="i", out_axes=1)
    same(inside(moved), expected)


@pytest.mark.parametrize("name", ["psum groups", "all_to_all", "ppermute", "pmax"])
def test_jit_around_and_inside(name: str) -> None:
    expected = named(SMOOTH[name])(X)
    same(bindax.jit(named(SMOOTH[name]))(X), expected)
    same(named(bindax.jit(SMOOTH[name]))(X), expected)


def test_a_compiled_function_follows_the_size_of_the_axis() -> None:
    scaled = bindax.jit(lambda x: x * lax.axis_size("i") + lax.psum(1, "i"))
    for size in (2, 3, 2):
        out = bindax.vmap(lambda _: scaled(1.0), axis_name="i")(np.zeros(size))
        same(out, np.full(size, 2 * size))
    with pytest.raises(NameError, match="no axis is named 'i' here"):
        scaled(1.0)


def test_jit_of_constants_inside() -> None:
    total = bindax.jit(lambda: lax.psum(lax.axis_index("i"), "i"))
    same(bindax.vmap(lambda x: x + total(), axis_name="i")(np.zeros(4)), np.full(4, 6.0))


def test_scan_cond_and_while_inside() -> None:
    def normalized(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            carry = lax.cond(
                lax.psum(carry, "i") > 1.0,
                lambda c: c / lax.psum(c, "i"),
                lambda c: c + lax.pmean(c, "i"),
                carry,
            )
            return carry, lax.axis_index("i")

        return lax.scan(step, x, None, length=3)

    x = np.array([0.1, 0.2, 0.05])
    expected = x.copy()
    for _ in range(3):
        big = expected.sum() > 1.0
        expected = expected / expected.sum() if big else expected + expected.mean()
    out, indices = named(normalized)(x)
    same(out, expected)
    same(indices, np.repeat(np.arange(3)[:, None], 3, 1))

    def grown(x: Any) -> Any:
        return lax.while_loop(lambda c: lax.psum(c, "i") < 10.0, lambda c: 2.0 * c, x)

    same(named(grown)(x), x * 32)


def test_gradient_of_scan_inside_and_outside() -> None:
    def loss(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            return lax.sin(carry) * lax.psum(carry, "i"), None

        return lax.scan(step, x, None, length=3)[0]

    x, t, h = np.array([0.3, 0.2, 0.5]), np.array([1.0, -0.5, 0.3]), 1e-6

    def total(x: Any) -> Any:
        return named(loss)(x).sum()

    slope = (float(total(x + h * t)) - float(total(x - h * t))) / (2 * h)
    outside = np.asarray(bindax.grad(total)(x))
    np.testing.assert_allclose(outside @ t, slope, rtol=1e-6)
    same(named(bindax.grad(loss))(x), outside)
    same(named(bindax.grad(bindax.checkpoint(loss)))(x), outside)
    same(bindax.jit(named(bindax.grad(loss)))(x), outside)


@pytest.mark.parametrize("kind", ["custom_vjp", "custom_jvp"])
@pytest.mark.parametrize("wrap", [lambda f: f, bindax.jit, bindax.checkpoint])
def test_a_function_with_rules_gives_one_sum_for_all_elements(kind: str, wrap: Any) -> None:
    shared: Any = getattr(bindax, kind)(lambda x: lax.psum(x, "i"))
    if kind == "custom_vjp":
        shared.defvjp(lambda x: (lax.psum(x, "i"), None), lambda _, ct: (lax.psum(ct, "i"),))
    else:
        shared.defjvp(lambda xs, ts: (lax.psum(xs[0], "i"), lax.psum(ts[0], "i")))

    def of_elements(function: Any, out_axes: Any) -> Any:
        mapped = bindax.vmap(
            lambda _, x: function(x), in_axes=(0, None), out_axes=out_axes, axis_name="i"
        )
        return mapped(np.zeros(4), 2.0)

    assert float(of_elements(wrap(shared), None)) == 8.0
    assert float(of_elements(bindax.grad(wrap(shared)), None)) == 4.0
    scaled = wrap(lambda x: shared(x) * lax.axis_index("i"))
    np.testing.assert_array_equal(of_elements(scaled, 0), [0.0, 8.0, 16.0, 24.0])


@pytest.mark.parametrize("inside", ["call", "jit", "scan", "cond", "checkpoint"])
@pytest.mark.parametrize("kind", ["custom_vjp", "custom_jvp"])
def test_rules_that_run_late_find_the_axis(kind: str, inside: str) -> None:
    shared: Any
    if kind == "custom_vjp":
        shared = bindax.custom_vjp(lambda x: lax.psum(x, "i"))
        shared.defvjp(lambda x: (lax.psum(x, "i"), None), lambda _, ct: (2.0 * lax.pmean(ct, "i"),))
    else:
        shared = bindax.custom_jvp(lambda x: lax.psum(x, "i"))
        shared.defjvp(lambda p, t: (lax.psum(p[0], "i"), 2.0 * lax.pmean(t[0], "i")))
    function = {
        "call": shared,
        "jit": bindax.jit(shared),
        "scan": lambda x: lax.scan(lambda c, _: (shared(c), None), x, None, length=1)[0],
        "cond": lambda x: lax.cond(x.sum() > -5.0, shared, lambda x: x, x),
        "checkpoint": bindax.checkpoint(shared),
    }[inside]
    x, weights = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])
    expected = np.full(3, 2 * weights.mean())

    def weighted(x: Any) -> Any:
        return function(x) * (1.0 + lax.axis_index("i"))

    with bindax.config.override(backend="numpy"):
        same(bindax.grad(lambda x: (named(function)(x) * weights).sum())(x), expected)
        same(named(bindax.grad(weighted))(x), expected)
        same(bindax.vmap(named(bindax.grad(weighted)))(x[None])[0], expected)


def test_groups() -> None:
    x = np.arange(4.0)
    same(named(LINEAR["psum groups"])(x), [3, 3, 3, 3])
    same(
        named(lambda x: lax.pmean(x, "i", axis_index_groups=[[0, 1], [2, 3]]))(x),
        [0.5] * 2 + [2.5] * 2,
    )
    gathered = named(lambda x: lax.all_gather(x, "i", axis_index_groups=[[3, 0], [1, 2]]))(x)
    same(gathered, [[3, 0], [1, 2], [1, 2], [3, 0]])
    pairs = np.arange(8.0).reshape(4, 2)
    exchanged = named(lambda x: lax.all_to_all(x, "i", 0, 0, axis_index_groups=GROUPS))(pairs)
    same(exchanged, [[0, 6], [5, 3], [4, 2], [1, 7]])
    parts = named(lambda x: lax.psum_scatter(x, "i", axis_index_groups=GROUPS))(pairs)
    same(parts, [6, 8, 6, 8])


def test_several_names() -> None:
    x = RNG.normal(size=(2, 3, 6, 5))

    def both(function: Callable[[Any], Any]) -> np.ndarray[Any, Any]:
        inner = bindax.vmap(function, axis_name="j")
        return np.asarray(bindax.vmap(inner, axis_name="i")(x))

    names = ("i", "j")
    flat = x.reshape(6, 6, 5)

    def one(function: Callable[[Any], Any]) -> np.ndarray[Any, Any]:
        out = np.asarray(named(function)(flat))
        return out.reshape(2, 3, *out.shape[1:])

    same(both(lambda x: lax.psum(x, names)), one(lambda x: lax.psum(x, "i")))
    same(
        both(lambda x: lax.all_gather(x, names, axis=1)),
        one(lambda x: lax.all_gather(x, "i", axis=1)),
    )
    same(
        both(lambda x: lax.all_gather(x, names, axis=1, tiled=True)),
        one(lambda x: lax.all_gather(x, "i", axis=1, tiled=True)),
    )
    same(both(lambda x: lax.psum_scatter(x, names)), one(lambda x: lax.psum_scatter(x, "i")))
    same(
        both(lambda x: lax.psum_scatter(x, names, tiled=True)),
        one(lambda x: lax.psum_scatter(x, "i", tiled=True)),
    )
    same(
        both(lambda x: lax.all_to_all(x, names, 0, 1)),
        one(lambda x: lax.all_to_all(x, "i", 0, 1)),
    )
    same(
        both(lambda x: lax.all_to_all(x, names, 0, 1, tiled=True)),
        one(lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True)),
    )
    pairs = [(0, 5), (5, 1), (2, 3)]
    same(both(lambda x: lax.ppermute(x, names, pairs)), one(lambda x: lax.ppermute(x, "i", pairs)))
    same(both(lambda x: lax.pbroadcast(x, names, 4)), one(lambda x: lax.pbroadcast(x, "i", 4)))


def test_an_inner_axis_hides_an_outer_one_of_its_name() -> None:
    out = named(lambda row: named(lambda x: lax.psum(x, "i"))(row))(np.arange(6.0).reshape(2, 3))
    same(out, [[3] * 3, [12] * 3])


def test_trees_dtypes_and_constants() -> None:
    def function(x: Any) -> Any:
        return lax.psum({"a": x, "b": (x > 1, 2, 0.5)}, "i")

    out = named(function)(np.arange(3, dtype=np.int8))
    assert out["a"].dtype == np.int8
    assert out["b"][0].dtype == np.int32
    same(out["b"][0], [1, 1, 1])
    same(out["b"][1], [6, 6, 6])
    same(named(lambda x: lax.pmax(x > 1, "i"))(np.arange(3)), [True] * 3)
    assert named(lambda x: lax.pmean(x, "i"))(np.arange(3, dtype=np.int32)).dtype == np.float32


def test_empty_and_single_axes() -> None:
    assert named(lambda x: lax.psum(x, "i"))(np.zeros((0, 2))).shape == (0, 2)
    assert named(lambda x: lax.all_gather(x, "i"))(np.zeros((0, 2))).shape == (0, 0, 2)
    same(named(lambda x: lax.all_to_all(x, "i", 0, 0))(np.ones((1, 1))), [[1.0]])


def test_the_program_of_an_element() -> None:
    seen = []

    @bindax.jit
    def function(x: Any) -> Any:
        return lax.psum(x, "i")

    def outer(x: Any) -> Any:
        seen.append(str(bindax.make_jaxpr(function)(x)))
        return function(x)

    named(outer)(np.ones(3))
    words = " ".join(seen[0].split())
    assert "psum [ axis_name=i size=3 ] b a" in words


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: lax.psum(x, "k"), NameError, r"psum: no axis is named 'k' here; there is 'i' "),
        (
            lambda x: lax.psum(x, ("i", "i")),
            ValueError,
            "psum: axis_name=\\('i', 'i'\\) names an axis twice",
        ),
        (
            lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2]]),
            ValueError,
            "of one size",
        ),
        (
            lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1]]),
            ValueError,
            "must hold each index of the axis 'i' of size 3 once",
        ),
        (
            lambda x: lax.all_gather(x, "i", axis=3),
            ValueError,
            "all_gather: axis=3 does not exist among 2 axes",
        ),
        (
            lambda x: lax.psum_scatter(x, "i"),
            ValueError,
            r"psum_scatter: axis 0 of float64\[2\] must have one entry for each of the 3 elements",
        ),
        (
            lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
            ValueError,
            "cannot be divided among 3 elements",
        ),
        (lambda x: lax.ppermute(x, "i", [(0, 3)]), ValueError, "the destination 3, which is not"),
        (lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)]), ValueError, "an index as source twice"),
        (lambda x: lax.pshuffle(x, "i", [0, 0, 1]), ValueError, "must hold each index from 0 to 2"),
        (lambda x: lax.pbroadcast(x, "i", 3), ValueError, "source=3 is not an index"),
    ],
)
def test_errors(function: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        named(function)(np.ones((3, 2)))


def test_no_axis_is_bound() -> None:
    with pytest.raises(NameError, match=r"axis_index: no axis is named 'i' here; none is\. Name"):
        lax.axis_index("i")


def test_batch_norm_takes_means_along_a_named_axis() -> None:
    nnx = pytest.importorskip("bindax_nnx")
    x = RNG.normal(size=(2, 3, 5)).astype(np.float32)

    def normalized(x: Any, axis_name: Any) -> Any:
        layer = nnx.BatchNorm(5, axis_name=axis_name, rngs=nnx.Rngs(0))
        out = layer(x, use_running_average=False)
        return out, layer.mean.value, layer.var.value

    out, mean, var = bindax.vmap(lambda x: normalized(x, "data"), axis_name="data")(x)
    all_out, all_mean, all_var = normalized(x.reshape(6, 5), None)
    np.testing.assert_allclose(np.asarray(out).reshape(6, 5), all_out, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.asarray(mean), np.stack([all_mean] * 2), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.asarray(var), np.stack([all_var] * 2), rtol=1e-4, atol=1e-6)
