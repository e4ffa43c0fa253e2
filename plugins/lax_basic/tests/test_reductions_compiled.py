"""Reductions, windows, scans, sorts and splits give the same compiled as evaluated."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.extend import is_differentiable, tree_leaves, typeof
from bindax_lax_basic.samples.reductions import REDUCTION_SAMPLES

pytest.importorskip("bindax_xla_backend")
pytest.importorskip("jaxlib")
# Ordinary runs compile a part of these samples in test_differential.py.
pytestmark = pytest.mark.nightly

GROUP = 12
GROUPS = [REDUCTION_SAMPLES[i : i + GROUP] for i in range(0, len(REDUCTION_SAMPLES), GROUP)]


def assert_close(got, wanted, label):
    assert typeof(got) == typeof(wanted), label
    a, b = np.asarray(got), np.asarray(wanted)
    if not is_differentiable(a.dtype):
        np.testing.assert_array_equal(a, b, err_msg=label)
        return
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    tolerance = 2e-2 if a.dtype.itemsize == 2 else 1e-5
    np.testing.assert_allclose(a.astype(wide), b.astype(wide), tolerance, tolerance, err_msg=label)


@pytest.mark.parametrize("samples", GROUPS, ids=[group[0].label for group in GROUPS])
def test_compiled_is_evaluated(samples):
    # One program for several samples: compiling is what takes the time.
    operands = [sample.make() for sample in samples]

    def everything(operands):
        pairs = zip(samples, operands, strict=True)
        return [sample.call(lax, *xs) for sample, xs in pairs]

    with bx.config.override(backend="xla"):
        compiled = bt.jit(everything)(operands)
    for sample, got, wanted in zip(samples, compiled, everything(operands), strict=True):
        for a, b in zip(tree_leaves(got), tree_leaves(wanted), strict=True):
            assert_close(a, b, sample.label)
