"""Functions applied as often as elements are named: scatter_apply, and ``x.at[...].apply``."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
from bindax_core import Array

X = np.array([0.3, 0.4, 0.5, 0.6])
PLACES = np.array([0, 2, 2, 9, -1, 2])
COUNTS = {None: (1, 0, 3, 0), "drop": (1, 0, 3, 0), "clip": (2, 0, 3, 1)}


def function(x):
    return lax.sin(x) * x + 0.5


def repeated(x, counts):
    out = np.array(x)
    for i, count in enumerate(counts):
        for _ in range(count):
            out[i] = function(out[i])
    return out


def applied(x, places=PLACES, function=function, mode=None, module=lax):
    numbers = module.ScatterDimensionNumbers((), (0,), (0,))
    shape = places.shape
    return module.scatter_apply(
        x, places[..., None], function, numbers, update_shape=shape, mode=mode
    )


@pytest.mark.parametrize("mode", COUNTS)
def test_applied_as_often_as_named(mode):
    np.testing.assert_allclose(applied(X, mode=mode), repeated(X, COUNTS[mode]), rtol=1e-14)


@pytest.mark.parametrize("mode", COUNTS)
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int8", "bfloat16"])
def test_values_are_those_of_jax(mode, dtype, jax_answers):
    x = (10 * X).astype(lax.dtype(dtype))
    call = lambda module: applied(x, function=lambda v: v * v - v, mode=mode, module=module)  # noqa: E731
    got, wanted = call(lax), jax_answers("value", lambda jax: call(jax.lax))
    assert got.dtype == wanted.dtype
    close = np.testing.assert_allclose
    close(np.asarray(got, complex), wanted.array.astype(complex), rtol=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_derivatives_of_all_orders_are_those_of_the_repeated_function(backend):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")

    def by_places(x):
        return applied(x, np.array([1, 0, 1, 1]))

    def by_hand(x):
        thrice = function(function(function(x[1])))
        return lax.stack([function(x[0]), thrice, x[2], x[3]])

    with bx.config.override(backend=backend):
        for transform in (bx.jacfwd, bx.jacrev, lambda f: bx.jacfwd(bx.jacrev(f))):
            got, wanted = (bx.jit(transform(f))(X) for f in (by_places, by_hand))
            np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


def test_batches_of_arrays_and_of_places():
    xs, places = np.stack([X, 2 * X]), np.array([[0, 0, 1], [3, 2, 3]])
    for axes in ((0, 0), (0, None), (None, 0)):
        given = [v if axis == 0 else v[0] for v, axis in zip((xs, places), axes, strict=True)]
        got = bx.vmap(applied, in_axes=axes)(*given)
        for i in range(2):
            one = [v[i] if axis == 0 else v for v, axis in zip(given, axes, strict=True)]
            np.testing.assert_allclose(got[i], applied(*one), rtol=1e-14)


def test_traced_arrays_from_outside_are_refused():
    with pytest.raises(TypeError, match="scatter_apply: the computation must not use traced"):
        bx.make_jaxpr(lambda x, y: applied(x, function=lambda v: v * y))(X, 2.0)


def test_another_type_is_refused():
    with pytest.raises(TypeError, match=r"return the type that it takes, float64\[\].*bool\[\]"):
        applied(X, function=lambda v: v > 0)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_traced_positions_need_no_promise(backend):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
    known = Array.from_numpy(X).at[PLACES].apply(function)
    with bx.config.override(backend=backend):
        traced = bx.jit(lambda x, places: x.at[places].apply(function))(X, PLACES)
        np.testing.assert_allclose(traced, known, rtol=1e-14)
        clipped = bx.jit(lambda x, places: x.at[places].apply(function, mode="clip"))(X, PLACES)
    known = Array.from_numpy(X).at[PLACES].apply(function, mode="clip")
    np.testing.assert_allclose(clipped, known, rtol=1e-14)


def test_traced_positions_on_several_axes_are_those_of_jax(jax_answers):
    x, places = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.array([[0, 0], [2, -1]])

    def changed(x, places):
        return x.at[:, places].apply(lambda v: v * 2 + 1)

    wanted = jax_answers("value", lambda jax: jax.jit(changed)(x, places))
    np.testing.assert_array_equal(bx.jit(changed)(x, places), wanted)


def test_traced_positions_are_differentiable():
    def total(x, places):
        return lax.reduce_sum(x.at[places].apply(function), (0,))

    known = bx.grad(lambda x: total(x, PLACES))(X)
    np.testing.assert_allclose(bx.jit(bx.grad(total))(X, PLACES), known, rtol=1e-12)
