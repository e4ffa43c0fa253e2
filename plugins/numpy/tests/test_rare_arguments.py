"""Arguments that are seldom given, beside answers of NumPy or written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import bindax_core as bx
import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.errors import ConcretizationTypeError

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 7
I8 = np.array([100, 2], np.int8)
NAN = np.nan


def assert_equal(got: Any, wanted: Any) -> None:
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    np.testing.assert_array_equal(np.asarray(got), wanted)


@pytest.mark.parametrize("text", ["aab,bc->ac", "aa", "ab->b", "ab,b->", "aa->a"])
def test_sums_of_products_of_booleans(text: str) -> None:
    shapes = {"a": 2, "b": 3, "c": 2}
    rng = np.random.default_rng(0)
    names = text.split("->")[0].split(",")
    given = [rng.random([shapes[letter] for letter in name]) > 0.5 for name in names]
    assert_equal(jnp.einsum(text, *given), np.einsum(text, *given))


def test_places_in_an_array_whose_sizes_are_traced() -> None:
    given = np.array([7, -1, 99], np.int16)
    wanted = [np.array([2, 3, 3], np.int16), np.array([1, 2, 2], np.int16)]
    for f in (jnp.unravel_index, bt.jit(jnp.unravel_index)):
        for got, one in zip(f(given, (4, 3)), wanted, strict=True):
            assert_equal(got, one)
    assert_equal(jnp.unravel_index(given, 12)[0], np.array([7, 11, 11], np.int16))


def test_places_are_counted_in_their_dtype() -> None:
    pair = (np.array([19], np.int8), np.array([19], np.int8))
    assert_equal(jnp.ravel_multi_index(pair, (20, 20), dtype="int32"), np.array([399], np.int32))
    with pytest.raises(ValueError, match="int8 cannot hold the places"):
        jnp.ravel_multi_index(pair, (20, 20))
    beyond = (np.array([1]), np.array([5]))
    assert_equal(jnp.ravel_multi_index(beyond, (2, 3), mode="ignore"), np.array([8]))
    assert_equal(
        bt.jit(lambda i: jnp.ravel_multi_index(i, (2, 3), mode="ignore"))(beyond), np.array([8])
    )


@pytest.mark.parametrize("axis", [(1, 2), (2, 0), (2, 1, 0), (0, 1, 2), (-1, 0, 1), 1])
def test_weights_along_several_axes(axis: Any) -> None:
    axes = axis if isinstance(axis, tuple) else (axis,)
    weights = np.arange(1, 25, dtype=np.float32)[: np.prod([A.shape[i] for i in axes])]
    weights = weights.reshape([A.shape[i] for i in axes])
    named = "".join("abc"[i] for i in axes)
    rest = "".join(letter for letter in "abc" if letter not in named)
    wanted = np.einsum(f"abc,{named}->{rest}", A, weights) / weights.sum()
    np.testing.assert_allclose(np.asarray(jnp.average(A, axis, weights)), wanted, rtol=1e-6)


def test_places_of_samples_with_fewer_axes() -> None:
    places = np.array([[0, 1, 2, 3], [1, 3, 5, 9], [2, 5, 5, 6]], np.float32)
    wanted = (np.diff(places, axis=-2) * (A[:, 1:] + A[:, :-1])).sum(-2) / 2
    np.testing.assert_allclose(np.asarray(jnp.trapezoid(A, places, axis=-2)), wanted)
    with bx.config.override(numpy_rank_promotion="raise"):
        assert jnp.trapezoid(A, dx=np.ones((3, 4), np.float32), axis=0).shape == (3, 4)


def test_variances_have_the_dtype_that_is_asked_for() -> None:
    for name in ("var", "std", "nanvar", "nanstd"):
        assert getattr(jnp, name)(A, dtype="complex64").dtype == np.complex64
        assert getattr(jnp, name)(A.astype(np.complex64)).dtype == np.float32
    for name in ("var", "std"):
        with pytest.raises(ValueError, match="give ddof or correction, not both"):
            getattr(jnp, name)(A, ddof=1, correction=0)


def test_convolutions_of_integers() -> None:
    full = np.array([10000, 400, 4], np.int32)
    assert_equal(jnp.convolve(I8, I8, preferred_element_type="int32"), full)
    assert_equal(jnp.convolve(I8, I8, preferred_element_type="int8"), full.astype(np.int8))
    assert_equal(jnp.correlate(I8, I8, preferred_element_type="int32"), np.array([10004], np.int32))
    assert jnp.convolve(I8, I8).dtype == np.float32


def test_grids_of_nothing() -> None:
    assert jnp.mgrid[:].shape == jnp.ogrid[:].shape == (0,)
    with pytest.raises(ValueError, match="a slice needs its end"):
        jnp.mgrid[3:]


MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect"]


@pytest.mark.parametrize("mode", [*MODES, "symmetric", "wrap", "empty"])
def test_padding_keeps_weak_types(mode: str) -> None:
    x = jnp.array(1.0)[None]
    assert x.weak_type
    assert jnp.pad(x, 1, mode).weak_type
    assert not jnp.pad(jnp.ones(1), 1, mode).weak_type


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_spacings_that_are_subnormal(dtype: Any) -> None:
    info: Any = ml_dtypes.finfo(dtype)
    least, edge = info.smallest_subnormal, info.smallest_normal * np.array(2**12, dtype)
    x = np.array([0, -0.0, least, -least, info.smallest_normal, edge, -1.0, np.inf, NAN], dtype)
    step = edge / 2 ** int(info.nmant)
    wanted = np.array([least, -least, least, -least, least, step, -info.eps, NAN, NAN], dtype)
    for f in (jnp.spacing, bt.jit(jnp.spacing)):
        np.testing.assert_array_equal(
            np.asarray(f(x)).view(f"u{x.itemsize}")[:7], wanted.view(f"u{x.itemsize}")[:7]
        )
        assert np.isnan(np.asarray(f(x))[7:].astype(np.float64)).all()


def test_complex_numbers_are_sorted_along_the_last_axis() -> None:
    x = np.array([[3, 1], [2, 9]])
    np.testing.assert_array_equal(np.asarray(jnp.sort_complex(x)), np.sort_complex(x))


def test_complex_nans_are_one_whatever_part_is_nan() -> None:
    x = np.array([complex(NAN, 1), 1, complex(1, NAN), complex(NAN, NAN), 2], np.complex64)
    found, counts = jnp.unique(x, return_counts=True)
    np.testing.assert_array_equal(np.asarray(found)[:2], [1, 2])
    np.testing.assert_array_equal(np.asarray(counts), [1, 1, 3])
    assert jnp.unique(x, equal_nan=False).shape == (5,)


CALLS: dict[str, tuple[Callable[[], Any], Any]] = {
    "bincount of booleans": (lambda: jnp.bincount(np.array([True, False, True])), [1, 2]),
    "bincount of no booleans": (lambda: jnp.bincount(np.array([], bool), minlength=1), [0]),
    "put of nothing": (lambda: jnp.put(jnp.arange(3), jnp.array([1]), jnp.zeros(0)), [0, 1, 2]),
    "round to many digits": (lambda: jnp.round(jnp.array([1.25, -0.5]), 1000), [1.25, -0.5]),
    "round to 2**70 digits": (lambda: jnp.round(jnp.array([1.25]), 2**70), [1.25]),
    "round to 100 digits": (lambda: jnp.round(jnp.array([1.25], "float16"), 100), [1.25]),
    "round before the point": (lambda: jnp.round(jnp.array([1.25, -3.0]), -1000), [0, 0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_at_the_edge(name: str) -> None:
    call, wanted = CALLS[name]
    np.testing.assert_array_equal(np.asarray(call()), wanted)


def test_padding_refuses_arguments_of_other_modes() -> None:
    with pytest.raises(ValueError, match=r"'edge' takes no further arguments, but not \['end"):
        jnp.pad(A, 1, "edge", end_values=1)


TRACED: dict[str, Callable[[Any], Any]] = {
    "arange": jnp.arange,
    "linspace": lambda n: jnp.linspace(0, 1, n),
    "split": lambda n: jnp.split(A, n),
    "moveaxis": lambda n: jnp.moveaxis(A, n, 0),
    "histogram": lambda n: jnp.histogram(A, n),
    "zeros": jnp.zeros,
    "tolist": lambda n: n.tolist(),
    "tobytes": lambda n: n.tobytes(),
}


@pytest.mark.parametrize("name", TRACED)
def test_what_must_be_known_is_a_concretization_error(name: str) -> None:
    with pytest.raises(ConcretizationTypeError, match="traced"):
        bt.jit(TRACED[name])(1)


def test_tensordot_refuses_axes_as_both_numpy_and_jax_do() -> None:
    for axes in (4, ([0], [0, 1]), [0, 1, 2]):
        for kind in (TypeError, ValueError):
            with pytest.raises(kind, match="tensordot"):
                jnp.tensordot(A, A, axes)


def test_static_indices_are_checked_where_asked() -> None:
    x = jnp.arange(3.0)
    assert float(x.at[5].get(mode="clip")) == 2
    with bx.config.override(conventions="jax"):
        assert float(x[5]) == 2
    with bx.config.override(conventions="jax", check_static_indices=True):
        for f in (lambda x: x[5], lambda x: x.at[-4].get(), lambda x: x.at[5].set(1.0)):
            for g in (f, bt.jit(f)):
                with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 3"):
                    g(x)
        assert float(x.at[-1].get()) == 2
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 1"):
            jnp.ones((2, 3, 5))[np.array([0, 1]), 3, None]


def test_a_copy_has_a_derivative_of_its_own() -> None:
    x, change = jnp.ones(2), jnp.ones(2)
    y, dy = bt.jvp(jnp.array, (x,), (change,))
    assert y is not x
    assert dy is not change
    (dx,) = bt.vjp(jnp.array, x)[1](change)
    assert dx is not change


def test_integers_go_to_their_dtype_whatever_the_default_is() -> None:
    large = 0x85A308D3
    with bx.config.override(enable_x64=False):
        assert_equal(jnp.full((1,), large, "uint32"), np.array([large], np.uint32))
        assert_equal(jnp.full((1,), 2**40, "float32"), np.array([2.0**40], np.float32))
        padded = jnp.pad(jnp.zeros(1, "uint32"), 1, constant_values=large)
        assert_equal(padded[:1], [np.uint32(large)])
        assert_equal(bt.jit(lambda x: jnp.full_like(x, large))(np.uint32([0])), [np.uint32(large)])
        with pytest.raises(OverflowError, match="int32"):
            bt.jit(lambda x: x)(large)
    assert_equal(jnp.full((1,), 2**63, "uint64"), np.array([2**63], np.uint64))


def test_grids_of_integers_and_floats_promote_explicitly() -> None:
    with bx.config.override(numpy_dtype_promotion="strict"):
        assert jnp.mgrid[1:6:8j, 2:4].dtype == np.float32
        assert [x.dtype for x in jnp.ogrid[1:6:8j, 2:4]] == [np.float32] * 2


def test_arrays_of_objects_are_loaded_as_numpy_does(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", np.array([1, "a"], object), allow_pickle=True)
    assert jnp.load(tmp_path / "x.npy", allow_pickle=True).tolist() == [1, "a"]


def test_what_has_no_bytes_needs_no_copy() -> None:
    for given in ([0, 1], (0, 1), 2, 1.5, True):
        assert_equal(jnp.asarray(given, copy=False), np.asarray(jnp.asarray(given)))
    x = jnp.arange(2)
    assert jnp.asarray(x, copy=False) is x
    for other in (np.arange(2), memoryview(b"ab")):
        with pytest.raises(ValueError, match="needs a copy"):
            jnp.asarray(other, copy=False)


def test_the_step_of_no_interval_is_one_nan() -> None:
    for num, endpoint in ((1, True), (0, True), (0, False)):
        step = jnp.linspace(np.zeros(2), 1, num, endpoint, retstep=True)[1]
        assert step.shape == ()
        assert np.isnan(step)
    assert_equal(jnp.linspace(np.zeros(2), 1.0, 1, False, retstep=True)[1], np.ones(2))


def test_where_a_dtype_is_asked_for_none_is_the_default_float() -> None:
    assert jnp.issubdtype(None, jnp.floating)
    assert not jnp.issubdtype(None, jnp.complexfloating)
    assert jnp.dtype(None) == jnp.float32
    assert jnp.isdtype(None, "real floating")
    assert jnp.promote_types(complex, None) == jnp.complex64
    assert jnp.promote_types(None, "int8") == jnp.result_type(None, np.int8(1)) == jnp.float32
    with bx.config.override(enable_x64=True):
        assert jnp.promote_types(complex, None) == jnp.complex128


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "bfloat16", "float64", "complex64"])
def test_a_known_exponent_is_fixed(dtype: str) -> None:
    for exponent in (jnp.array(2, "int8"), jnp.array(3, "uint32")):
        for base in (jnp.array([2, 3], dtype), 2, 2.5):
            found, traced = jnp.power(base, exponent), bt.jit(jnp.power)(base, exponent)
            assert (found.dtype, found.weak_type) == (traced.dtype, traced.weak_type)
            np.testing.assert_allclose(
                np.asarray(found).astype(complex), np.asarray(traced).astype(complex), rtol=1e-2
            )
    jaxpr = bt.make_jaxpr(lambda x: x ** jnp.array(2, "int8"))(jnp.array(1, dtype))
    assert "integer_pow" in [eqn.primitive.name for eqn in jaxpr.eqns]


def test_a_negative_exponent_that_is_known() -> None:
    exponent = jnp.array(-1, "int32")
    assert_equal(jnp.array([2.0], "float32") ** exponent, np.array([0.5], np.float32))
