"""Samples for the conformance suite: calls of exported programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import ShapedArray
from bindax_export._export import export
from bindax_export._parse import symbolic_shape
from bindax_export._primitive import call_exported_p
from bindax_testing import Sample, array, sample
from bindax_transforms import jit

_NO_DERIVATIVE = {"vmap of others": "the reverse derivative belongs to Exported.call"}


def samples() -> Iterator[Sample]:
    """Calls of programs for all sizes, for fixed ones with two results, and for two platforms."""
    any_size = ShapedArray(symbolic_shape("b, 2"), np.dtype(np.float64))
    odd_size = ShapedArray(symbolic_shape("2*b + 3"), any_size.dtype)
    fixed = ShapedArray((2, 3), np.dtype(np.float32))
    several = ("cpu", "tpu")
    for label, function, aval, shape, platforms in (
        ("any-size", lambda x: lax.sin(x) * 2.0, any_size, (3, 2), None),
        ("least-size", lambda x: lax.cos(x), any_size, (1, 2), None),
        ("odd-size", lambda x: lax.broadcast(x, ((x.shape[0] - 3) // 2,)), odd_size, (7,), None),
        ("fixed", lambda x: (lax.transpose(x, (1, 0)), x + 1), fixed, (2, 3), None),
        ("platforms", lambda x: lax.cos(x), ShapedArray((2,), fixed.dtype), (2,), several),
    ):
        program = export(jit(function), platforms=platforms)(aval)

        def call(x: Any, program: Any = program) -> Any:
            return call_exported_p.bind(x, exported=program)

        operand, label = array(shape, aval.dtype.name), f"call_exported-{label}"
        yield sample(call, operand, label=label, skip=_NO_DERIVATIVE)
