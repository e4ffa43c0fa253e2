"""Reductions, windows, scans, sorts and splits beside JAX's, evaluated and compiled."""

import contextlib
import warnings

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.extend import (
    is_differentiable,
    tree_leaves,
    tree_structure,
    tree_unflatten,
    typeof,
)
from bindax_lax_basic.samples.reductions import REDUCTION_SAMPLES

jax = pytest.importorskip("jax")

from jax._src.lax import windowed_reductions  # noqa: E402 -- what jax.lax has no name for

# Ordinary runs compare all of these samples with stored answers in test_differential.py.
pytestmark = pytest.mark.nightly
TOLERANCE = {2: 3e-2, 4: 2e-5, 8: 1e-11, 16: 1e-11}


def gather_add(t, x, which, window, strides, padding, base=None, dilation=None):
    return windowed_reductions._select_and_gather_add(
        t, x, which, window, strides, pads(x, window, strides, padding, base, dilation),
        base or (1,) * x.ndim, dilation or (1,) * x.ndim,
    )  # fmt: skip


def pads(x, window, strides, padding, base=None, dilation=None):
    from bindax_lax_basic.window.geometry import geometry

    return geometry("test", x.shape, window, strides, padding, base, dilation).padding


def scatter_add(source, x, which, window, strides, padding):
    return windowed_reductions._select_and_scatter_add(
        source, x, which, window, strides, pads(x, window, strides, padding)
    )


def scatter(x, select, window, strides, padding, source, init, combine):
    return windowed_reductions._select_and_scatter(
        x, select, window, strides, pads(x, window, strides, padding), source, init, combine
    )


class Reference:
    select_and_gather_add = staticmethod(gather_add)
    select_and_scatter_add = staticmethod(scatter_add)
    select_and_scatter = staticmethod(scatter)

    def __getattr__(self, name):
        return getattr(jax.lax, name)


reference = Reference()


@contextlib.contextmanager
def jax_for(sample):
    """JAX with 64-bit dtypes for samples that have them: with it, some of its rules assert."""
    wide = "64[" in sample.label or "uint64" in sample.label or "128[" in sample.label
    with jax.enable_x64(wide), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def compare(got, wanted):
    got_leaves, wanted_leaves = tree_leaves(got), jax.tree.leaves(wanted)
    assert len(got_leaves) == len(wanted_leaves)
    for a, b in zip(got_leaves, wanted_leaves, strict=True):
        compare_arrays(a, b)


def compare_arrays(got, wanted):
    aval, reference_aval = typeof(got), jax.typeof(wanted)
    assert (aval.shape, aval.dtype) == (reference_aval.shape, reference_aval.dtype)
    if aval.dtype == bx.float0:
        return
    assert aval.weak_type == reference_aval.weak_type
    a, b = np.asarray(got), np.asarray(wanted)
    if not is_differentiable(a.dtype):
        np.testing.assert_array_equal(a, b)
        return
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    tolerance = TOLERANCE[a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)]
    np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=tolerance, atol=tolerance)


def inexact_positions(sample):
    return [i for i, x in enumerate(sample.make()) if is_differentiable(x.dtype)]


def jax_evaluates(sample):
    # It refuses to cut elements off in the first, and the other is a known difference.
    return sample.name != "scatter_apply" and not (
        sample.name.startswith("select_and_scatter") and sample.note == "3"
    )


SAMPLES = [s for s in REDUCTION_SAMPLES if jax_evaluates(s)]
"""What both can evaluate."""


@pytest.mark.parametrize("sample", SAMPLES, ids=[s.label for s in SAMPLES])
def test_value_dtype_and_weak_type(sample):
    operands = sample.make()
    with jax_for(sample):
        compare(sample.call(lax, *operands), sample.call(reference, *operands))


def jax_differentiates(sample):
    # It has no derivative of these; ours are tested by differences.
    of_initial = sample.name == "reduce" and len(sample.operands) == 2
    missing = sample.name == "select_and_scatter" or of_initial
    return not missing and "pairs" not in sample.note


def jax_transposes(sample):
    # It transposes no windows with dilation or cut edges, and no general reductions of windows.
    chosen = sample.name == "select_and_gather_add" or sample.note[:3] in ("max", "min")
    unusual = sample.name.startswith(("reduce_window", "select")) and sample.note[-1:] in "3456"
    return not (chosen and unusual) and "joined" not in sample.note


def is_representative(sample):
    # JAX compiles each operation anew for each shape and dtype, which takes most of the time.
    windows = sample.name.startswith(("reduce_window", "select"))
    repeated = windows and sample.note[-1:] in "1345"
    return sample.operands[0].dtype in ("float32", "complex64") and not repeated


DIFFERENTIABLE = [
    s for s in SAMPLES if inexact_positions(s) and jax_differentiates(s) and is_representative(s)
]


@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=[s.label for s in DIFFERENTIABLE])
def test_jvp_and_vjp(sample):
    with jax_for(sample):
        check_derivatives(sample)


def check_derivatives(sample):
    operands, tangents = sample.make(), sample.make(1)
    positions = inexact_positions(sample)

    def function(module):
        def call(*xs):
            full = list(operands)
            for i, x in zip(positions, xs, strict=True):
                full[i] = x
            return sample.call(module, *full)

        return call

    primals = [operands[i] for i in positions]
    directions = [tangents[i] for i in positions]
    got, got_tangent = bt.jvp(function(lax), primals, directions)
    wanted, wanted_tangent = jax.jvp(function(reference), primals, directions)
    compare(got, wanted)
    compare(got_tangent, wanted_tangent)
    if not jax_transposes(sample):
        return
    rng = np.random.default_rng(0)

    def cotangent(x):
        if not is_differentiable(x.dtype):
            return np.zeros(x.shape, bx.float0)
        return np.asarray(rng.standard_normal(x.shape)).astype(x.dtype)

    cotangents = [cotangent(x) for x in tree_leaves(got)]
    got_back = bt.vjp(function(lax), *primals)[1](tree_unflatten(tree_structure(got), cotangents))
    tree = jax.tree.structure(wanted)
    wanted_back = jax.vjp(function(reference), *primals)[1](tree.unflatten(cotangents))
    compare(got_back, wanted_back)
