"""The package's samples in the vocabulary of the conformance kit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

import bindax_lax_basic as lax
from bindax_lax_basic import dtypes
from bindax_lax_basic.samples.batches import more_samples
from bindax_lax_basic.samples.calls import SAMPLES
from bindax_lax_basic.samples.calls import Sample as Call
from bindax_lax_basic.samples.contractions import CONTRACTIONS
from bindax_lax_basic.samples.edges import edges
from bindax_lax_basic.samples.equivalent_mutants import equivalent_mutants
from bindax_lax_basic.samples.reductions import REDUCTION_SAMPLES
from bindax_lax_basic.samples.reductions import Call as FunctionCall
from bindax_testing import EquivalentMutant, ExpectedFailure, Sample, array, between, sample


def conformance_samples() -> Iterator[Sample | ExpectedFailure | EquivalentMutant]:
    """Every sample of ``samples.SAMPLES``, what is known to fail, and what changes nothing."""
    yield from equivalent_mutants()
    labels: Counter[str] = Counter()
    for one in (*more_samples(), *_of_calls()):
        labels[one.label] += 1
        count = labels[one.label]
        # The same function, types and parameters, in another range.
        yield one if count == 1 else one.with_label(f"{one.label} ({count})")


def _of_calls() -> Iterator[Sample]:
    calls: list[Call | FunctionCall] = [*SAMPLES, *REDUCTION_SAMPLES, *CONTRACTIONS, *edges()]
    for call in calls:
        operands = [
            array(o.shape, dtypes.canonical_dtype(o.dtype), between(o.low, o.high))
            for o in call.operands
        ]
        yield sample(partial(call.call, lax), *operands, label=call.label, skip=_skipped(call))


_BY_DEFINITION = "its derivative is zero by definition, whatever its values do"
_STEPS = "its derivative rounds the tangent, by definition; the function is made of steps"
_NEUTRAL = "compilers take initial values for neutral, which special values are not"
_PADDING = "XLA does not multiply what it pads with by infinities"
_ANNEX_G = "NumPy and XLA differ in powers of infinite complex numbers"
_SQUARES = "XLA squares the parts of complex numbers, which overflows for large ones"
_UNORDERED = "its derivative compares, which complex numbers refuse, as in JAX"
_SPECIAL = {
    **dict.fromkeys(("reduce", "reduce_window", "select_and_scatter"), _NEUTRAL),
    **dict.fromkeys(("conv", "conv_general_dilated", "conv_transpose"), _PADDING),
}
_SPECIAL_OF_COMPLEX = {"atan2": _SQUARES, "pow": _ANNEX_G}
_DERIVATIVES = (
    "jvp",
    "linearize",
    "reverse",
    "second order",
    "jit with derivatives",
    "vmap of others",
    "derivatives of vmap",
)


def _skipped(call: Call | FunctionCall) -> dict[str, str]:
    is_complex = any(o.dtype.startswith("complex") for o in call.operands)
    if call.name == "stop_gradient":
        return dict.fromkeys(("jvp", "second order"), _BY_DEFINITION)
    if call.name == "reduce_precision":
        return dict.fromkeys(("jvp", "reverse", "second order"), _STEPS)
    if call.name == "clamp" and is_complex:
        return dict.fromkeys(_DERIVATIVES, _UNORDERED)
    reason = _SPECIAL.get(call.name) or (_SPECIAL_OF_COMPLEX.get(call.name) if is_complex else None)
    return {} if reason is None else {"compiled special values": reason}
