"""Every function with operands and arguments that are not those of its samples.

JAX accepts or refuses each of them; bindax does the same, but for what is listed here, and says
what it refuses. A part of the calls is made; BINDAX_DIFFERENTIAL=all makes all of them.
"""

import os
import re
import warnings

import pytest

pytest.importorskip("jax")

import jax
from _bad_inputs import Answer, all_cases, answer_of_bindax, answer_of_jax, refused_when_lowered

from bindax_core.extend import ShapedArray

EVERY = 1 if os.environ.get("BINDAX_DIFFERENTIAL") == "all" else 8

NEGATIVE = "negative axes count from the end"
SQUARE = "JAX adds the adjoint before it looks at the shape, and repeats axes of size 1"
DEFAULT = "the default dtype of floats is that of the configuration, float64 here in JAX alone"
KEYS = "several keys make bits for each"
SUMS = "there is no sum of booleans"
BEYOND = "JAX lets LAPACK read beyond the reflectors"
LOCAL = "JAX ignores that the kernel has more axes than the input"
NO_DILATION = "no entries are no dilation in JAX"
BOOLEANS = "booleans are no indices"
PLANES = "indices are vectors"
STEPS = "steps are counted in int32"
PROMOTED = "JAX computes it with functions that promote"
NEWLY_REFUSED = "JAX 0.12 refuses narrow floats; before, it computed as bindax does"
NOTHING = "an array of nothing has no windows"

KNOWN = {
    **dict.fromkeys(
        ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "rev"),
        ((r"(axes|dimensions)=.*-\d", NEGATIVE),),
    ),
    **dict.fromkeys(("argmax", "argmin", "cumsum"), ((r"axis=-\d", NEGATIVE),)),
    **dict.fromkeys(("concatenate", "broadcasted_iota"), ((r"dimension=-\d", NEGATIVE),)),
    "dot_general": ((r"dimension_numbers=.*-\d", NEGATIVE),),
    **dict.fromkeys(("cholesky", "eigh"), ((r"3,3,1\]|,1,3\]|,3,1\]", SQUARE), ("bool", DEFAULT))),
    "rng_bit_generator": ((r"uint32\[\d,4\]", KEYS),),
    "conv_general_dilated_local": ((r"float32\[4,9,5,1\]", LOCAL),),
    "conv_with_general_padding": ((r"_dilation=\(\)", NO_DILATION),),
    "index_take": ((r"int32\[4,1\]", PLANES), ("bool", BOOLEANS)),
    "ormqr": ((r"operand 0: float32\[3,[01]\]|operand 1", BEYOND),),
    "qdwh": ((r"(float64|complex64)\[3,3\]|float32\[(4,3|3,0|3,1)\]", STEPS),),
    "random_gamma_grad": ((r"bfloat16\[3\]|float64\[3,1\]", PROMOTED),),
    "symmetric_product": ((r"all (bfloat16|float16)", NEWLY_REFUSED),),
    "scatter_apply": ((r"int32\[0\]", NOTHING),),
    **dict.fromkeys(("select_and_scatter_add", "select_and_gather_add"), (("all bool", SUMS),)),
}
"""For each function where it differs, patterns of what was changed, and the reason."""


ERRORS = ("TypeError", "ValueError", "AxisError", "AbstractionError", "ShapeError")


@pytest.fixture(scope="module")
def cases():
    return all_cases()[::EVERY]


def reason(case):
    """Why bindax and JAX differ in a case, if that is known."""
    return next((why for what, why in KNOWN.get(case.name, ()) if re.search(what, case.what)), "")


@pytest.mark.timeout(600)
def test_accepted_or_refused_as_by_jax(cases):
    unknown = []
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases:
            ours, theirs = answer_of_bindax(case), answer_of_jax(case)
            if not ours.accepted and theirs.accepted and refused_when_lowered(case):
                theirs = Answer((), "refused when lowered")
            if (ours.accepted, ours.types) != (theirs.accepted, theirs.types) and not reason(case):
                unknown.append(f"{case.name}, {case.what}: {ours} for {theirs}")
    assert not unknown, "\n".join(unknown)


def shows(message, case):
    """Whether a message has the changed operand, or the argument and what is wrong with it."""
    if isinstance(case.changed, ShapedArray):
        aval = case.changed
        sizes = "[" + aval.str_short().partition("[")[2]
        ranks = f"{aval.ndim} axes", f"below {aval.ndim}", "scalar"
        counts = [f"got {size}" for size in aval.shape]
        parts = sizes, aval.dtype.name, f"{aval.shape}", *ranks, *counts
        return any(part in message for part in parts)
    name, _, value = case.what.partition("=")
    entries = re.findall(r"-?\d+|unheard-of|'x'", value)
    types = [aval.str_short() for aval in case.operands]
    return any(one in message for one in (name, value, *entries, *types))


def test_errors_show_what_is_wrong(cases):
    silent = []
    for case in cases:
        kind, _, message = answer_of_bindax(case).error.partition(": ")
        if kind and (kind not in ERRORS or not shows(message, case)):
            silent.append(f"{case.name}, {case.what}: {kind}: {message}")
    assert not silent, "\n".join(silent)


def test_what_is_known_is_of_a_function():
    assert set(KNOWN) <= {case.name for case in all_cases()}
