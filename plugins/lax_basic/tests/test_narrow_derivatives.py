"""Derivatives of every function with floats of few bits beside JAX's: who has them, and which.

One dtype is tried; with BINDAX_DIFFERENTIAL=all each one is.
"""

import os
import warnings

import _differential as differential
import numpy as np
import pytest
from _dtype_cases import CASES, NARROW_FLOATS, operand
from _dtype_differences import (
    DERIVATIVES,
    DERIVATIVES_FAIL_IN_JAX,
    DERIVATIVES_REFUSED_BY_JAX,
    DERIVATIVES_TAKEN_BY_JAX,
    FAILS_IN_JAX,
    OUTSIDE_DOMAIN,
    REFUSED_BY_JAX,
    has,
)

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import tree_leaves

ALL = os.environ.get("BINDAX_DIFFERENTIAL") == "all"
DTYPES = (*NARROW_FLOATS, "bfloat16", "float16")
UNITS = 2.0
NO_BATCHES = {f"vmap {i}": "not asked for" for i in range(3)}
pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.parametrize("dtype", DTYPES if ALL else ("float8_e4m3fn",)),
]


@pytest.fixture(autouse=True)
def double_precision():
    """64-bit defaults, as JAX has them; bindax evaluates."""
    with warnings.catch_warnings(), bx.config.override(default_dtype_bits=64, backend="numpy"):
        warnings.simplefilter("ignore")
        yield


def subjects(dtype):
    """The calls that both libraries take, and what goes into their derivatives."""
    found = []
    for name, case in CASES.items():
        if has(REFUSED_BY_JAX, name, dtype) or has(FAILS_IN_JAX, name, dtype):
            continue
        arrays = [operand(dtype, number) for number in range(case.count + 1)]
        subject = differential.Subject(name, name, arrays[:-1], arrays[1:], case.call)
        try:
            value = subject.call(lax, *subject.operands)
        except (TypeError, ValueError):
            continue
        found.append((subject, differential.inputs_of(subject, value)))
    return found


def by_jax(pairs, dtype):
    refused = [dict(NO_BATCHES) for _ in pairs]
    for (subject, _), parts in zip(pairs, refused, strict=True):
        if has(DERIVATIVES_FAIL_IN_JAX, subject.name, dtype):
            parts |= {"jvp": "fails", "vjp": "fails"}
    moving = [differential.moving_arrays(inputs) for _, inputs in pairs]
    found = differential.program_of_jax(*zip(*pairs, strict=True), refused)(moving)
    return [derivatives(parts) for parts in found]


def derivatives(parts):
    named = differential.by_name(parts)
    return {name: named[name] for name in ("jvp", "vjp")}


def differences(name, part, got, wanted, dtype):
    """What differs in a derivative that both libraries have."""
    ours, theirs = tree_leaves(got), tree_leaves(wanted)
    if has(OUTSIDE_DOMAIN, name, dtype):
        pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(ours, theirs, strict=True)]
        theirs = [np.where(np.isnan(a), a, b) for a, b in pairs]
    return [text for _, text in differential.differences(part, ours, theirs, UNITS, 0.0)]


def listed(table, dtype):
    return {name for name in table if has(table, name, dtype)}


def test_derivatives_like_jax(dtype, jax_answers):
    pairs = subjects(dtype)
    ours = [differential.parts_of(bt, lax, *pair, dict(NO_BATCHES)) for pair in pairs]
    only_ours, only_theirs, different = set(), set(), {}
    answers = jax_answers("derivatives", lambda _: by_jax(pairs, dtype))
    for (subject, _), got, theirs in zip(pairs, ours, answers, strict=True):
        if has(DERIVATIVES_FAIL_IN_JAX, subject.name, dtype):
            continue
        for part, mine in derivatives(got).items():
            label = f"{part} of {subject.name}"
            if (mine is None) != (theirs[part] is None):
                (only_theirs if mine is None else only_ours).add(label)
            elif mine is not None and not has(DERIVATIVES, subject.name, dtype):
                different[label] = differences(subject.name, part, mine, theirs[part], dtype)
    assert not {label: texts for label, texts in different.items() if texts}
    assert only_ours == listed(DERIVATIVES_REFUSED_BY_JAX, dtype)
    assert only_theirs == listed(DERIVATIVES_TAKEN_BY_JAX, dtype)
