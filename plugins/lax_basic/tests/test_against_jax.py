"""Values, dtypes, weak types and derivatives of every sample, beside JAX's."""

import operator
import warnings

import ml_dtypes
import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
from bindax_core.extend import is_differentiable, typeof
from bindax_lax_basic.samples import SAMPLES

jax = pytest.importorskip("jax")

TOLERANCE = {2: 2e-2, 4: 2e-5, 8: 1e-11, 16: 1e-11}
# JAX gives no derivative (or none for repeated indices); ours are tested by finite differences.
NO_JAX_DERIVATIVE = {
    *("nextafter", "scatter_mul"),
    *("igamma_grad_a", "random_gamma_grad", "zeta"),
}


def jax_has_derivative(sample):
    # JAX takes the sign of a complex number for constant, which it is not.
    turning = sample.name == "sign" and sample.make()[0].dtype.kind == "c"
    # JAX's tangents of windows that were moved to within the array are nan.
    moved = sample.name in ("scatter_min", "scatter_max") and sample.arguments.get("mode") == "clip"
    # Its derivative of the extremum of nothing, which is constant, is zero divided by zero.
    empty = sample.name in ("reduce_min", "reduce_max") and 0 in sample.make()[0].shape
    return sample.name not in NO_JAX_DERIVATIVE and not (turning or moved or empty)


def clamp(low, x, high):
    # JAX's own derivative of clamp fails for scalar bounds.
    return jax.lax.clamp(
        jax.numpy.broadcast_to(low, x.shape), x, jax.numpy.broadcast_to(high, x.shape)
    )


def random_gamma_grad(a, x):
    # JAX's own takes arrays of one shape.
    return jax.lax.random_gamma_grad(*jax.numpy.broadcast_arrays(a, x))


RENAMED = {
    "random_gamma_grad": random_gamma_grad,
    "copy": lambda x: jax.lax.copy_p.bind(x),
    "clamp": clamp,
}


class Reference:
    """``jax.lax``, and the names that it has elsewhere."""

    def __getattr__(self, name):
        return RENAMED.get(name) or getattr(jax.lax, name)


reference = Reference()


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def assert_close(got, wanted):
    got_type, wanted_type = typeof(got), jax.typeof(wanted)
    assert got_type.shape == wanted_type.shape
    assert got_type.dtype == wanted_type.dtype
    if got_type.dtype == bx.float0:
        return
    assert got_type.weak_type == wanted_type.weak_type
    a, b = np.asarray(got), np.asarray(wanted)
    if not is_differentiable(a.dtype):
        np.testing.assert_array_equal(a, b)
        return
    size = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    tolerance = TOLERANCE[size]
    np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=tolerance, atol=tolerance)


def sample_ids(samples):
    return [sample.label for sample in samples]


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_ids(SAMPLES))
def test_value_dtype_and_weak_type(sample):
    operands = sample.make()
    assert_close(sample.call(lax, *operands), sample.call(reference, *operands))


DIFFERENTIABLE = [
    sample
    for sample in SAMPLES
    if jax_has_derivative(sample) and any(is_differentiable(x.dtype) for x in sample.make())
]


@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=sample_ids(DIFFERENTIABLE))
def test_jvp_and_vjp(sample):
    operands, tangents = sample.make(), sample.make(1)
    inexact = [i for i, x in enumerate(operands) if is_differentiable(x.dtype)]

    def function(module):
        def call(*xs):
            full = list(operands)
            for i, x in zip(inexact, xs, strict=True):
                full[i] = x
            return sample.call(module, *full)

        return call

    primals = [operands[i] for i in inexact]
    directions = [tangents[i] for i in inexact]
    got, got_tangent = bx.jvp(function(lax), primals, directions)
    wanted, wanted_tangent = jax.jvp(function(reference), primals, directions)
    assert_close(got, wanted)
    assert_close(got_tangent, wanted_tangent)

    if not is_differentiable(typeof(got).dtype):
        return
    rng = np.random.default_rng(0)
    cotangent = np.asarray(rng.standard_normal(got.shape)).astype(got.dtype)
    got_back = bx.vjp(function(lax), *primals)[1](cotangent)
    wanted_back = jax.vjp(function(reference), *primals)[1](cotangent)
    for a, b in zip(got_back, wanted_back, strict=True):
        assert_close(a, b)


SCALARS = [True, 2, 2.0, 2j, np.float32(2), np.int8(2), np.float64(2), np.uint32(3)]
INTEGERS = ["int8", "uint8", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]
NARROW_FLOATS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float4_e2m1fn"]
NARROW = ["int2", "int4", "uint2", "uint4", *NARROW_FLOATS]


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.truediv, operator.sub])
def test_operators_promote_like_jax(op):
    arrays = [np.ones(2).astype(numpy_dtype(name)) for name in DTYPES]
    with bx.config.override(default_dtype_bits=64):
        for x in arrays:
            for y in [*arrays, *SCALARS]:
                if op is operator.sub and x.dtype == bool and np.asarray(y).dtype == bool:
                    continue
                got = op(bx.Array.from_numpy(x.copy()), y)
                wanted = op(jax.numpy.asarray(x), y)
                assert (got.dtype, got.weak_type) == (wanted.dtype, wanted.weak_type), (x.dtype, y)


def test_promotion_lattice_is_jaxs():
    with bx.config.override(default_dtype_bits=64):
        for a in [*DTYPES, *NARROW, int, float, complex]:
            for b in [*DTYPES, *NARROW]:
                left = numpy_dtype(a) if isinstance(a, str) else a
                try:
                    wanted = jax.numpy.promote_types(left, numpy_dtype(b))
                except ValueError:  # what JAX's error derives from
                    wanted = None
                try:
                    got = lax.promote_types(a, b)
                except TypeError:
                    got = None
                assert got == wanted, (a, b)
