"""Abstract evaluation, ``impl`` and staging agree; parameters can be remembered."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core import typecheck_jaxpr
from bindax_core.errors import AbstractionError
from bindax_core.extend import Primitive, abstract_eval, impl, typeof
from bindax_testing._cases import Call, Case
from bindax_testing._checks._base import check
from bindax_testing._compare import Mismatch, NotApplicable, host, type_of_result
from bindax_transforms import make_jaxpr


def host_operands(case: Case) -> list[Any]:
    """The operands as ``impl`` receives them, as copies."""
    if case.primitive.takes_values:
        return [x.copy() if type(x) is np.ndarray else x for x in case.operands]
    return [host(x).astype(aval.dtype) for x, aval in zip(case.operands, case.avals, strict=True)]


def run_impl(case: Case, operands: list[Any]) -> list[Any]:
    """Return the result of the ``impl`` rule, as it is."""
    function = impl.functions.get(case.primitive)
    if function is None:
        raise NotApplicable("there is no impl rule; it runs compiled")
    try:
        with np.errstate(all="ignore"):  # as evaluation does
            out = function(*operands, **case.params)
    except Exception as error:
        raise Mismatch(f"raised {type(error).__name__}: {error}", "impl") from error
    if case.primitive.takes_values or case.primitive.multiple_results:
        if not isinstance(out, list | tuple):
            raise Mismatch(f"should return a list of results, but returned {out!r:.80}.", "impl")
        return list(out)
    return [out]


def no_impl(primitive: Primitive, compiler: str | None) -> str | None:
    """The reason why checks of ``impl`` say nothing about a primitive without it."""
    return None if primitive in impl.functions else "there is no impl rule"


@check("types", "abstract_eval", rank=0, why_not=no_impl)
def _types(case: Case, compiler: str | None) -> None:
    rule = abstract_eval.get(case.primitive)
    avals = list(rule(*case.avals, **case.params))
    if avals != list(rule(*case.avals, **case.params)):
        raise Mismatch("gives another type when it is asked again.")
    results = run_impl(case, host_operands(case))
    if len(results) != len(avals):
        raise Mismatch(f"gives {len(avals)} types, but impl gives {len(results)} results.")
    given = {(aval.shape, aval.dtype) for aval in case.avals}
    for i, (aval, result) in enumerate(zip(avals, results, strict=True)):
        try:
            found = type_of_result(result)
        except AbstractionError as error:
            raise Mismatch(f"computes what is no array, as result {i}: {error}", "impl") from error
        if (found.shape, found.dtype) != (aval.shape, aval.dtype):
            # Of the two, the one whose dtype or shape is that of an operand is likely right.
            kind = "abstract_eval"
            if found.dtype != aval.dtype and any(aval.dtype == dtype for _, dtype in given):
                kind = "impl" if all(found.dtype != dtype for _, dtype in given) else kind
            elif found.dtype == aval.dtype and (aval.shape, aval.dtype) in given:
                kind = "impl" if (found.shape, found.dtype) not in given else kind
            raise Mismatch(
                f"abstract_eval says that result {i} is {aval.str_short()}, but impl computes "
                f"{found.str_short()}.",
                kind,
            )


@check("staging", "abstract_eval", rank=1)
def _staged(case: Call, compiler: str | None) -> None:
    closed = make_jaxpr(case.call)(*case.avals)
    typecheck_jaxpr(closed.jaxpr)
    eager = [typeof(x) for x in case.call(*case.operands)]
    if closed.out_avals != eager:
        raise Mismatch(f"results are {eager} eagerly, but {closed.out_avals} staged.")


@check("weak types", "abstract_eval", rank=1)
def _weak_types(case: Case, compiler: str | None) -> None:
    if any(aval.weak_type for aval in case.avals):
        raise NotApplicable("a weak type comes from a weakly typed operand")
    for i, aval in enumerate(abstract_eval.get(case.primitive)(*case.avals, **case.params)):
        if aval.weak_type:
            raise Mismatch(
                f"result {i} has a weak type, though no operand has one; what is computed with it "
                f"would take the dtype of whatever it meets."
            )


@check("parameters", "abstract_eval", rank=1)
def _params(case: Case, compiler: str | None) -> None:
    for name, param in case.params.items():
        try:
            found = param in {param: None}
        except Exception as error:
            raise Mismatch(
                f"the parameter {name}={param!r:.80} cannot be hashed and compared ({error}); "
                f"programs that hold it cannot be cached. Use a tuple or a frozen class."
            ) from error
        if not found:
            raise Mismatch(f"the parameter {name}={param!r:.80} does not equal itself.")
