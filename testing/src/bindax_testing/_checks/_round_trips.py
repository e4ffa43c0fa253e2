"""Programs come back from their text, and parameters from a pickle, as they were."""

from __future__ import annotations

import pickle

from bindax_core.extend import eval_jaxpr
from bindax_testing._cases import Call, Case
from bindax_testing._checks._base import LAST, check
from bindax_testing._compare import NotApplicable, require_same
from bindax_transforms import make_jaxpr


@check("text", "abstract_eval", rank=LAST)
def _text(call: Call, compiler: str | None) -> None:
    try:
        from bindax_core import jaxpr_from_text, jaxpr_to_text
    except ImportError as error:
        raise NotApplicable("bindax-text is not installed") from error
    program = make_jaxpr(call.fresh())(*call.avals)
    try:
        text = jaxpr_to_text(program)
    except Exception as error:
        raise NotApplicable(f"it has no text: {error!s:.100}") from error
    read = jaxpr_from_text(text)
    got = eval_jaxpr(read.jaxpr, read.consts, *call.operands)
    for i, (one, wanted) in enumerate(zip(got, call.call(*call.operands), strict=True)):
        what = f"result {i} of the program read from its text"
        require_same(what, one, wanted, scale=5.0)


@check("parameters in a pickle", "abstract_eval", rank=LAST)
def _pickled(case: Case, compiler: str | None) -> None:
    if not case.params:
        raise NotApplicable("it has no parameters")
    try:
        data = pickle.dumps(dict(case.params))
    except Exception as error:
        raise NotApplicable(f"its parameters cannot be pickled: {error!s:.100}") from error
    params = pickle.loads(data)
    out = case.primitive.bind(*case.operands, **params)
    outs = list(out) if case.primitive.multiple_results else [out]
    for i, (one, wanted) in enumerate(zip(outs, case.call(*case.operands), strict=True)):
        require_same(f"result {i} for the parameters out of a pickle", one, wanted)
