"""The package's samples in the vocabulary of the conformance kit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bindax_lax_basic as lax
from bindax_core.testing import ExpectedFailure, Sample, array, between, sample
from bindax_lax_basic import dtypes
from bindax_lax_basic.samples import SAMPLES
from bindax_lax_basic.samples import Sample as Call


def _function(call: Call) -> Any:
    def function(*operands: Any) -> Any:
        return call.call(lax, *operands)

    return function


def conformance_samples() -> Iterator[Sample | ExpectedFailure]:
    """Every sample of ``samples.SAMPLES``, and what is known to fail."""
    for call in SAMPLES:
        operands = [
            array(o.shape, dtypes.canonical_dtype(o.dtype), between(o.low, o.high))
            for o in call.operands
        ]
        yield sample(_function(call), *operands, label=call.label, skip=_skipped(call))


_BY_DEFINITION = "its derivative is zero by definition, whatever its values do"
_ANNEX_G = "NumPy and XLA differ in complex infinities and NaN"


def _skipped(call: Call) -> dict[str, str]:
    if call.name == "stop_gradient":
        return dict.fromkeys(("jvp", "second order"), _BY_DEFINITION)
    if any(o.dtype.startswith("complex") for o in call.operands):
        return {"compiled special values": _ANNEX_G}
    return {}
