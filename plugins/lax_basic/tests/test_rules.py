"""The rules of every primitive agree with each other and with finite differences. NumPy alone."""

import itertools

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import is_differentiable, typeof
from bindax_lax_basic.samples.calls import SAMPLES


def ids(samples):
    return [sample.label for sample in samples]


def assert_same(got, wanted, tolerance=1e-5):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    if not is_differentiable(got.dtype):
        np.testing.assert_array_equal(got, wanted)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    tolerance = 2e-2 if got.dtype.itemsize == 2 else tolerance
    np.testing.assert_allclose(
        got.astype(wide), wanted.astype(wide), rtol=tolerance, atol=tolerance
    )


BATCHED = [s for s in SAMPLES if s.operands and "float16" not in s.label]


# The conformance suite has these checks, too, with other samples of all primitives.
@pytest.mark.every(8)
@pytest.mark.parametrize("sample", BATCHED, ids=ids(BATCHED))
def test_vmap_is_a_loop(sample):
    size = 3
    operands = sample.make()
    batches = [np.stack([sample.make(k)[i] for k in range(size)]) for i in range(len(operands))]
    for mapped in itertools.product([False, True], repeat=len(operands)):
        if not any(mapped):
            continue
        rows = [
            sample.call(
                lax,
                *[
                    np.array(b[k]) if m else x
                    for b, x, m in zip(batches, operands, mapped, strict=True)
                ],
            )
            for k in range(size)
        ]
        wanted = np.stack([np.asarray(row) for row in rows])
        for last in (False, True):
            args, axes = [], []
            for b, x, m in zip(batches, operands, mapped, strict=True):
                place = x.ndim if last else 0
                args.append(np.moveaxis(b, 0, place) if m else x)
                axes.append(place if m else None)
            got = bt.vmap(lambda *xs: sample.call(lax, *xs), tuple(axes))(*args)
            assert typeof(got).weak_type == rows[0].weak_type
            assert_same(got, wanted)


STEPS = ["floor", "ceil", "round", "sign", "stop_gradient", "nextafter", "reduce_precision"]
SMOOTH = [
    s for s in SAMPLES if any(o.dtype == "float64" for o in s.operands) and s.name not in STEPS
] + [
    s._replace(operands=tuple(o._replace(dtype="float64") for o in s.operands))
    for s in SAMPLES
    if s.operands and all(o.dtype == "float32" for o in s.operands) and s.name not in STEPS
]
SMOOTH = list({s.label: s for s in SMOOTH}.values())


@pytest.mark.every(4)
@pytest.mark.parametrize("sample", SMOOTH, ids=ids(SMOOTH))
def test_jvp_is_the_limit_of_differences(sample):
    operands, tangents = sample.make(), sample.make(1)
    inexact = [i for i, x in enumerate(operands) if x.dtype == np.float64]

    def f(*xs):
        full = list(operands)
        for i, x in zip(inexact, xs, strict=True):
            full[i] = x
        return sample.call(lax, *full)

    primals = [operands[i] for i in inexact]
    directions = [tangents[i] for i in inexact]
    out, tangent = bt.jvp(f, primals, directions)
    if not is_differentiable(typeof(out).dtype) or not primals:
        return
    if not np.all(np.isfinite(np.asarray(out))):
        return  # the extremum of nothing
    h = 1e-6
    up = np.asarray(f(*[x + h * t for x, t in zip(primals, directions, strict=True)]))
    down = np.asarray(f(*[x - h * t for x, t in zip(primals, directions, strict=True)]))
    if sample.name == "convert_element_type" and up.dtype.itemsize < 8:
        return
    assert_same(np.asarray(tangent), np.asarray((up - down) / (2 * h), tangent.dtype), 1e-5)

    # Reverse mode is the transpose of forward mode.
    ct = np.asarray(np.random.default_rng(0).standard_normal(out.shape)).astype(out.dtype)
    cotangents = bt.vjp(f, *primals)[1](ct)
    forward = np.sum(np.asarray(ct) * np.asarray(tangent))
    backward = sum(np.sum(np.asarray(c) * d) for c, d in zip(cotangents, directions, strict=True))
    np.testing.assert_allclose(np.real(forward), np.real(backward), rtol=1e-8, atol=1e-8)


# The second derivative in their first operand has no formula.
TWICE = [s for s in SMOOTH[::3] if s.name not in ("igamma", "igammac")]


@pytest.mark.parametrize("sample", TWICE, ids=ids(TWICE))
def test_second_derivatives_agree_in_both_modes(sample):
    operands = sample.make()
    inexact = [i for i, x in enumerate(operands) if x.dtype == np.float64]

    def f(x):
        full = list(operands)
        full[inexact[0]] = x
        y = sample.call(lax, *full)
        return (y * y).sum() if y.dtype == np.float64 else None

    x = operands[inexact[0]]
    if f(x) is None:
        return
    direction = np.ones_like(x)
    over_reverse = bt.jvp(bt.grad(f), (x,), (direction,))[1]
    over_forward = bt.grad(lambda x: bt.jvp(f, (x,), (direction,))[1])(x)
    assert_same(over_reverse, over_forward, 1e-8)


@pytest.mark.every(5)
@pytest.mark.parametrize("sample", SAMPLES[::2], ids=ids(SAMPLES[::2]))
def test_staged_is_eager(sample):
    operands = sample.make()
    with bx.config.override(backend="numpy", check_jaxprs=True):
        got = bt.jit(lambda *xs: sample.call(lax, *xs))(*operands)
    eager = sample.call(lax, *operands)
    assert typeof(got) == typeof(eager)
    assert_same(got, eager)


@pytest.mark.every(4)
@pytest.mark.parametrize("sample", SAMPLES, ids=ids(SAMPLES))
def test_operands_are_neither_changed_nor_aliased(sample):
    operands = sample.make()
    before = [x.copy() for x in operands]
    out = np.asarray(sample.call(lax, *operands))
    for x, old in zip(operands, before, strict=True):
        np.testing.assert_array_equal(x, old)
        assert not np.shares_memory(out, x)


def test_derivatives_at_ties_are_shared():
    assert float(bt.grad(lambda x: lax.max(x, 1.0))(1.0)) == 0.5
    assert float(bt.grad(lambda x: lax.min(x, 1.0))(1.0)) == 0.5
    x = np.array([1.0, 3.0, 3.0])
    np.testing.assert_array_equal(bt.grad(lax.reduce_max)(x), [0, 0.5, 0.5])
    np.testing.assert_array_equal(bt.grad(lax.reduce_min)(np.array([2.0, 2.0])), [0.5, 0.5])
    assert float(bt.grad(lax.abs)(0.0)) == 0.0


def test_product_with_zeros_has_exact_derivatives():
    np.testing.assert_array_equal(bt.grad(lax.reduce_prod)(np.array([2.0, 0.0, 5.0])), [0, 10, 0])
    np.testing.assert_array_equal(bt.grad(lax.reduce_prod)(np.array([0.0, 0.0, 5.0])), [0, 0, 0])
    hessian = bt.hessian(lax.reduce_prod)(np.array([0.0, 3.0, 5.0]))
    np.testing.assert_array_equal(hessian, [[0, 5, 3], [5, 0, 0], [3, 0, 0]])


def test_powers_at_zero_have_finite_derivatives():
    assert float(bt.grad(lambda x: lax.integer_pow(x, 2))(0.0)) == 0.0
    assert float(bt.grad(lambda x: lax.integer_pow(x, 0))(0.0)) == 0.0
    assert float(bt.grad(lambda x: lax.pow(x, np.float64(0.0)))(0.0)) == 0.0
    assert float(bt.grad(lambda y: lax.pow(np.float64(0.0), y))(2.0)) == 0.0


def test_discrete_functions_have_zero_derivatives():
    assert float(bt.grad(lambda x: lax.floor(x) * x)(2.5)) == 2.0
    assert float(bt.grad(lambda x: lax.stop_gradient(x) * x)(3.0)) == 3.0
    tangent = bt.jvp(lambda x: x > 0, (1.0,), (1.0,))[1]
    assert typeof(tangent).dtype == bx.float0


@pytest.mark.filterwarnings("error")
def test_numpy_does_not_warn():
    assert np.isneginf(np.asarray(lax.log(0.0)))
    assert np.isnan(np.asarray(lax.sqrt(-1.0)))
    assert np.isinf(np.asarray(lax.exp(1e9)))
    assert np.isinf(np.asarray(lax.div(1.0, 0.0)))
    with pytest.raises(RuntimeWarning):
        np.log(np.zeros(2))  # the user's own NumPy calls still do
