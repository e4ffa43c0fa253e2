"""Refusals: inputs that have to raise, with the text of the error."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import Primitive, describe_rule
from bindax_testing._domains import REAL
from bindax_testing._limits import run_limited
from bindax_testing._results import FAILED, PASSED, RuleResult
from bindax_testing._samples import Operand, Sample, array, sample
from bindax_transforms import make_jaxpr

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
"""All dtypes of arrays of numbers."""


@attrs.frozen(eq=False)
class Refusal:
    """A call that has to raise; made by ``refusal``.

    Attributes:
        call: the sample of the call.
        match: a regular expression that is found in the text of the error.
        errors: the classes of which the error is one.

    >>> isinstance(refusal(abs, array((2,), "bool"), match="bool"), Refusal)
    True
    """

    call: Sample
    match: str
    errors: tuple[type[Exception], ...] = (TypeError, ValueError)


def refusal(
    function: Any,
    *operands: Operand,
    match: str,
    errors: type[Exception] | tuple[type[Exception], ...] = (TypeError, ValueError),
    label: str = "",
    **params: Any,
) -> Refusal:
    """Say that a call raises, for the hook ``bindax_samples``.

    It is made with values, and staged: both have to raise.

    Args:
        function: a primitive, or a function.
        operands: made by ``array``.
        match: a regular expression that is found in the text of the error.
        errors: the class of the error, or several.
        label: a short name; made from the arguments when it is not given.
        params: the parameters of the primitive, or keyword arguments of the function.

    Raises:
        TypeError: when an operand is a value.

    >>> from bindax_testing import array, refusal
    >>> refusal(abs, array((2,), "bool"), match="bool").call.label
    'abs-bool[2]'
    """
    classes = errors if isinstance(errors, tuple) else (errors,)
    return Refusal(sample(function, *operands, label=label, **params), match, classes)


def refused_dtypes(
    function: Any,
    *domains: Any,
    accepts: Collection[Any],
    match: str = "dtype",
    **params: Any,
) -> Iterator[Refusal]:
    """Say that an elementwise operation takes some dtypes alone: all others have to raise.

    With ``elementwise(function, dtypes=accepts)`` dtypes are tested in both directions.

    Args:
        function: a primitive or function whose operands have one shape and dtype.
        domains: one for each operand; a single real operand when there are none.
        accepts: the dtypes that it takes.
        match: a regular expression that is found in the text of the errors.
        params: its parameters.

    >>> [one.call.label for one in refused_dtypes(abs, accepts=["float32"])][:2]
    ['abs-bool[2]', 'abs-int8[2]']
    """
    taken = {np.dtype(one) for one in accepts}
    for dtype in filter(_is_known, DTYPES):
        if np.dtype(dtype) not in taken:
            operands = [array((2,), dtype, domain) for domain in domains or (REAL,)]
            yield refusal(function, *operands, match=match, **params)


def _is_known(dtype: str) -> bool:
    """Tell whether NumPy knows a dtype: some are those of a package that may not be there."""
    try:
        np.dtype(dtype)
    except TypeError:
        return False
    return True


def refusal_result(one: Refusal, seed: int, time_limit: float) -> RuleResult:
    """The result for a call that has to raise."""
    function = one.call.function
    is_bound = isinstance(function, Primitive)
    name = function.name if is_bound else ""
    result = RuleResult(name, "abstract_eval", f"refusal: {one.call.label}", PASSED, planned=1)
    values = one.call.draw(seed, 0)
    avals = [operand.aval for operand in one.call.operands]
    ways: Mapping[str, Callable[[], Any]] = {
        "with values": partial(one.call.call, *values),
        "when it is staged": partial(make_jaxpr(one.call.call), *avals),
    }
    result.ran = 1
    for how, call in ways.items():
        result.reason = _why_not(one, how, call, time_limit)
        if result.reason:
            result.status, result.sample = FAILED, one.call.label
            result.rule = describe_rule(function, "abstract_eval") if is_bound else ""
            break
    return result


def _why_not(one: Refusal, how: str, call: Callable[[], Any], time_limit: float) -> str:
    """The mistake in the way in which a call is refused; empty where it is right."""
    try:
        run_limited(call, time_limit)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        if not isinstance(error, one.errors):
            names = " or ".join(kind.__name__ for kind in one.errors)
            return f"raises no {names} {how}, but {told}"
        if re.search(one.match, str(error)) is None:
            return f"raises {told} {how}, where nothing matches {one.match!r}."
        return ""
    types = ", ".join(operand.aval.str_short() for operand in one.call.operands)
    return f"takes ({types}) {how}, which it has to refuse with a text that matches {one.match!r}."
