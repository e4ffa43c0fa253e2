"""The package's samples in the vocabulary of the conformance suite, and some of batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_lax_basic import dtypes
from bindax_lax_basic.samples.calls import SAMPLES
from bindax_lax_basic.samples.calls import Sample as Call
from bindax_lax_basic.samples.contractions import CONTRACTIONS
from bindax_lax_basic.samples.edges import edges
from bindax_lax_basic.samples.equivalent_mutants import equivalent_mutants
from bindax_lax_basic.samples.known_values import CORNERS, KNOWN
from bindax_lax_basic.samples.reductions import REDUCTION_SAMPLES
from bindax_lax_basic.samples.reductions import Call as FunctionCall
from bindax_testing import EquivalentMutant, ExpectedFailure, Sample, array, between, known, sample
from bindax_transforms import vmap


def conformance_samples() -> Iterator[Sample | ExpectedFailure | EquivalentMutant]:
    """Every sample of ``samples.SAMPLES``, what is known to fail, and what changes nothing."""
    yield from equivalent_mutants()
    labels: Counter[str] = Counter()
    for one in (*_more_samples(), *_of_calls(), *_to_divide(), *_known_values()):
        labels[one.label] += 1
        count = labels[one.label]
        # The same function, types and parameters, in another range.
        yield one if count == 1 else one.with_label(f"{one.label} ({count})")


def _known_values() -> Iterator[Sample]:
    for function in (lax.erf_p, lax.erfc_p, lax.erf_inv_p):
        x, values = np.array(KNOWN[function.name]).T
        yield known(function, [x], values, ulps=8)
    skip = dict.fromkeys((*_DERIVATIVES, "special points"), _AT_EDGES)
    for name, operands, value in CORNERS:
        function, label = getattr(lax, f"{name}_p"), f"{name}-corner"
        yield known(function, operands, np.asarray(value), label=label, skip=skip)


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    return lax.add(x[0], y[0]), lax.mul(x[1], y[1])


def _reduced(x: Any, y: Any) -> Any:
    """Initial values that the results depend on."""
    return lax.reduce((x, y), (np.float64(0.5), np.float64(0.25)), _both, (1,))


def _reduced_windows(x: Any, y: Any) -> Any:
    inits = np.float64(0.5), np.float64(0.25)
    return lax.reduce_window((x, y), inits, _both, (1, 2), (1, 1), "VALID")


def _all_bits(x: Any) -> Any:
    """Nothing is rounded, so that the derivative is that of the identity."""
    return lax.reduce_precision(x, 11, 52)


def _applied(x: Any, indices: Any) -> Any:
    """A function that is not holomorphic, applied to elements."""
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))

    def function(v: Any) -> Any:
        return lax.sin(v) * (lax.conj(v) if v.dtype.kind == "c" else v)

    return lax.scatter_apply(x, indices, function, numbers, update_shape=(2,))


def _distinct(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    return rng.permutation(3)[: shape[0], None].astype(dtype)


def _bits_of_keys(keys: Any) -> Any:
    return vmap(lambda key: lax.rng_bit_generator(key, (3,)))(keys)


def _bits_of_last_counters(keys: Any) -> Any:
    return vmap(lambda key: lax.rng_bit_generator(key, (9,)))(keys)


def _sorted_together(x: Any, y: Any) -> Any:
    return lax.sort((x, y), num_keys=2)


def _sorted_stably(x: Any, y: Any) -> Any:
    return lax.sort((x, y), num_keys=1)


def _zeros_and_ones(rng: np.random.Generator, shape: Any, dtype: Any) -> Any:
    return rng.choice([-0.0, 0.0, 1.0], shape).astype(dtype)


def _stacked_alone(x: Any) -> Any:
    return lax.stack([x])


def _only_number(low: Any) -> Any:
    """The one integer that is between two bounds, so that each drawing gives the same."""
    return lax.rng_uniform(low, lax.add(low, np.int32(1)), (2, 3))


def _more_samples() -> Iterator[Sample]:
    """Initial values that count, an identity, a square."""
    matrix = array((2, 3), "float64")
    yield sample(_reduced, matrix, matrix, skip=_NEUTRAL)
    yield sample(_reduced_windows, matrix, matrix, skip=_NEUTRAL)
    square = array((2, 2), "float64")
    places = array((2, 1), "int32", _distinct)
    for dtype in ("float64", "complex128"):
        yield sample(_applied, array((3,), dtype), places)
    # One number alone: a batch mixes the bounds of several samples.
    yield sample(_only_number, array((), "int32", between(3, 3)))
    yield sample(_all_bits, square)
    yield sample(_bits_of_keys, array((2, 4), "uint32", between(0, 9)))
    # The blocks of such keys are counted beyond 64 bits.
    last = array((2, 4), "uint32", between(2**32 - 1, 2**32 - 1))
    yield sample(_bits_of_last_counters, last)
    # Integers that no float32 or int32 tells apart.
    wide = array((2, 5), "int64", between(2**53, 2**53 + 3))
    yield sample(_sorted_together, wide, wide)
    yield sample(lax.neg, square)
    # Zeros of either sign are equal, which shows in what is sorted along with them.
    zeros = array((9,), "float32", _zeros_and_ones)
    ties = dict.fromkeys(("jvp", "second order"), "equal elements change places")
    yield sample(_sorted_stably, zeros, array((9,), "int32"), skip=ties)
    yield sample(_stacked_alone, square)
    # Of numbers far apart, the exponential of a difference is infinite in one direction.
    yield sample(lax.cumlogsumexp, array((6,), "float32", between(-300.0, 300.0)))
    for narrow, most, bits in (("float8_e5m2", 2.0, 4), ("float8_e8m0fnu", 2.0**30, 8)):
        x = array((5,), narrow, between(0.25 * most, most))
        parts = {"exponent_bits": bits, "mantissa_bits": 1}
        label = f"reduce_precision-{narrow}"
        call = partial(lax.reduce_precision_p.bind, **parts)
        yield sample(call, x, label=label, skip={"jvp": _STEPS})


def _to_divide() -> Iterator[Sample]:
    """Axes of even sizes that are not cut or cut in parts, so that devices can share them."""
    table, number = array((4, 2)), array(())
    place = [array((), "int32", between(0, 2))] * 2
    yield sample(lax.dynamic_slice_p, table, *place, slice_sizes=(2, 2))
    yield sample(lax.dynamic_update_slice_p, table, table, *place)
    yield sample(lax.pad_p, table, number, padding_config=((1, 1, 0), (0, 0, 0)))
    yield sample(lax.tile_p, table, reps=(1, 3))
    yield sample(
        _scattered,
        array((2, 2)),
        table,
        skip={**_NEUTRAL, "divided cotangents": _WHOLE},
    )


def _scattered(source: Any, x: Any) -> Any:
    def joined(a: Any, b: Any) -> Any:
        return lax.add(lax.add(a, b), lax.mul(a, b))

    window = (2, 1), (2, 1), "VALID"
    return lax.select_and_scatter(x, lax.ge, *window, source, np.float32(0), joined)


def _of_calls() -> Iterator[Sample]:
    calls: list[Call | FunctionCall] = [*SAMPLES, *REDUCTION_SAMPLES, *CONTRACTIONS, *edges()]
    for call in calls:
        operands = [
            array(o.shape, dtypes.canonical_dtype(o.dtype), between(o.low, o.high))
            for o in call.operands
        ]
        yield sample(partial(call.call, lax), *operands, label=call.label, skip=_skipped(call))


_BY_DEFINITION = "its derivative is zero by definition, whatever its values do"
_AT_EDGES = "the points are at edges of the domain, or beside them"
_STEPS = "its derivative rounds the tangent, by definition; the function is made of steps"
_NEUTRAL = {
    "compiled special values": "compilers take initial values for neutral, as no special value is",
    "generated programs": "compilers take initial values for neutral, as earlier results are not",
}
_PADDING = "XLA does not multiply what it pads with by infinities"
_ANNEX_G = "NumPy and XLA differ in powers of infinite complex numbers"
_SQUARES = "XLA squares the parts of complex numbers, which overflows for large ones"
_WHOLE = "its derivative is made of operations that need axes whole, which say so"
_UNORDERED = "its derivative compares, which complex numbers refuse, as in JAX"
_SPECIAL = {
    **dict.fromkeys(("conv", "conv_general_dilated", "conv_transpose"), _PADDING),
}
_SPECIAL_OF_COMPLEX = {"atan2": _SQUARES, "pow": _ANNEX_G}
_DIVIDED = (
    "reduce_prod",
    "reduce_window",
    "reduce_window_max",
    "reduce_window_min",
    "scatter_mul",
    "select_and_scatter",
)
_DERIVATIVES = (
    "jvp",
    "linearize",
    "reverse",
    "second order",
    "jit with derivatives",
    "vmap of others",
    "derivatives of vmap",
    "divided cotangents",
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
    found = {} if reason is None else {"compiled special values": reason}
    if call.name in ("reduce", "reduce_window", "select_and_scatter"):
        found = _NEUTRAL
    return found | ({"divided cotangents": _WHOLE} if call.name in _DIVIDED else {})
