"""Checks of what lowering rules return; the errors name the rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import AbstractValue, JaxprEqn, describe_rule, explain_failure
from bindax_xla_backend._errors import LoweringError, excerpt
from bindax_xla_backend.lowering import mlir

_Value = mlir.Value


def explain_rule(error: Exception, eqn: JaxprEqn, args: Sequence[Any]) -> None:
    """Say on an error of a lowering rule which equation was being lowered."""
    known = len(getattr(error, "__notes__", ()))
    explain_failure(eqn.primitive, "lowering.stablehlo", error, args, eqn.params)
    if not known:
        where = "" if eqn.source_info is None else f", which is applied {eqn.source_info.where}"
        error.add_note(f"This happened while {eqn.primitive.name} was lowered{where}.")


def check_results(eqn: JaxprEqn, results: Any, type_of: Callable[[Any], Any] | None) -> None:
    """Raise unless a lowering rule returned a value for each result, of the types it must have."""
    primitive = eqn.primitive
    fits = type(results) in (list, tuple) and len(results) == len(eqn.outvars)
    if not fits or not all(isinstance(x, _Value) for x in results):
        wanted = f"a sequence of {len(eqn.outvars)} values, one for each result"
        if not primitive.multiple_results:
            wanted, results = "one value", results[0]
        got = f"a {type(results).__name__}"
        if isinstance(results, (list, tuple)):
            got += f" of {len(results)} ({', '.join(type(x).__name__ for x in results[:4])})"
        raise LoweringError(_wrong_rule(eqn, f"should return {wanted}, but returned {got}"))
    for i, (x, var) in enumerate(zip(results, eqn.outvars, strict=True)):
        if type_of is None:
            continue
        fault = mlir.fault_behind(x)
        if fault is not None:
            text = _wrong_rule(eqn, "built an operation that is not valid")
            raise LoweringError(f"{text}\n{excerpt(fault)}")
        if x.type != type_of(var.aval):
            which = f"result {i}" if primitive.multiple_results else "the result"
            problem = f"{which} should have the type {type_of(var.aval)}, but has {x.type}"
            raise LoweringError(_wrong_rule(eqn, problem))


def _wrong_rule(eqn: JaxprEqn, problem: str) -> str:
    where = "" if eqn.source_info is None else f", which is applied {eqn.source_info.where}"
    return (
        f"{describe_rule(eqn.primitive, 'lowering.stablehlo')}: {problem}. It was lowering "
        f"{eqn.primitive.name}{where}. Set config.check_rules to True to have all that rules "
        f"return checked."
    )


def explain_operation(name: str, operands: Any, result_avals: Any, attributes: Any) -> None:
    """Raise an error about what a rule gave for an operation, if it is of the wrong kind."""
    problem = None
    example = f"as in ctx.op({name!r}, [x, y])"
    if not isinstance(operands, (list, tuple)):
        problem = f"the operands are a {type(operands).__name__}, where a list is due, {example}"
    elif not all(isinstance(x, _Value) for x in operands):
        i, x = next((i, x) for i, x in enumerate(operands) if not isinstance(x, _Value))
        problem = (
            f"operand {i} is a {type(x).__name__}, no value of the program; make one of a number "
            f"or array with ctx.constant(...), and of what ctx.op(...) returned take an entry"
        )
    elif isinstance(result_avals, AbstractValue) or not all(
        isinstance(aval, AbstractValue) for aval in result_avals or ()
    ):
        problem = f"result_avals must be a list of types, one for each result, not {result_avals!r}"
    elif not all(isinstance(text, str) for text in attributes.values()):
        problem = (
            f"attributes are MLIR attributes as text, such as {{'dimension': '0 : i64'}}, but got "
            f"{attributes!r}"
        )
    if problem is not None:
        raise LoweringError(f"the operation {name}: {problem}.")
