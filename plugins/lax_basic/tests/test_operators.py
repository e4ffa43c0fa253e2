"""Operators, methods and indexing of arrays and tracers, beside NumPy's."""

import operator
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip
BITS = [operator.and_, operator.or_, operator.xor]


def array(x, dtype=None):
    return bx.Array.from_numpy(np.array(x, dtype))


def same(got, wanted, **options):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), **{"rtol": 1e-12, **options})


def traced(f, *args):
    """The same function, staged and then interpreted."""
    jaxpr = bt.make_jaxpr(f)(*args)
    (out,) = bx.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)
    return out


@pytest.mark.parametrize("op", BINARY)
def test_binary_operators_are_numpys(op):
    x = np.array([[1.5, -2.5, 3.0], [4.0, 0.5, 7.0]])
    y = np.array([2.0, 0.5, -3.0])
    for a, b in [(x, y), (y, x), (x, 2.0), (2.0, abs(x)), (x[:, :1], y), (x, np.float64(3.0))]:
        if op is operator.pow:
            a = abs(a)
        wanted = op(a, b)
        left = array(a) if isinstance(a, np.ndarray) else a
        right = b if isinstance(a, np.ndarray) else array(b)
        same(op(left, right), wanted)
        if isinstance(a, np.ndarray):
            same(traced(lambda u, b=b: op(u, b), a), wanted)


@pytest.mark.parametrize("op", [*BITS, operator.floordiv, operator.mod, operator.add, operator.mul])
def test_integer_operators_are_numpys(op):
    x, y = np.array([7, -7, 5, -5]), np.array([2, 2, -3, -3])
    same(op(array(x), array(y)), op(x, y))
    same(op(array(x), 3), op(x, 3))
    same(op(9, array(y)), op(9, y))


def test_powers():
    x = array([2, 3, -1])
    same(x**3, [8, 27, -1])
    same(x ** np.array([3, 2, 5]), [8, 9, -1])
    same(2 ** array([0, 3, 5]), [1, 8, 32])
    same(array([4.0]) ** 0.5, [2.0])
    same(array([4.0]) ** -1, [0.25])
    assert str(bt.make_jaxpr(lambda x: x**2)(1.0)).count("integer_pow") == 1
    with pytest.raises(TypeError, match="negative power -1"):
        x**-1


@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_negative_integer_powers_have_no_fraction(dtype):
    x = array(np.array([3, -3, 2, 1, -1, -1, 0, 127, -128], dtype))
    y = array(np.array([-1, -2, -5, -3, -3, -4, -1, -128, -7], dtype))
    expected = [0, 0, 0, 1, -1, 1, 0, 0, 0]
    same(x**y, expected)
    same(bt.jit(operator.pow)(x, y), expected)
    same(bt.vmap(operator.pow)(x, y), expected)
    same(bt.jit(operator.pow)(x, -1), [0, 0, 0, 1, -1, -1, 0, 0, 0])
    same(bt.jit(operator.pow)(np.array([3, 2], "uint8"), array([-1, 3])), [0, 8])


def test_negative_integer_powers_that_are_known_are_refused():
    for y in (-1, np.int32(-1), np.array(-1), array(-1), bt.jit(operator.neg)(1)):
        with pytest.raises(TypeError, match="negative power -1"):
            array([2, 3]) ** y
        with pytest.raises(TypeError, match="negative power -1"):
            bt.jit(lambda x, y=y: x**y)(array([2, 3]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
def test_known_exponents_are_fixed_wherever_they_lie(dtype):
    pytest.importorskip("bindax_xla_backend")  # without it all arrays are on the host
    x = array(np.linspace(1, 3, 7).astype(dtype))
    weak, strong = bt.jit(lambda: (7, array(7)))()
    assert weak.weak_type
    assert not strong.on_host
    for y in (np.int32(7), np.array(7), array(7), weak, strong):
        traced = bt.jit(operator.pow)(x, y)
        for out in (x**y, bt.jit(lambda x, y=y: x**y)(x)):
            assert out.dtype == traced.dtype
            np.testing.assert_array_equal(out, x.astype(out.dtype) ** 7)


@pytest.mark.parametrize(
    "use",
    [operator.add, lambda x, m: m + x, operator.eq, lambda x, m: x[m], lambda x, m: x.at[m].get()],
)
def test_masked_arrays_are_refused(use):
    masked = np.ma.array([1, 2], mask=[False, True])
    with pytest.raises(ValueError, match="Its mask would be ignored"):
        use(array([1, 2, 3, 4]), masked)


def test_booleans():
    t, f = array([True, False]), array([True, True])
    same(t & f, [True, False])
    same(t | f, [True, True])
    same(~t, [False, True])
    same(t + f, [True, True])
    same(t * f, [True, False])
    same(t + 1, [2, 1])
    same(f.sum(), 2)


def test_unary_and_conversion():
    x = array([-1.5, 2.5])
    same(-x, [1.5, -2.5])
    same(abs(x), [1.5, 2.5])
    same(+x, [-1.5, 2.5])
    same(round(x), [-2.0, 2.0])
    assert float(array(2.5)) == 2.5
    assert divmod(7, array(4)) == (1, 3)


def test_operators_beside_what_is_no_array():
    x = array([1.0])
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "a"
    with pytest.raises(TypeError, match="unsupported operand"):
        [1.0] - x
    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711 -- what `==` answers is the point


def test_numpy_arrays_on_the_left():
    out = np.array([1.0, 2.0]) + array([1.0, 1.0])
    assert type(out) is bx.Array
    same(out, [2.0, 3.0])


SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
          ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((3,), (5, 3, 4)),
          ((5, 2, 3), (3,)), ((1, 2, 3), (6, 5, 3, 4))]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_matmul_is_numpys(left, right):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(left), rng.standard_normal(right)
    same(array(x) @ array(y), x @ y)
    same(traced(lambda a: a @ y, x), x @ y)
    with pytest.raises(TypeError, match="equal sizes"):
        array(x) @ array(np.ones(7))


def test_shape_methods():
    x = np.arange(24.0).reshape(2, 3, 4)
    a = array(x)
    same(a.T, x.T)
    same(a.mT, np.swapaxes(x, 1, 2))
    same(a.reshape(4, 6), x.reshape(4, 6))
    same(a.reshape((-1, 8)), x.reshape(-1, 8))
    same(a.transpose(), x.transpose())
    same(a.transpose(2, 0, 1), x.transpose(2, 0, 1))
    same(a.transpose((2, 0, 1)), x.transpose(2, 0, 1))
    same(a.swapaxes(0, -1), x.swapaxes(0, -1))
    same(a.ravel(), x.ravel())
    same(a.flatten(), x.ravel())
    same(array(x[:1]).squeeze(), x[0])
    same(array(x[:1]).squeeze(0), x[0])
    assert a.astype("int32").dtype == np.int32
    assert a.astype(float).dtype == np.float32
    with pytest.raises(TypeError, match="what -1 stands for"):
        a.reshape(5, -1)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "all", "any"])
def test_reductions_are_numpys(name, axis):
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    for keepdims in (False, True):
        wanted = getattr(x, name)(axis=axis, keepdims=keepdims)
        same(getattr(array(x), name)(axis=axis, keepdims=keepdims), wanted)


def test_other_methods():
    x = np.random.default_rng(0).standard_normal((2, 3))
    a = array(x)
    for axis in (None, 0, 1):
        same(a.argmax(axis), x.argmax(axis))
        same(a.argmin(axis), x.argmin(axis))
        same(a.cumsum(axis), x.cumsum(axis))
    same(a.clip(-0.5, 0.5), x.clip(-0.5, 0.5))
    same(a.clip(min=0), x.clip(min=0))
    same(a.dot(x.T), x.dot(x.T))
    same(a.copy(), x)
    same(traced(lambda a: a.copy(), a), x)
    same(a.conj(), x)
    same(a.real, x)
    same(a.imag, 0 * x)
    z = x + 1j
    same(array(z).imag, z.imag)
    same(array(z).conj(), z.conj())
    assert array(np.ones(3, np.int8)).mean().dtype == np.float32
    assert array(np.ones(3, np.int8)).sum().dtype == np.int32
    with pytest.raises(ValueError, match="no elements"):
        array(np.ones((0, 2))).max()


def test_defaults_and_weak_types():
    i, f = array([1, 2], np.int32), array([1.0], np.float32)
    assert (i * 2.0).dtype == np.float32
    assert (i * 2.0).weak_type
    assert (i * 2.0 + array([1.0], np.float16)).dtype == np.float16
    assert (f + 1).dtype == np.float32
    assert (f + np.float64(1)).dtype == np.float32
    assert (f + np.float64([1])).dtype == np.float64
    assert (f / 3).dtype == np.float32
    assert (i / i).dtype == np.float32
    assert lax.full((2,), 1).dtype == np.int32
    with bx.config.override(default_dtype_bits=64):
        assert lax.full((2,), 1).dtype == np.int64
        assert (i * 2.0).dtype == np.float64
    scale = bt.jit(lambda s, x: s * x)  # a traced Python scalar promotes as an untraced one
    assert scale(2.0, f).dtype == (2.0 * f).dtype == np.float32
    assert scale(2.0, i).dtype == (2.0 * i).dtype == np.float32


INDICES = [
    0, -1, slice(None), slice(1, 3), slice(None, None, -1), slice(3, 0, -2), slice(4, 1), None,
    Ellipsis, (0, 1), (slice(1, None), -1), (Ellipsis, 0), (None, 0, Ellipsis, None),
    (0, slice(None, None, 2), slice(-2, None)), (slice(0, 0), 1), (np.int32(1), Ellipsis), (),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing_is_numpys(index):
    x = np.arange(60).reshape(4, 5, 3)
    same(array(x)[index], x[index])
    same(traced(lambda a: a[index], x), x[index])


def test_indexing_with_arrays():
    x = np.arange(12.0).reshape(4, 3)
    i = np.array([[0, 3], [-1, 1]])
    same(array(x)[i], x[i])
    same(array(x)[:, array([2, 0])], x[:, [2, 0]])
    same(bt.jit(lambda a, k: a[k])(x, 2), x[2])
    same(bt.jit(lambda a, k: a[k, k])(x, 1), x[1, 1])
    gradient = bt.grad(lambda a: a[np.array([0, 0, 2])].sum())(x)
    same(gradient, [[2.0] * 3, [0.0] * 3, [1.0] * 3, [0.0] * 3])
    same(bt.vmap(lambda row, k: row[k])(x, np.array([0, 1, 2, 1])), [0, 4, 8, 10])
    assert np.asarray(array([np.inf, 1.0])[array(1)]) == 1.0


def test_len_and_iteration():
    x = array([[1.0, 2.0], [3.0, 4.0]])
    assert len(x) == 2
    a, b = x
    same(a, [1.0, 2.0])
    same(b, [3.0, 4.0])
    assert [float(v) for v in a] == [1.0, 2.0]
    with pytest.raises(TypeError, match="cannot be iterated"):
        iter(array(1.0))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int4", "bool", "complex64"])
def test_elements_are_those_of_indices(dtype):
    x = array(np.ones((3, 2)).astype(np.dtype(dtype)))
    for row, i in zip(x, range(3), strict=True):
        assert bx.typeof(row) == bx.typeof(x[i])
        same(row, x[i])
    weak = bt.jit(lambda x: x * 2)(1.0) + array(np.zeros(2, np.float32))
    assert [bx.typeof(v) for v in weak] == [bx.typeof(weak[0])] * 2
    assert [bx.typeof(v) for v in bx.device_put(x, bx.devices()[0])] == [bx.typeof(x[0])] * 3


def test_iteration_takes_one_element_at_a_time():
    x = array(np.arange(100_000, dtype=np.float32))
    assert float(next(iter(x))) == 0.0  # all of them would take seconds
    made = bt.make_jaxpr(lambda x: next(iter(x)))(x)
    assert len(made.eqns) <= 2
    assert len(bt.make_jaxpr(lambda: next(iter(x)))().eqns) > 0  # staged, as x[0] is


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (4, IndexError, "out of bounds for axis 0 with size 4"),
        ((0, 0, 0, 0), IndexError, "too many indices: 4"),
        ((Ellipsis, Ellipsis), IndexError, "one Ellipsis"),
        (1.5, TypeError, "indexed by integers"),
        ([0, 1], TypeError, "indexed by integers"),
        (np.array([True, False, True]), IndexError, "boolean index of shape"),
    ],
)
def test_bad_indices(index, error, text):
    with pytest.raises(error, match=text):
        array(np.zeros((4, 5, 3)))[index]


UNARY = [lax.sin, lax.tanh, lax.exp, lax.neg, lax.square, lambda x: x * 0.5, abs, lax.logistic]
JOIN = [operator.add, operator.sub, operator.mul, lax.max, lax.atan2, lambda x, y: x / (1 + y * y)]


@settings(
    max_examples=60 if os.environ.get("BINDAX_NIGHTLY") else 15,
    deadline=None,
    derandomize=True,
    database=None,
)
@given(
    program=st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 5), st.integers(0, 9), st.integers(0, 9)),
        min_size=3,
        max_size=12,
    )
)
def test_random_programs_agree_under_transformations(program):
    def f(x, y):
        values = [x, y]
        for unary, join, i, j in program:
            left, right = values[i % len(values)], values[j % len(values)]
            values.append(JOIN[join](UNARY[unary](lax.tanh(left)), right))
        return values[-1]

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 4))
    out = f(array(x), array(y))
    same(bt.jit(f)(x, y), out, rtol=1e-9)
    same(bt.vmap(f)(x, y), out, rtol=1e-9)
    t, s = rng.standard_normal((2, 4))
    tangent = bt.jvp(f, (x, y), (t, s))[1]
    same(bt.linearize(f, x, y)[1](t, s), tangent, rtol=1e-9, atol=1e-9)
    total = lambda *args: f(*args).sum()  # noqa: E731
    gx, gy = bt.grad(total, (0, 1))(x, y)
    same((gx * t + gy * s).sum(), tangent.sum(), rtol=1e-8, atol=1e-8)
    h = 1e-6
    difference = f(array(x + h * t), array(y + h * s)) - f(array(x - h * t), array(y - h * s))
    same(tangent, difference / (2 * h), rtol=1e-3, atol=1e-3)


def test_floor_division_by_zero_is_infinite() -> None:
    x = bx.device_put(np.array([1.0, -1.0, 0.0, 5.5]))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(x // 0.0, np.array([1.0, -1.0, 0.0, 5.5]) // 0.0)
    np.testing.assert_array_equal(1.0 // bx.device_put(np.array([0.0, 2.0])), [np.inf, 0.0])


def test_floor_division_has_no_slope():
    for y in (0.0, -0.0, 0.7):
        for argnum in (0, 1):
            slope = bt.grad(operator.floordiv, argnum)(np.float32(2.0), np.float32(y))
            assert float(slope) == 0.0


def test_cumulative_sums_keep_the_dtype() -> None:
    assert bx.device_put(np.arange(3, dtype=np.int8)).cumsum().dtype == np.int8
    assert bx.device_put(np.array([True, True])).cumsum().dtype == np.int32


def test_contraction_of_several_axes_to_a_scalar() -> None:
    x = np.arange(6.0).reshape(2, 3)
    total = lax.dot_general(x, x, (((0, 1), (0, 1)), ((), ())))
    assert float(total) == float((x * x).sum())
