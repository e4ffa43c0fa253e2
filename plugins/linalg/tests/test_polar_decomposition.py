"""The polar decomposition: its properties, and what JAX finds."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax
from bindax_linalg import qdwh

DTYPES = ("float32", "float64", "complex64", "complex128")


def matrix(dtype, shape=(5, 3), condition=1.0, seed=0):
    """A matrix with singular values from 1 down to the inverse of a condition."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    if condition > 1:
        s = np.geomspace(1, 1 / condition, shape[1])
    return ((u * s) @ vh).astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("condition", [1.0, 1e3])
def test_factors_are_unitary_and_positive(dtype, condition):
    x = matrix(dtype, condition=condition)
    u, h, steps, converged = (np.asarray(out) for out in qdwh(x))
    unit = 50 * np.finfo(dtype).eps
    assert converged
    assert 0 < steps <= 10
    np.testing.assert_allclose(adjoint(u) @ u, np.eye(3), atol=unit)
    np.testing.assert_allclose(u @ h, x, atol=unit * np.abs(x).max() * 4)
    np.testing.assert_array_equal(h, adjoint(h))
    assert np.linalg.eigvalsh(h).min() > 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "arguments", [{}, {"max_iterations": 3}, {"dynamic_shape": (4, 2)}, {"eps": 1e-3}]
)
def test_steps_are_those_of_jax(dtype, arguments, jax_answers):
    x = matrix(dtype)
    wanted = jax_answers("qdwh", lambda jax: jax.lax.linalg.qdwh(x, **arguments))
    u, h, steps, converged = qdwh(x, **arguments)
    unit = 20 * np.finfo(dtype).eps
    np.testing.assert_allclose(u, wanted[0], atol=unit)
    np.testing.assert_allclose(h, wanted[1], atol=unit * 10)
    assert (int(steps), bool(converged)) == tuple(int(x.array) for x in wanted[2:])
    assert (u.dtype, h.dtype, steps.dtype) == (x.dtype, x.dtype, np.int32)


def test_zero_is_decomposed():
    u, h, _, converged = qdwh(np.zeros((3, 2)))
    assert converged
    np.testing.assert_array_equal(u, np.zeros((3, 2)))
    np.testing.assert_array_equal(h, np.zeros((2, 2)))


def test_the_derivative_is_that_of_differences():
    x, t = matrix("float64"), matrix("float64", seed=1)
    step = 1e-6
    for which in (0, 1):
        tangent = bt.jvp(lambda x, which=which: qdwh(x)[which], (x,), (t,))[1]
        ends = [np.asarray(qdwh(x + sign * step * t)[which]) for sign in (1, -1)]
        np.testing.assert_allclose(tangent, (ends[0] - ends[1]) / (2 * step), atol=1e-7)
    ct = matrix("float64", seed=2)
    (gradient,) = bt.vjp(lambda x: qdwh(x)[0], x)[1](ct)
    forward = np.asarray(bt.jvp(lambda x: qdwh(x)[0], (x,), (t,))[1])
    np.testing.assert_allclose((np.asarray(gradient) * t).sum(), (forward * ct).sum(), rtol=1e-9)


def test_stacks_by_vmap_and_sizes_that_are_traced():
    stack = np.stack([matrix("float64", condition=c, seed=int(c)) for c in (2.0, 1e4)])
    us, hs, steps, converged = bt.vmap(lambda x: tuple(qdwh(x)))(stack)
    assert np.asarray(converged).all()
    np.testing.assert_allclose(np.asarray(us) @ np.asarray(hs), stack, atol=1e-13)
    sizes = np.array([[4, 2], [5, 3]])
    parts = bt.vmap(lambda x, n: qdwh(x, dynamic_shape=(n[0], n[1]))[0])(stack, sizes)
    np.testing.assert_array_equal(parts[0][4:], 0.0)
    np.testing.assert_allclose(parts[1], us[1], atol=1e-13)
    assert steps.shape == (2,)


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_compiled_like_evaluated(dtype):
    pytest.importorskip("bindax_xla_backend")
    x = matrix(dtype, condition=100.0)
    with bx.config.override(backend="xla"):
        compiled = bt.jit(lambda x: tuple(qdwh(x)))(x)
    u, h, steps, converged = qdwh(x)
    np.testing.assert_allclose(compiled[0], u, atol=200 * np.finfo(dtype).eps)
    np.testing.assert_allclose(compiled[1], h, atol=200 * np.finfo(dtype).eps)
    assert (int(compiled[2]), bool(compiled[3])) == (int(steps), bool(converged))
    assert lax.linalg.qdwh is qdwh
