"""Programs of functions that belong together, made to take and return the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_control_flow.shared.values import converted
from bindax_core.extend import ClosedJaxpr, Origin, Var, eval_jaxpr
from bindax_transforms import trace_to_jaxpr

Programs = tuple[ClosedJaxpr, ...]


def with_results(program: ClosedJaxpr, avals: Sequence[Any]) -> ClosedJaxpr:
    """A program whose results are converted to the given dtypes."""
    if program.out_avals == list(avals):
        return program

    def function(*operands: Any) -> list[Any]:
        return converted(eval_jaxpr(program.jaxpr, program.consts, *operands), avals)

    return trace_to_jaxpr(function, program.in_avals, Origin("cond"))


def join_consts(programs: Sequence[ClosedJaxpr]) -> tuple[Programs, list[Any]]:
    """Turn the constants of all programs into leading arguments that each of them takes.

    A constant that several programs use becomes one argument.
    """
    slots: dict[int, int] = {}
    consts: list[Any] = []
    for program in programs:
        for const in program.consts:
            if id(const) not in slots:
                slots[id(const)] = len(consts)
                consts.append(const)
    if not consts:
        return tuple(programs), []
    avals = {
        slots[id(const)]: v.aval
        for program in programs
        for v, const in zip(program.jaxpr.constvars, program.consts, strict=True)
    }
    joined = []
    for program in programs:
        leading = [Var(avals[i]) for i in range(len(consts))]
        for v, const in zip(program.jaxpr.constvars, program.consts, strict=True):
            leading[slots[id(const)]] = v
        jaxpr = program.jaxpr.replace(constvars=(), invars=[*leading, *program.jaxpr.invars])
        joined.append(ClosedJaxpr(jaxpr))
    return tuple(joined), consts
