"""Functions are pure, and are kept as they are when they are written and read."""

from __future__ import annotations

import pickle

import numpy as np

from bindax_core.errors import UnexpectedTracerError
from bindax_core.extend import describe_function
from bindax_testing._checks._compositions import same_values
from bindax_testing._checks._purity import (
    copies,
    identical,
    require_unchanged,
)
from bindax_testing._compare import Kept, NotApplicable, host
from bindax_testing._functions._call import FunctionCall
from bindax_testing._functions._checks._base import check
from bindax_transforms import checking_leaks, make_jaxpr


@check("purity", rank=0, as_given=True)
def _pure(call: FunctionCall) -> None:
    operands = call.operands
    first = copies(call.call(*operands))
    others = call.draws[1] if len(call.draws) > 1 else operands
    call.call(*others)
    for i, (x, y) in enumerate(zip(first, call.call(*operands), strict=True)):
        if not identical(x, y):
            # What it depends on is another thing after each call, so that nothing smaller counts.
            raise Kept(
                f"is not pure: result {i} is {x.tolist()!r:.60}, and {host(y).tolist()!r:.60} when "
                f"it is called again with the same arguments. It depends on something that "
                f"changes outside of its arguments, or on random numbers without a key."
            )
    _require_operands_kept(call)


def _require_operands_kept(call: FunctionCall) -> None:
    """Raise when the function changes NumPy arrays that it is given."""
    given = [np.array(x) if isinstance(x, np.ndarray) else x for x in call.operands]
    if not any(isinstance(x, np.ndarray) for x in given):
        return
    before = copies(given)
    try:
        call.function.function(*call.function.arguments(given))
    except Exception:  # a function of arrays that have methods which NumPy's have not
        return
    require_unchanged(given, before)


@check("traced values", rank=1, as_given=True)
def _leaks(call: FunctionCall) -> None:
    try:
        with checking_leaks():
            make_jaxpr(call.fresh())(*call.avals)
    except UnexpectedTracerError as error:
        raise Kept(f"keeps a traced value after its call: {error}") from error


@check("pickle", rank=4, as_given=True)
def _pickle(call: FunctionCall) -> None:
    given = call.function.given
    if call.function.is_adapted:
        raise NotApplicable("what holds arrays is pickled by its own package")
    try:
        data = pickle.dumps(given)
    except Exception as error:
        raise NotApplicable(f"it cannot be pickled: {error!s:.100}") from error
    again = pickle.loads(data)
    if again is given:
        raise NotApplicable("it is pickled by its name")
    arguments = call.function.arguments(call.operands)
    what = f"the result of {describe_function(given)} out of a pickle"
    same_values(what, again(*arguments), given(*arguments))
