"""The equations of instructions that have no name, and instructions of equations that lost theirs.

Compilers keep most names, not all. A convolution in another layout has none, nor has a copy; and a
transpose that becomes part of a matrix product leaves one operation, with the name of one of both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Jaxpr, Var, subjaxprs
from bindax_inspect.compiled.hlo import Instruction, Module
from bindax_inspect.program.equations import Equation, Program

_NEAR = 8  # the neighbours that are looked at
_HEAVY = {"conv_general_dilated": "convolution", "dot_general": "dot"}
_SILENT = ("parameter", "tuple", "constant")

ByEquation = dict[int, list[Instruction]]


def absorb(program: Program, module: Module) -> None:
    """Complete the equations that the instructions of a program compute."""
    by_equation: ByEquation = {}
    for one in module.instructions():
        for number in one.equations:
            by_equation.setdefault(number, []).append(one)
    _match_heavy(program, module, by_equation)
    for instructions in module.computations.values():
        _adopt(instructions)
    for jaxpr in program.jaxprs:
        numbers = program.numbers[id(jaxpr)]
        users, makers = _neighbours(jaxpr, numbers)
        lost = [number for number in reversed(numbers) if _can_be_lost(program.equations[number])]
        _join(lost, users, by_equation)
        _join(lost[::-1], makers, by_equation)


def _match_heavy(program: Program, module: Module, by_equation: ByEquation) -> None:
    """Pair products and convolutions without names with the equations that lack them, in order."""
    opcodes = {name: {one.opcode for one in found} for name, found in module.computations.items()}
    nameless: dict[tuple[str, int], deque[Instruction]] = {}
    for one in module.instructions():
        if not one.equations and one.opcode not in (*_SILENT, "while", "conditional"):
            found = {
                one.opcode,
                *(opcode for name in one.calls for opcode in opcodes.get(name, ())),
            }
            for opcode in found & {*_HEAVY.values()}:
                nameless.setdefault((opcode, one.elements), deque()).append(one)
    for equation in program.equations:
        opcode = _HEAVY.get(equation.eqn.primitive.name, "")
        if not opcode or equation.number in by_equation or not equation.runs:
            continue
        waiting = nameless.get((opcode, equation.eqn.outvars[0].aval.size))
        if waiting:
            one = waiting.popleft()
            one.equation, one.equations = equation.number, [equation.number]
            by_equation[equation.number] = [one]


def _adopt(instructions: list[Instruction]) -> None:
    """Give instructions without names what the instructions around them compute.

    A copy, say, serves the next instruction that uses it; one that nothing uses, the one before.
    """
    made = {one.name: one for one in instructions}
    operands = {one.name: [name for name in one.operands if name in made] for one in instructions}
    users: dict[str, list[Instruction]] = {}
    for one in instructions:
        for name in operands[one.name]:
            users.setdefault(name, []).append(one)
    for one in reversed(instructions):
        if one.opcode not in ("parameter", "tuple"):
            _take(one, users.get(one.name, ()))
    for one in instructions:
        if one.opcode not in _SILENT:
            _take(one, [made[name] for name in operands[one.name]])


def _take(one: Instruction, near: Iterable[Instruction]) -> None:
    if not one.equations:
        found = next((other for other in near if other.equations), None)
        if found is not None:
            one.equation = found.equations[0]
            one.equations = [one.equation]


def _can_be_lost(equation: Equation) -> bool:
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
    numbers: Iterable[int], neighbours: dict[int, list[int]], by_equation: ByEquation
) -> None:
    """Give equations without instructions to an instruction of a neighbour."""
    for number in numbers:
        if number in by_equation:
            continue
        near = (n for n in neighbours.get(number, ())[:_NEAR] if n in by_equation)
        found = next(near, None)
        if found is not None:
            by_equation[number] = by_equation[found][:1]
            for one in by_equation[number]:
                one.equations.append(number)
