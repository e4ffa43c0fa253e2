"""Corners that samples do not reach: extreme values, empty matrices, padding of spread arrays."""

import math
from typing import Any

import numpy as np
import pytest

import bindax
import bindax_transforms
from bindax import lax

BOTH = pytest.mark.parametrize(
    "run", [lambda f: f, bindax_transforms.jit], ids=["eager", "compiled"]
)


def test_logistic_of_complex_numbers_far_left_is_zero() -> None:
    x = np.array([-1000 + 1j, 1000 + 1j, -3 + 2j], np.complex128)
    expected = np.array([0, 1, 1 / (1 + np.exp(3 - 2j))])
    np.testing.assert_allclose(np.asarray(lax.logistic(x)), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("z", "expected"),
    [
        (1e-30 + 0j, 1e-30 + 0j),
        (1e-20 + 1e-10j, 1.5e-20 + 1e-10j),
        (-2e-10 + 2e-5j, complex(2e-20, 2.0000000001333e-5)),
        (1e200 + 1e200j, complex(np.log(2) / 2 + 200 * np.log(10), np.pi / 4)),
        (-1 + 0j, complex(-np.inf, 0)),
        (3 - 4j, np.log(4 - 4j)),
    ],
)
def test_log1p_of_complex_numbers_is_exact_near_zero(z: complex, expected: complex) -> None:
    out = complex(lax.log1p(np.complex128(z)))
    assert out.imag == pytest.approx(expected.imag, rel=1e-12)
    assert out.real == pytest.approx(expected.real, rel=1e-12, abs=1e-25)


def test_expm1_of_large_complex_numbers() -> None:
    out = np.asarray(lax.expm1(np.array([1000 + 0j, -1000 + 3j, 1e-20 + 0j])))
    np.testing.assert_array_equal(out, [np.inf, -1, 1e-20])


AWAY = [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.49999997, 8388609.0, 4194304.5, np.inf, -0.0]


@BOTH
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_halves_are_rounded_away_from_zero(run: Any, dtype: str) -> None:
    x = np.array([*AWAY, 0.49999999999999994], np.float64)
    x = np.asarray(lax.convert_element_type(x[np.abs(x) < 60000], dtype))
    wide = x.astype(np.float64)
    expected = np.copysign(np.floor(np.abs(wide)) + (np.abs(wide) % 1 >= 0.5), wide)
    out = np.asarray(run(lax.round)(x)).astype(np.float64)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(expected))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3)])
def test_lu_of_empty_matrices_has_a_derivative(shape: tuple[int, ...]) -> None:
    x = np.zeros(shape)
    _, tangent = bindax_transforms.jvp(lambda x: lax.linalg.lu(x)[0], (x,), (x,))
    assert tangent.shape == shape


def test_named_padding_of_a_window_does_not_regard_that_the_array_is_spread() -> None:
    # As in JAX: SAME pads by the shape of the array that was given.
    out = lax.reduce_window(np.ones(8), 0.0, lax.add, (3,), (2,), "SAME", base_dilation=(2,))
    np.testing.assert_array_equal(np.asarray(out), [2, 2, 2, 2, 2, 2, 2])


X = np.ones((3, 4))
NO_SEQUENCE = {
    "convolution": (
        lambda: lax.conv_general_dilated(np.ones((1, 1, 4)), np.ones((1, 1, 2)), (1,), 3),
        ValueError,
        r"padding must be a name, or a pair \(front, behind\) for each spatial axis, but is 3",
    ),
    "pad": (
        lambda: lax.pad(X, 0.0, 3),
        TypeError,
        r"each entry of padding_config is \(low, high, interior\), but got \(\(3,\),\)",
    ),
    "windows": (
        lambda: lax.reduce_window(X, 0.0, lax.add, (2, 2), (1, 1), 3),
        TypeError,
        r"one pair \(low, high\) for each of the 2 axes of the operand, but got 3",
    ),
    "gather": (
        lambda: lax.gather(X, np.zeros((2, 1), np.int32), None, (1, 4)),
        TypeError,
        "gather: dimension_numbers must be GatherDimensionNumbers, but are None",
    ),
    "scatter": (
        lambda: lax.scatter(X, np.zeros((2, 1), np.int32), X, None),
        TypeError,
        "scatter: dimension_numbers must be ScatterDimensionNumbers, but are None",
    ),
}


@pytest.mark.parametrize("name", NO_SEQUENCE)
def test_what_is_no_sequence_is_refused_in_words(name: str) -> None:
    call, error, text = NO_SEQUENCE[name]
    with pytest.raises(error, match=text):
        call()


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, np.inf, -np.inf, np.nan]


@BOTH
@pytest.mark.parametrize("exponent", [0.5, -0.5, 0.0, 2.0, -1.0, np.inf])
def test_powers_of_special_values(run: Any, exponent: float) -> None:
    out = np.asarray(run(lambda x: lax.pow(x, exponent))(np.array(SPECIAL)))
    expected = np.array([_power(x, exponent) for x in SPECIAL])
    np.testing.assert_allclose(out, expected, rtol=1e-14)
    np.testing.assert_array_equal(np.signbit(out[out == 0]), np.signbit(expected[expected == 0]))


def _power(x: float, y: float) -> float:
    """The power of C, which raises no error."""
    try:
        out = math.pow(x, y)
    except OverflowError:
        return math.inf
    except ValueError:  # of a negative number, or of zero
        return (
            math.copysign(math.inf, x) if x == 0 and y == -1 else math.inf if x == 0 else math.nan
        )
    return out


@pytest.mark.parametrize("x", [0.0, np.inf, -np.inf, np.nan, 3.0])
@pytest.mark.parametrize("exponent", [0.0, np.uint8(0), np.int32(0)])
def test_power_of_zero_has_no_slope(x: float, exponent: Any) -> None:
    grad = bindax_transforms.grad(lambda x: lax.pow(x, exponent))
    assert grad(x) == 0
    assert bindax_transforms.jit(grad)(x) == 0


def test_mixed_derivative_of_a_power_at_exponent_zero() -> None:
    slope = bindax_transforms.grad(bindax_transforms.grad(lax.pow), 1)(np.float64(2), np.float64(0))
    assert slope == 0.5


def test_complex_extrema_of_nan_are_the_same_compiled() -> None:
    parts = [0.0, -0.0, 1.0, np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts])
    pairs = np.repeat(z, len(z)), np.tile(z, len(z))
    lines = np.stack([*pairs, np.ones_like(pairs[0])])

    def everything(x: Any, y: Any, lines: Any) -> Any:
        rows = [lax.max(x, y), lax.min(x, y), lax.clamp(x, y, x)]
        rows += [lax.reduce_max(lines, (0,)), lax.reduce_min(lines, (0,))]
        return [*rows, lax.cummax(lines), lax.cummin(lines)]

    compiled = bindax_transforms.jit(everything)(*pairs, lines)
    for found, expected in zip(compiled, everything(*pairs, lines), strict=True):
        found, expected = np.asarray(found), np.asarray(expected)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        whole = ~np.isnan(found)
        np.testing.assert_array_equal(found[whole], expected[whole])


POOLS = [(-np.inf, lax.max), (np.inf, lax.min), (0.0, lax.add)]


@pytest.mark.parametrize(("init", "computation"), POOLS)
def test_pooling_under_jit(init: float, computation: Any) -> None:
    x = np.arange(16.0).reshape(1, 4, 4, 1)
    window = (1, 2, 2, 1), (1, 2, 2, 1), "VALID"

    def pool(x: Any) -> Any:
        return lax.reduce_window(x, init, computation, *window)

    def whole(x: Any) -> Any:
        return lax.reduce(x, init, computation, (1, 2))

    for function in (pool, whole):
        expected = np.asarray(function(x))
        np.testing.assert_array_equal(bindax_transforms.jit(function)(x), expected)
        slope = bindax_transforms.grad(lambda x, f=function: f(x).sum())
        np.testing.assert_array_equal(bindax_transforms.jit(slope)(x), slope(x))


PARTS = [0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
PLANE = np.array([complex(a, b) for a in PARTS for b in PARTS])


@pytest.mark.parametrize("name", ["abs", "exp", "atan", "atanh", "rsqrt", "log", "sqrt", "tanh"])
def test_complex_infinities_and_nan_are_those_of_compiled_programs(name: str) -> None:
    function = getattr(lax, name)
    assert_equal_but_for_nan(function(PLANE), bindax_transforms.jit(function)(PLANE))


def test_quotients_of_complex_infinities_are_those_of_compiled_programs() -> None:
    x, y = np.repeat(PLANE, len(PLANE)), np.tile(PLANE, len(PLANE))
    assert_equal_but_for_nan(lax.div(x, y), bindax_transforms.jit(lax.div)(x, y))
    assert complex(lax.div(1 + 1j, complex(np.inf, np.nan))) == 0


@pytest.mark.parametrize(("conventions", "at_zero"), [("bindax", 0), ("jax", 1)])
def test_slope_of_absolute_values_is_chosen_at_zero_alone(conventions: str, at_zero: int) -> None:
    with bindax.config.override(conventions=conventions):
        slopes = [float(bindax.grad(lax.abs)(x)) for x in (-1.0, 0.0, 1.0)]
        complex_slope = bindax.jvp(lax.abs, (0j,), (1 + 0j,))[1]
    assert slopes == [-1, at_zero, 1]
    assert complex_slope == 0


def test_powers_of_zero_have_an_angle_for_real_exponents_alone() -> None:
    x, y = np.zeros(3, np.complex128), np.array([2, 2 + 1j, 0.5 - 1j])
    out = lax.pow(x, y)
    assert_equal_but_for_nan(out, bindax_transforms.jit(lax.pow)(x, y))
    assert np.isnan(out).tolist() == [False, True, True]


def assert_equal_but_for_nan(found: Any, expected: Any) -> None:
    """Two complex numbers of which a part is nan are equal here."""
    found, expected = np.asarray(found), np.asarray(expected)
    missing = np.isnan(found)
    np.testing.assert_array_equal(missing, np.isnan(expected))
    np.testing.assert_allclose(found[~missing], expected[~missing], rtol=1e-14, atol=1e-14)
