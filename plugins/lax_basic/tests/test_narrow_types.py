"""Every function with every dtype beside JAX: who takes it, and with which results.

Two dtypes are tried, one of each narrow kind; with BINDAX_DIFFERENTIAL=all all of them are.
"""

import functools
import os
import warnings

import _differential as differential
import pytest
from _dtype_cases import CASES, DTYPES, operand
from _dtype_differences import (
    COMPILED_VALUES,
    FAILS_IN_JAX,
    REFUSED_BY_JAX,
    TAKEN_BY_JAX,
    VALUES,
    has,
)
from _known_differences import ROUNDINGS

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import tree_leaves

ALL = os.environ.get("BINDAX_DIFFERENTIAL") == "all"
UNITS = 2.0
pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.parametrize("dtype", DTYPES if ALL else ("int2", "float8_e5m2")),
]


@pytest.fixture(autouse=True)
def double_precision():
    """64-bit defaults, as JAX has them."""
    with warnings.catch_warnings(), bx.config.override(default_dtype_bits=64):
        warnings.simplefilter("ignore")
        yield


def called(name, module, arrays):
    case = CASES[name]
    return case.call(module, *arrays[: case.count])


@functools.cache
def evaluated(dtype):
    """The results of bindax for each case that takes the dtype, with 64-bit defaults."""
    arrays = [operand(dtype, number) for number in range(3)]
    found = {}
    for name in CASES:
        try:
            with bx.config.override(backend="numpy"):  # also what one would rather compile
                found[name] = tree_leaves(called(name, lax, arrays))
        except (TypeError, ValueError):
            continue
    return found


def taken_by_jax(jax, name, arrays):
    from _jax_reference import reference

    try:
        jax.jit(lambda *xs: called(name, reference, xs)).lower(*arrays)
    except Exception:  # some of its refusals are failed assertions
        return False
    return True


def differences(name, got, wanted):
    """What differs between the results of a case."""
    units = UNITS * ROUNDINGS.get(name, (1.0, ""))[0]
    return [text for _, text in differential.differences(name, got, wanted, units, 0.0)]


def unknown(found, table, dtype):
    """The differences that a table does not have."""
    return {n: texts for n, texts in found.items() if texts and not has(table, n, dtype)}


def test_takes_what_jax_takes(dtype, jax_answers):
    arrays = [operand(dtype, number) for number in range(3)]
    ours = set(evaluated(dtype))
    theirs = set(
        jax_answers("taken", lambda jax: [n for n in CASES if taken_by_jax(jax, n, arrays)])
    )
    assert ours - theirs == {name for name in CASES if has(REFUSED_BY_JAX, name, dtype)}
    assert theirs - ours == {name for name in CASES if has(TAKEN_BY_JAX, name, dtype)}


def results_of_jax(jax, names, arrays):
    from _jax_reference import reference

    program = jax.jit(
        lambda *xs: {name: jax.tree.leaves(called(name, reference, xs)) for name in names},
        compiler_options=differential.COMPILER_OPTIONS,
    )
    return program(*arrays)


def test_results_like_jax(dtype, jax_answers):
    arrays = [operand(dtype, number) for number in range(3)]
    left_out = (REFUSED_BY_JAX, FAILS_IN_JAX)
    ours = {
        name: outs
        for name, outs in evaluated(dtype).items()
        if not any(has(table, name, dtype) for table in left_out)
    }
    theirs = jax_answers("results", lambda jax: results_of_jax(jax, ours, arrays))
    found = {name: differences(name, outs, theirs[name]) for name, outs in ours.items()}
    assert not unknown(found, VALUES, dtype)


@pytest.mark.every(2)
def test_compiled_like_evaluated(dtype):
    pytest.importorskip("bindax_xla_backend")
    arrays = [operand(dtype, number) for number in range(3)]
    wanted = evaluated(dtype)
    with bx.config.override(backend="xla"):
        got = bt.jit(lambda *xs: [called(name, lax, xs) for name in wanted])(*arrays)
    found = {
        name: differences(name, outs, wanted[name]) for name, outs in zip(wanted, got, strict=True)
    }
    assert not unknown(found, COMPILED_VALUES, dtype)
