"""Equations that a compiler made part of others.

A transpose that becomes part of a matrix product leaves one operation, with the name of one of the
two. An equation without an operation belongs to the one that uses its result, or made its operand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Jaxpr, Var, subjaxprs
from bindax_inspect.compiled.hlo import Instruction, Module
from bindax_inspect.program.equations import Program

_NEAR = 8  # the neighbours that are looked at


def absorb(program: Program, module: Module) -> None:
    """Add to instructions the equations that they compute without having their names."""
    by_equation: dict[int, list[Instruction]] = {}
    for one in module.instructions():
        for number in one.equations:
            by_equation.setdefault(number, []).append(one)
    for jaxpr in program.jaxprs:
        numbers = program.numbers[id(jaxpr)]
        users, makers = _neighbours(jaxpr, numbers)
        backwards = [number for number in reversed(numbers) if _is_absorbed(program, number)]
        _join(backwards, users, by_equation)
        _join(backwards[::-1], makers, by_equation)


def _is_absorbed(program: Program, number: int) -> bool:
    equation = program.equations[number]
    return bool(equation.runs) and not subjaxprs(equation.eqn.params)


def _neighbours(
    jaxpr: Jaxpr, numbers: list[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """For each equation those that use its results, and those that make its operands."""
    maker: dict[Any, int] = {}
    users: dict[int, list[int]] = {}
    makers: dict[int, list[int]] = {}
    for number, eqn in zip(numbers, jaxpr.eqns, strict=True):
        for x in eqn.invars:
            if type(x) is Var and x in maker:
                users.setdefault(maker[x], []).append(number)
                makers.setdefault(number, []).append(maker[x])
        maker.update(dict.fromkeys(eqn.outvars, number))
    return users, makers


def _join(
    numbers: Iterable[int],
    neighbours: dict[int, list[int]],
    by_equation: dict[int, list[Instruction]],
) -> None:
    for number in numbers:
        if number in by_equation:
            continue
        near = next((n for n in neighbours.get(number, ())[:_NEAR] if n in by_equation), None)
        if near is not None:
            by_equation[number] = by_equation[near][:1]
            for one in by_equation[number]:
                one.equations.append(number)
