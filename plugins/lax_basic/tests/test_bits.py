"""Operations on bits: all counts and shifts of all values, beside integers of Python and JAX."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.extend import typeof

pytest.importorskip("bindax_xla_backend")

NAMES = ["int4", "uint4", "int8", "uint8", "int16", "uint32", "int32", "int64", "uint64"]
WIDTH = {name: int("".join(filter(str.isdigit, name))) for name in NAMES}
BINARY = ["shift_left", "shift_right_logical", "shift_right_arithmetic", "mulhi"]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def values(name):
    info = ml_dtypes.iinfo(dtype_of(name))
    width = WIDTH[name]
    wanted = [0, 1, 2, 3, 5, 7, width - 1, width, width + 1, info.max, info.max - 1, info.max // 3]
    wanted += [info.min, info.min + 1, -1, -2, -3, -width]
    return [v for v in dict.fromkeys(wanted) if info.min <= v <= info.max]


def wrap(value, name):
    value &= (1 << WIDTH[name]) - 1
    negative = not name.startswith("u") and value >> (WIDTH[name] - 1)
    return value - (1 << WIDTH[name]) if negative else value


def by_python(function, x, y, name):
    """The definition, in integers of any size."""
    width = WIDTH[name]
    bits, amount = x % (1 << width), y % (1 << width)
    signed = bits - (1 << width) if bits >> (width - 1) else bits
    return {
        "shift_left": lambda: wrap(bits << min(amount, width), name),
        "shift_right_logical": lambda: wrap(bits >> amount, name),
        "shift_right_arithmetic": lambda: wrap(signed >> min(amount, width), name),
        "mulhi": lambda: wrap((x * y) >> width, name),
        "population_count": lambda: wrap(bits.bit_count(), name),
        "clz": lambda: wrap(width - bits.bit_length(), name),
    }[function]()


def compiled(function, *operands):
    with bx.config.override(backend="xla"):
        return bt.jit(function)(*operands)


@pytest.mark.parametrize("name", NAMES)
def test_by_definition(name):
    pairs = list(itertools.product(values(name), repeat=2))
    x, y = (np.array(v, object).astype(dtype_of(name)) for v in zip(*pairs, strict=True))
    functions = [*BINARY, "population_count", "clz"]
    wanted = [[by_python(f, a, b, name) for a, b in pairs] for f in functions]

    def all_functions(x, y):
        return [getattr(lax, f)(*([x, y] if f in BINARY else [x])) for f in functions]

    eager, fast = all_functions(x, y), compiled(all_functions, x, y)
    for function, a, b, w in zip(functions, eager, fast, wanted, strict=True):
        assert typeof(a) == typeof(b)
        assert a.dtype == x.dtype
        assert [int(v) for v in np.asarray(a)] == w, function
        assert [int(v) for v in np.asarray(b)] == w, function


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("float32", t) for t in ("int32", "uint8", "int16", "bfloat16", "int4", "float8_e5m2")),
        *(("float64", t) for t in ("int32", "uint64", "float16")),
        *(("int8", t) for t in ("int4", "uint8", "float8_e4m3fn")),
        *(("uint4", t) for t in ("int4", "uint4")),
    ],
)
def test_bitcast_is_jaxs_and_is_undone(source, target, jax_answers):
    x = (np.arange(6).reshape(2, 3) * 1.7 - 2).astype(np.int64).astype(dtype_of(source))
    got = lax.bitcast_convert_type(x, target)
    wanted = jax_answers(
        "bits", lambda jax: jax.lax.bitcast_convert_type(x, dtype_of(target))
    ).array
    np.testing.assert_array_equal(np.asarray(got), wanted)
    assert got.dtype == wanted.dtype
    fast = compiled(lambda x: lax.bitcast_convert_type(x, target), x)
    np.testing.assert_array_equal(np.asarray(fast), wanted)
    back = lax.bitcast_convert_type(got, source)
    np.testing.assert_array_equal(np.asarray(back), x)
    assert back.dtype == x.dtype


def test_bitcast_between_dtypes_of_less_than_a_byte():
    x = np.array([[6, -1], [-8, 3]]).astype(dtype_of("int4"))
    parts = lax.bitcast_convert_type(x, "int2")  # the lowest bits first
    wanted = [[[-2, 1], [-1, -1]], [[0, -2], [-1, 0]]]
    np.testing.assert_array_equal(np.asarray(parts).astype(int), wanted)
    np.testing.assert_array_equal(np.asarray(lax.bitcast_convert_type(parts, "int4")), x)


def test_bitcast_strips_weak_type_and_has_zero_derivative():
    assert not typeof(lax.bitcast_convert_type(3.0, "float32")).weak_type
    x = np.ones(2, np.float32)
    tangent = bt.jvp(lambda x: lax.bitcast_convert_type(x, "float16"), (x,), (x,))[1]
    np.testing.assert_array_equal(tangent, np.zeros((2, 2)))
    batched = bt.vmap(lambda x: lax.bitcast_convert_type(x, "uint8"), 1, 1)(np.ones((2, 3), "f4"))
    assert batched.shape == (2, 3, 4)


ROUNDED = [
    1.1,
    -3.14159,
    0.75,
    -1.5,
    1e30,
    -1e-30,
    np.nan,
    np.inf,
    -0.0,
    65519,
    65520,
    6e-8,
    6.1e-5,
    6.09e-5,
]


@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (1, 0), (11, 52), (2, 0), (5, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_reduce_precision_is_jaxs(dtype, bits, jax_answers):
    with np.errstate(over="ignore"):
        x = np.array(ROUNDED).astype(dtype_of(dtype))
    answer = jax_answers("rounded", lambda jax: jax.lax.reduce_precision(x, *bits))
    wanted = answer.array.astype(float)
    got = np.asarray(lax.reduce_precision(x, *bits)).astype(float)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.every(2)
@pytest.mark.parametrize("bits", [(5, 2), (4, 3), (4, 2), (3, 4), (3, 0), (2, 1), (8, 0)])
@pytest.mark.parametrize(
    "dtype", ["float4_e2m1fn", "float8_e3m4", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e8m0fnu"]
)
def test_reduce_precision_of_all_narrow_floats(dtype, bits, jax_answers):
    count = 16 if dtype.startswith("float4") else 256
    x = np.arange(count).astype(np.uint8).view(dtype_of(dtype))
    answer = jax_answers("rounded", lambda jax: jax.lax.reduce_precision(x, *bits))
    wanted = answer.array.astype(float)
    for backend in ("numpy", "xla"):
        with bx.config.override(backend=backend):
            got = bt.jit(lambda x: lax.reduce_precision(x, *bits))(x)
        np.testing.assert_array_equal(np.asarray(got).astype(float), wanted)


def test_operators_shift_like_jaxs(jax_answers):
    x, y = np.array([5, -5, 100], np.int8), np.array([[1], [40]], np.int32)

    def shifted(array):
        a, b = array(x), array(y)
        return [a << 2, a >> b, 3 << a, array(x.view(np.uint8)) >> 1, array(x > 0) << a]

    answers = jax_answers("shifted", lambda jax: shifted(jax.numpy.asarray))
    for got, wanted in zip(shifted(bx.Array.from_numpy), answers, strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: lax.clz(np.ones(2, bool)), TypeError, "clz does not accept the dtype bool"),
        (lambda: lax.shift_left(np.ones(2), 1.0), TypeError, "shift_left does not accept"),
        (lambda: lax.mulhi(np.int8(1), np.int16(1)), TypeError, "mulhi requires.*equal dtypes"),
        (
            lambda: lax.bitcast_convert_type(np.ones(3, np.float32), "float64"),
            ValueError,
            r"float32\[3\] cannot become float64.*2 values of 32 bits",
        ),
        (
            lambda: lax.bitcast_convert_type(np.ones(2, bool), "int8"),
            TypeError,
            r"bool\[2\] cannot become int8",
        ),
        (lambda: lax.reduce_precision(1.0, 0, 3), ValueError, "exponent_bits must be positive"),
        (lambda: lax.reduce_precision(1.0, 3, -1), ValueError, "mantissa_bits must not be"),
        (lambda: lax.reduce_precision(1.0, 1.5, 2), TypeError, "integer for exponent_bits"),
        (lambda: lax.reduce_precision(1, 5, 2), TypeError, "reduce_precision does not accept"),
        (lambda: bx.Array.from_numpy(np.ones(2)) << 1, TypeError, "does not accept the dtype"),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
