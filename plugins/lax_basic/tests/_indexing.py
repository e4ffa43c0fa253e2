"""Helpers of the tests of indices: arrays, indices with traced parts, compiled calls."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt


def array(x):
    return bx.Array.from_numpy(np.array(x))


def traced_parts(index):
    """An index as a function of its integer arrays, and those arrays."""
    entries = index if isinstance(index, tuple) else (index,)
    dynamic = [e for e in entries if isinstance(e, np.ndarray) and e.dtype != bool]

    def rebuild(arrays):
        rest = iter(arrays)
        made = [next(rest) if any(e is d for d in dynamic) else e for e in entries]
        return tuple(made)

    return rebuild, dynamic


def compiled(function, *operands):
    pytest.importorskip("bindax_xla_backend")
    with bx.config.override(backend="xla"):
        return np.asarray(bt.jit(function)(*operands))
