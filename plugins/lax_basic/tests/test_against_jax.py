"""Promotion of dtypes by operators, beside JAX's."""

import operator

import ml_dtypes
import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax

SCALARS = [True, 2, 2.0, 2j, np.float32(2), np.int8(2), np.float64(2), np.uint32(3)]
INTEGERS = ["int8", "uint8", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]
NARROW_FLOATS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float4_e2m1fn"]
NARROW = ["int2", "int4", "uint2", "uint4", *NARROW_FLOATS]


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def results_of_jax(jax, op, arrays):
    """The types of all results, by tracing them."""

    def row(x):
        with_others = jax.eval_shape(lambda x: [op(x, y) for y in others(op, x, arrays)], x)
        return [[z.dtype.name, z.weak_type] for z in with_others]

    return [row(x) for x in arrays]


def others(op, x, arrays):
    """The other operand of an array; JAX subtracts no booleans."""
    both = [*arrays, *SCALARS]
    return [
        y
        for y in both
        if op is not operator.sub or not x.dtype == np.asarray(y).dtype == np.dtype(bool)
    ]


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.truediv, operator.sub])
def test_operators_promote_like_jax(op, jax_answers):
    arrays = [np.ones(2).astype(numpy_dtype(name)) for name in DTYPES]
    answers = jax_answers("types", lambda jax: results_of_jax(jax, op, arrays))
    with bx.config.override(enable_x64=True):
        for x, row in zip(arrays, answers, strict=True):
            for y, wanted in zip(others(op, x, arrays), row, strict=True):
                got = op(bx.Array.from_numpy(x.copy()), y)
                assert [got.dtype.name, got.weak_type] == wanted, (x.dtype, y)


LEFT, RIGHT = [*DTYPES, *NARROW, int, float, complex], [*DTYPES, *NARROW]


def lattice_of_jax(jax):
    """The name of what each two are promoted to; none where they are not."""

    def promoted(a, b):
        left = numpy_dtype(a) if isinstance(a, str) else a
        try:
            return jax.numpy.promote_types(left, numpy_dtype(b)).name
        except ValueError:  # what JAX's error derives from
            return None

    return [[promoted(a, b) for b in RIGHT] for a in LEFT]


def test_promotion_lattice_is_jaxs(jax_answers):
    answers = jax_answers("lattice", lattice_of_jax)
    with bx.config.override(default_dtype_bits=64):
        for a, row in zip(LEFT, answers, strict=True):
            for b, wanted in zip(RIGHT, row, strict=True):
                try:
                    got = lax.promote_types(a, b).name
                except TypeError:
                    got = None
                assert got == wanted, (a, b)
