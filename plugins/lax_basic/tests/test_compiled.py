"""Every special value gives the same compiled by XLA as evaluated by NumPy."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.extend import is_differentiable, primitive, rules, typeof
from bindax_lax_basic.extend import composition

pytest.importorskip("bindax_xla_backend")
pytest.importorskip("jaxlib")


def compiled(function, *operands):
    with bx.config.override(backend="xla"):
        return bt.jit(function)(*operands)


def assert_close(got, wanted, rtol=1e-5, atol=1e-5):
    assert typeof(got) == typeof(wanted)
    a, b = np.asarray(got), np.asarray(wanted)
    if not is_differentiable(a.dtype):
        np.testing.assert_array_equal(a, b)
        return
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    if a.dtype.itemsize == 2:
        rtol = atol = 2e-2
    np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=rtol, atol=atol)


FLOAT_UNARY = (
    "neg sign floor ceil round abs exp exp2 expm1 log log1p tanh logistic sin cos tan asin acos "
    "atan sinh cosh asinh acosh atanh sqrt rsqrt cbrt square is_finite"
)
FLOAT_BINARY = "add sub mul div rem max min atan2 pow nextafter eq ne lt le gt ge"
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e-30, 1e30, -1e30]


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*FLOAT_UNARY.split(), *FLOAT_BINARY.split()])
def test_special_values(name, dtype):
    x = np.array(SPECIAL, dtype)
    operands = [x] if name in FLOAT_UNARY.split() else [g.ravel() for g in np.meshgrid(x, x)]
    function = getattr(lax, name)
    assert_close(compiled(function, *operands), function(*operands), 1e-5, 1e-38)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "rem", "max", "min"])
def test_integers_at_their_limits(name, dtype):
    info = np.iinfo(dtype)
    values = [info.min, info.max, 0, 1, 2, 3, 7, *([-1, -7] if info.min else [])]
    operands = [g.ravel() for g in np.meshgrid(*[np.array(values, dtype)] * 2)]
    function = getattr(lax, name)
    assert_close(compiled(function, *operands), function(*operands))


@pytest.mark.parametrize("target", ["int8", "uint8", "int32", "uint32", "int64", "bool", "float16"])
@pytest.mark.parametrize("source", [np.float32, np.float64, np.float16])
def test_conversion_out_of_range(source, target):
    with np.errstate(over="ignore"):
        edges = [127.5, 128.0, 255.5, 256.0, -129.0, 2.0**31, 2.0**32, 2.0**63, -(2.0**63)]
        x = np.array([*SPECIAL, *edges], source)
    convert = lambda x: lax.convert_element_type(x, target)  # noqa: E731
    assert_close(compiled(convert, x), convert(x))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_first_of_equals_and_of_nans(dtype):
    x = np.array([[1, 3, 3, 2], [np.nan, 5, np.nan, 7], [-np.inf] * 4], np.float32)
    x = np.asarray(lax.convert_element_type(x, dtype))
    for search in (lax.argmax, lax.argmin):
        assert_close(compiled(lambda x, f=search: f(x, 1, "int32"), x), search(x, 1, "int32"))


def magnitude(x):
    return x if x > 0 else -x


def test_a_composition_that_cannot_be_lowered_is_named():
    absent = [kind.absent("not asked for") for kind in (rules.jvp, rules.vmap, rules.transpose)]
    branching = primitive(
        "planted.branching",
        rules.impl(magnitude),
        rules.abstract_eval(lambda x: x),
        rules.lowering["stablehlo"](composition(magnitude)),
        *absent,
    )
    with pytest.raises(bx.errors.TracerBoolConversionError, match=r"in lowering of magnitude \("):
        compiled(branching.bind, 1.0)
