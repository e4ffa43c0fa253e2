"""Promotion of dtypes by operators, beside JAX's."""

import operator
import warnings

import ml_dtypes
import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


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
