"""Products by given algorithms, of groups, and with scales: as JAX computes them."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.extend import typeof

RNG = np.random.default_rng(0)
PRESETS = [preset for preset in lax.DotAlgorithmPreset if "F8" not in preset.name]


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


LHS, RHS = drawn(3, 40), drawn(40, 2)


def error_of(precision, dtype="float32", **arguments):
    x, y = LHS.astype(lax.dtype(dtype)), RHS.astype(lax.dtype(dtype))
    out = np.asarray(lax.dot(x, y, precision=precision, **arguments), np.float64)
    return np.abs(out - LHS.astype(np.float64) @ RHS).max()


# -------------------------------------------------------------------------------- algorithms


@pytest.mark.parametrize(
    ("preset", "least", "greatest"),
    [
        ("F64_F64_F64", 0, 2e-6),
        ("F32_F32_F32", 0, 2e-5),
        ("BF16_BF16_F32_X3", 0, 2e-5),
        ("TF32_TF32_F32", 1e-4, 1e-2),
        ("TF32_TF32_F32_X3", 0, 2e-5),
        ("F16_F16_F32", 1e-4, 1e-2),
        ("BF16_BF16_F32", 1e-3, 1e-1),
        ("BF16_BF16_BF16", 1e-3, 1e-1),
    ],
)
def test_operands_are_rounded_as_the_algorithm_says(preset, least, greatest):
    assert least <= error_of(preset) <= greatest
    assert error_of(lax.DotAlgorithmPreset[preset]) == error_of(preset)


def test_bfloat16_products_summed_in_float32_are_those_of_the_rounded_operands():
    rounded = [np.asarray(lax.reduce_precision(x, 8, 7)) for x in (LHS, RHS)]
    got = lax.dot(LHS, RHS, precision="BF16_BF16_F32")
    np.testing.assert_allclose(got, rounded[0].astype(np.float64) @ rounded[1], rtol=1e-5)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_the_result_has_the_dtype_of_the_operands(preset, dtype):
    x = np.ones((2, 3), lax.dtype(dtype))
    assert lax.dot(x, x.T, precision=preset).dtype == x.dtype
    wide = lax.dot(x, x.T, precision=preset, preferred_element_type=np.float64)
    assert wide.dtype == np.float64
    np.testing.assert_array_equal(wide, np.full((2, 2), 3.0))


@pytest.mark.parametrize("preset", lax.DotAlgorithmPreset)
def test_compiled_like_evaluated(preset):
    pytest.importorskip("bindax_xla_backend")
    dtype = lax.dtype("float8_e4m3fn" if "F8" in preset.name else "float32")
    x, y = LHS.astype(dtype), RHS.astype(dtype)

    def product(x, y):
        return lax.dot(x, y, precision=preset, preferred_element_type=np.float32)

    with bx.config.override(backend="xla"):
        compiled = bt.jit(product)(x, y)
    # Where sums are narrow, XLA may keep them wide.
    units = 2.0**-7 if preset.name.endswith("BF16_BF16") else 1e-5
    np.testing.assert_allclose(compiled, product(x, y), rtol=units, atol=units * 10)


def test_an_algorithm_of_a_program():
    algorithm = lax.DotAlgorithm("bfloat16", np.float16, np.float32)
    closed = bt.make_jaxpr(lambda x, y: lax.dot(x, y, precision=algorithm))(LHS, RHS)
    products = [eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name == "dot_general"]
    (found,) = [eqn.params["precision"] for eqn in products]
    types = found.lhs_precision_type.name, found.rhs_precision_type.name
    assert (*types, found.accumulation_type.name) == ("bfloat16", "float16", "float32")


def test_products_by_an_algorithm_are_weakly_typed_where_both_arrays_are():
    strong, weak = (bx.Array.from_numpy(LHS[0], typeof(LHS[0]).update(weak_type=w)) for w in (0, 1))
    for x, y, wanted in ((strong, weak, False), (weak, strong, False), (weak, weak, True)):
        assert typeof(lax.dot(x, y, precision="F32_F32_F32")).weak_type is wanted


def test_derivatives_are_products_by_the_algorithm_with_its_sides_in_place():
    algorithm = lax.DotAlgorithm("bfloat16", np.float32, np.float32)

    def product(x, y):
        return lax.reduce_sum(lax.dot(x, y, precision=algorithm), (0, 1))

    closed = bt.make_jaxpr(bt.grad(product, (0, 1)))(LHS, RHS)
    found = [e.params["precision"] for e in closed.jaxpr.eqns if e.primitive.name == "dot_general"]
    sides = {(p.lhs_precision_type.name, p.rhs_precision_type.name) for p in found}
    assert sides == {("bfloat16", "float32"), ("float32", "bfloat16")}
    to_x, to_y = bt.grad(product, (0, 1))(LHS, RHS)
    np.testing.assert_allclose(to_x, np.tile(RHS.sum(1), (3, 1)), rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(to_y, np.tile(LHS.sum(0)[:, None], (1, 2)), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize(
    ("algorithm", "text"),
    [
        (lax.DotAlgorithm(np.int32, np.float32, np.float32), "takes 'tf32' or one of.*got int32"),
        (lax.DotAlgorithm("tf32", "tf32", "tf32"), "accumulation_type must be a dtype"),
        ("BF16", "DotAlgorithmPreset or its name, but got 'BF16'"),
    ],
)
def test_what_is_no_algorithm_is_refused(algorithm, text):
    with pytest.raises(ValueError, match=text):
        lax.dot(LHS, RHS, precision=algorithm)


def test_no_dtype_is_another_parameter_than_float64():
    # A NumPy dtype of float64 equals None.
    x = bx.Array.from_numpy(np.ones((2, 2), np.int32))
    for wanted, result in ((np.float64, np.float64), (None, np.int32), (np.float64, np.float64)):
        assert lax.dot(x, x, preferred_element_type=wanted).dtype == result


# ------------------------------------------------------------------------------------ groups

BEHIND = (((3,), (2,)), ((1,), (1,)))
CONTRACTED = (((3, 1), (0, 1)), ((0,), (3,)))
RAGGED = {
    "rows": ((7, 4), (3, 4, 5), [2, 3, 1], (((1,), (1,)), ((), ())), (0,), (0,)),
    "rows that are too few": ((7, 4), (2, 4, 5), [9, 9], (((1,), (1,)), ((), ())), (0,), (0,)),
    "batch": ((2, 7, 4), (3, 2, 4, 5), None, (((2,), (2,)), ((0,), (1,))), (1,), (0,)),
    "behind others": ((6, 2, 7, 4), (3, 2, 4, 5), None, BEHIND, (2,), (0,)),
    "one count": ((6, 2, 7, 4), (3, 2, 4, 5), [2, 3, 1], BEHIND, (2,), (0,)),
    "contracted": ((7, 4), (7, 5), [2, 3, 1], (((0,), (0,)), ((), ())), (0,), ()),
    "two contracted": (
        (2, 7, 4, 3),
        (3, 7, 5, 2),
        None,
        (((3, 1), (0, 1)), ((0,), (3,))),
        (1,),
        (),
    ),
    "batch axis": ((2, 7, 4), (2, 4, 5), [1, 1], (((2,), (1,)), ((0,), (0,))), (0,), ()),
}
LEADING = {"batch": (2, 3), "behind others": (2, 6, 3), "two contracted": (2, 3, 4)}


@pytest.mark.parametrize("name", RAGGED)
def test_ragged_products_are_those_of_jax(name):
    jax = pytest.importorskip("jax")
    lhs, rhs, sizes, *numbers = RAGGED[name]
    x, y = drawn(*lhs), drawn(*rhs)
    if sizes is None:
        sizes = RNG.integers(0, 4, LEADING[name])
    sizes = np.asarray(sizes, np.int32)
    got = lax.ragged_dot_general(x, y, sizes, lax.RaggedDotDimensionNumbers(*numbers))
    theirs = jax.lax.RaggedDotDimensionNumbers(*numbers)
    wanted = jax.lax.ragged_dot_general(x, y, sizes, theirs)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def grouped(x, matrices, sizes):
    """What ragged_dot is, one group after the other."""
    ends = np.cumsum(sizes)
    groups = zip(ends - sizes, ends, matrices, strict=True)
    parts = [x[start:end] @ matrix for start, end, matrix in groups]
    rest = np.zeros((len(x) - ends[-1], matrices.shape[-1]))
    return np.concatenate([*parts, rest])


def test_ragged_dot_multiplies_each_group_with_its_matrix():
    x, matrices, sizes = drawn(6, 3), drawn(3, 3, 2), np.array([2, 0, 3])
    wanted = grouped(x, matrices, sizes)
    np.testing.assert_allclose(lax.ragged_dot(x, matrices, sizes), wanted, rtol=1e-5)
    many = bt.vmap(lax.ragged_dot, in_axes=(0, None, 0))
    got = many(np.stack([x, 2 * x]), matrices, np.stack([sizes, sizes[::-1]]))
    np.testing.assert_allclose(got[0], wanted, rtol=1e-5)
    np.testing.assert_allclose(got[1], grouped(2 * x, matrices, sizes[::-1]), rtol=1e-5)
    pull_back = bt.vjp(lambda *xs: lax.ragged_dot(*xs, sizes), x, matrices)[1]
    to_x, to_matrices = pull_back(np.ones((6, 2), np.float32))
    np.testing.assert_allclose(to_x[:2], np.tile(matrices[0].sum(1), (2, 1)), rtol=1e-5)
    np.testing.assert_array_equal(to_x[5], 0.0)
    np.testing.assert_array_equal(to_matrices[1], 0.0)


def test_rows_outside_of_a_group_are_not_read():
    x = np.array([[1.0], [np.nan]])
    np.testing.assert_array_equal(lax.ragged_dot(x, np.ones((1, 1, 1)), np.array([1])), [[1], [0]])


# ------------------------------------------------------------------------------------ scales

SCALED = {
    "both scales": ((2, 8, 4), (2, 4, 5), (2, 8, 2), (2, 2, 5), None),
    "one scale": ((2, 8, 4), (2, 4, 5), (2, 8, 1), None, None),
    "no scale": ((8, 4), (4, 5), None, None, None),
    "other axes": ((4, 8), (4, 5), (2, 8), (1, 5), (((0,), (0,)), ((), ()))),
}


@pytest.mark.parametrize("dtype", [None, "float32"])
@pytest.mark.parametrize("name", SCALED)
def test_scaled_products_are_those_of_jax(name, dtype):
    jax = pytest.importorskip("jax")
    lhs, rhs, *scales, numbers = SCALED[name]
    x, y = drawn(*lhs), drawn(*rhs)
    left, right = (None if shape is None else np.abs(drawn(*shape)) for shape in scales)
    arguments = {"dimension_numbers": numbers, "preferred_element_type": dtype}
    got = lax.scaled_dot(x, y, lhs_scale=left, rhs_scale=right, **arguments)

    def theirs(x, y, left, right):
        return jax.lax.scaled_dot(x, y, lhs_scale=left, rhs_scale=right, **arguments)

    # Without this option XLA leaves out roundings to bfloat16.
    options = {"xla_allow_excess_precision": False}
    wanted = jax.jit(theirs, compiler_options=options)(x, y, left, right)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    units = {"rtol": 1e-5, "atol": 1e-5} if dtype else {"rtol": 2.0**-7, "atol": 2.0**-7}
    np.testing.assert_allclose(got.astype("float32"), np.asarray(wanted, np.float32), **units)


def test_scaled_products_are_differentiable():
    x, y, scale = drawn(2, 4), drawn(4, 3), np.abs(drawn(2, 2)) + 0.5

    def total(scale):
        out = lax.scaled_dot(x, y, lhs_scale=scale, preferred_element_type="float32")
        return lax.reduce_sum(out, (0, 1))

    blocks = (x[:, :, None] * y[None]).sum(2).reshape(2, 2, 2).sum(2)
    np.testing.assert_allclose(bt.grad(total)(scale), blocks, rtol=5e-2, atol=5e-2)
