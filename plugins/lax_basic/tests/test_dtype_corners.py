"""Dtypes that few functions are called with: results that are known without another library."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from _dtype_cases import NARROW_FLOATS, NARROW_INTEGERS, UNSIGNED_FLOATS

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax
from bindax_lax_basic.dtypes import canonical_dtype

DOT = (((1,), (1,)), ((), ()))


def narrow(name, shape):
    rng = np.random.default_rng(0)
    low, high = (0, 4) if name.startswith("u") else (-2, 2)
    return rng.integers(low, high, shape).astype(canonical_dtype(name))


def in_wide(name):
    return np.float32 if name.startswith("float") else np.int32


@pytest.mark.every(2)
@pytest.mark.parametrize("name", [*NARROW_INTEGERS, "float4_e2m1fn"])
@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda m, x, y: m.concatenate([x, y], 0), lambda x, y: np.concatenate([x, y], 0)),
        (lambda m, x, y: m.sort(x), lambda x, y: np.sort(x, -1)),
        (lambda m, x, y: m.top_k(x, 2)[0], lambda x, y: np.sort(x, -1)[:, :-3:-1]),
        (lambda m, x, y: m.argmax(x, 1, np.int32), lambda x, y: x.argmax(1).astype(np.int32)),
        (lambda m, x, y: m.convert_element_type(x, "int32"), lambda x, y: x.astype(np.int32)),
        (
            lambda m, x, y: m.dot_general(x, y, DOT, preferred_element_type=np.float32),
            lambda x, y: (x @ y.T).astype(np.float32),
        ),
    ],
    ids=["concatenate", "sort", "top_k", "argmax", "convert", "dot_general"],
)
def test_numbers_below_a_byte(name, backend, function, wanted):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
        pytest.importorskip("jaxlib")
    x, y = narrow(name, (7, 9)), narrow(name, (7, 9))
    with bx.config.override(backend=backend):
        got = np.asarray(bt.jit(lambda x, y: function(lax, x, y))(x, y))
    expected = wanted(x.astype(in_wide(name)), y.astype(in_wide(name)))
    assert got.dtype in (expected.dtype, x.dtype)
    assert np.array_equal(got.astype(expected.dtype), expected)


def test_integers_of_two_bits_multiply_modulo_four():
    pytest.importorskip("bindax_xla_backend")
    x = np.array([[1, -1, -2]]).astype(ml_dtypes.int2)
    for backend in ("numpy", "xla"):
        with bx.config.override(backend=backend):
            got = bt.jit(lambda x: lax.dot_general(x, x, DOT))(x)
        assert got.dtype == x.dtype
        assert np.asarray(got).astype(int).tolist() == [[-2]]  # 6 modulo 4


def test_places_of_extrema_are_counted_in_any_dtype():
    pytest.importorskip("bindax_xla_backend")
    x = np.ones((2, 3), np.float32)
    for name in NARROW_INTEGERS:
        with bx.config.override(backend="xla"):
            got = bt.jit(lambda x, name=name: lax.argmax(x, 1, name))(x)
        assert np.asarray(got).astype(int).tolist() == [0, 0]


def test_the_greatest_float4_is_finite_as_an_integer():
    pytest.importorskip("bindax_xla_backend")
    x = np.array([6.0, -6.0, 1.5]).astype(ml_dtypes.float4_e2m1fn)
    for backend in ("numpy", "xla"):
        with bx.config.override(backend=backend):
            got = bt.jit(lambda x: lax.convert_element_type(x, "int32"))(x)
        assert np.asarray(got).tolist() == [6, -6, 1]


@pytest.mark.parametrize(
    ("source", "target"), list(itertools.permutations((*NARROW_INTEGERS, *NARROW_FLOATS), 2))
)
def test_narrow_types_convert_to_each_other(source, target):
    x = np.array([0, 1, 1, 0] if source == "uint2" else [1, 1, 1, 1]).astype(
        canonical_dtype(source)
    )
    got = lax.convert_element_type(x, target)
    assert got.dtype == canonical_dtype(target)
    wide = np.asarray(got).astype(np.float32)
    assert np.array_equal(wide[1:3], [1, 1])


def test_integers_wrap_where_they_do_not_fit():
    x = np.array([-1, -8, 7]).astype(ml_dtypes.int4)
    got = lax.convert_element_type(x, "uint2")
    assert np.asarray(got).astype(int).tolist() == [3, 0, 3]


def test_floats_without_zero_are_rounded():
    x = np.array([0.5, 1.0, 2.0]).astype(ml_dtypes.float8_e8m0fnu)
    away = lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)
    assert np.asarray(away).astype(float).tolist() == [1.0, 1.0, 2.0]
    even = np.asarray(lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)).astype(float)
    assert np.isnan(even[0])  # zero
    assert even[1:].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("dtype", ["int2", "int4", "uint4", "int8", "uint64", "int32"])
@pytest.mark.parametrize("count", [2, 3])
def test_select_by_any_integers(backend, dtype, count):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
    numbers = [0, 1, 1, 0] if dtype.startswith("u") else [-2, -1, 0, 1]
    which = np.array(numbers).astype(canonical_dtype(dtype))
    cases = [np.full(4, i, np.float32) for i in range(count)]
    with bx.config.override(backend=backend):
        got = bt.jit(lax.select_n)(which, *cases)
    assert np.asarray(got).tolist() == np.clip(numbers, 0, count - 1).tolist()


def test_select_has_more_cases_than_numbers():
    pytest.importorskip("bindax_xla_backend")
    which = np.array([0, 1, -2]).astype(ml_dtypes.int2)
    cases = [np.full(3, i, np.float32) for i in range(5)]
    for backend in ("numpy", "xla"):
        with bx.config.override(backend=backend):
            assert np.asarray(bt.jit(lax.select_n)(which, *cases)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_complex_numbers_are_clamped_by_real_then_imaginary_part(backend):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
    x = np.array([-1 + 5j, 0 + 2j, 0 - 2j, 3 + 0j], np.complex64)
    with bx.config.override(backend=backend):
        got = bt.jit(lax.clamp)(np.complex64(-1j), x, np.complex64(1 + 1j))
    assert np.asarray(got).tolist() == [-1j, 2j, -1j, 1 + 1j]


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_complex_angles(backend):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
    angles = np.array([0.3 + 0.4j, -2.5 - 0.2j, 1.6 + 1j])
    with bx.config.override(backend=backend):
        got = bt.jit(lax.atan2)(3 * np.sin(angles), 3 * np.cos(angles))
        slope = bt.jvp(lambda y: lax.atan2(y, 2.0 + 1j), (1.0 + 0j,), (1.0 + 0j,))[1]
    assert np.allclose(got, angles, rtol=1e-14, atol=0)
    assert np.allclose(slope, (2 + 1j) / (1 + (2 + 1j) ** 2), rtol=1e-14, atol=0)


@pytest.mark.parametrize("dtype", ["int4", "uint8", "int8", "int32", "int64"])
def test_hermitian_matrices_of_integers_become_floats(dtype):
    # Sums of these do not fit into int4, and of 16 times these not into int8.
    wide = np.array([[6, 2, 1], [2, 7, 3], [1, 3, 5]]) * (1 if dtype == "int4" else 16)
    x = wide.astype(canonical_dtype(dtype))
    root = lax.linalg.cholesky(x)
    assert root.dtype == (np.float64 if dtype == "int64" else np.float32)
    assert np.allclose(root @ root.T, wide, rtol=1e-5)
    assert np.allclose(lax.linalg.eigh(x)[1], np.linalg.eigvalsh(wide), rtol=1e-5)
    with pytest.raises(TypeError, match="cholesky takes arrays of one of the dtypes float32"):
        lax.linalg.cholesky(x, symmetrize_input=False)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn"])
def test_triangular_systems_of_narrow_floats(dtype):
    a = np.array([[2.0, 0.0], [1.0, 4.0]]).astype(canonical_dtype(dtype))
    b = np.array([3.0, 7.5]).astype(a.dtype)
    got = lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
    assert got.dtype == a.dtype
    assert np.asarray(got).astype(float).tolist() == [1.5, 1.5]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2"])
def test_products_of_floats_are_not_returned_as_integers(dtype):
    x = np.ones((2, 2)).astype(canonical_dtype(dtype))
    message = f"a product of {x.dtype.name} cannot be returned as int32.*convert the result"
    with pytest.raises(TypeError, match=message):
        lax.dot_general(x, x, DOT, preferred_element_type=np.int32)


REDUCTIONS = {
    "sum": (lambda x: lax.reduce_sum(x, (0,)), lambda x: x.sum(0)),
    "prod": (lambda x: lax.reduce_prod(x, (0,)), lambda x: x.prod(0)),
    "cumsum": (lambda x: lax.cumsum(x), lambda x: x.cumsum(0)),
    "cumprod": (lambda x: lax.cumprod(x), lambda x: x.cumprod(0)),
    "window sum": (
        lambda x: lax.reduce_window(x, x.dtype.type(0), lax.add, (40,), (40,), "VALID"),
        lambda x: x.reshape(-1, 40).sum(1),
    ),
}


@pytest.mark.pairwise
@pytest.mark.parametrize("name", [n for n in NARROW_FLOATS if n not in UNSIGNED_FLOATS])
@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_many_narrow_floats_are_rounded_once(name, backend, reduction):
    if backend == "xla":
        pytest.importorskip("jaxlib")
    function, wanted = REDUCTIONS[reduction]
    rng = np.random.default_rng(0)
    values = rng.choice([-1.0, 1.0, 1.0], 1000) if "prod" in reduction else rng.normal(size=1000)
    x = values.astype(canonical_dtype(name))
    with bx.config.override(backend=backend):
        out = bt.jit(function)(x) if backend == "xla" else function(x)

    assert out.dtype == x.dtype
    exact = wanted(x.astype(np.float64))
    np.testing.assert_array_equal(
        np.asarray(out).astype(np.float64), np.asarray(exact).astype(x.dtype).astype(np.float64)
    )
