"""The work of each device, equation by equation."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from bindax_core.sharding import AbstractMesh
from bindax_inspect.compiled.hlo import Instruction, Module
from bindax_inspect.divided.by_rules import COLLECTIVES
from bindax_inspect.divided.exchanges import KINDS, element_types
from bindax_inspect.divided.varying import Varying
from bindax_inspect.program.equations import Equation, Program

_CONTRACTED = re.compile(r"lhs_contracting_dims=\{([\d,]*)\}")
_SHAPE = re.compile(r"^\w+\[([\d,]*)\]")
_MOVING = frozenset(
    (
        *("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "copy", "convert"),
        *("broadcast", "transpose", "reshape", "slice", "dynamic-slice", "pad", "concatenate"),
        *("fusion", "call", "while", "conditional", "iota", "partition-id", "gather", "select"),
        *("dynamic-update-slice", "custom-call", "bitcast-convert", "copy-start", "copy-done"),
        *KINDS,
    )
)
"""Instructions that compute no elements of their own."""


_APPLYING = frozenset(
    (
        *("reduce", "reduce-window", "map", "sort", "scatter", "select-and-scatter"),
        *("all-reduce", "all-reduce-start", "reduce-scatter"),
    )
)
"""Instructions whose computations are functions of numbers."""


@dataclass(frozen=True)
class Work:
    """The arithmetic operations of an equation in one call of a divided program.

    Attributes:
        equation: the equation.
        whole: the operations of the undivided program.
        each: the operations of one device.
        known: False where the compiled program does not tell, and an equal part is taken.
    """

    equation: Equation
    whole: float
    each: float
    known: bool

    @property
    def dtype(self) -> Any:
        """The dtype of the first operand, or None."""
        operands = self.equation.eqn.invars
        return getattr(operands[0].aval, "dtype", None) if operands else None


def work_of(program: Program, module: Module | None, mesh: AbstractMesh) -> list[Work]:
    """Return the work of each equation that computes something.

    Args:
        program: the program.
        module: the program of one device, compiled; None where there is none.
        mesh: the devices.
    """
    shares = {} if module is None else _shares(program, module)
    found, varying = [], Varying(program)
    for one in program.equations:
        if one.operations and one.eqn.primitive.name not in COLLECTIVES:
            manual, different = varying.devices(one)
            share, least = shares.get(one.number), manual / mesh.size
            each = one.operations * min(max(share or 0.0, least), 1.0)
            found.append(Work(one, one.operations * different, each, share is not None))
    return found


def _shares(program: Program, module: Module) -> dict[int, float]:
    """For equations the largest part of their operations that one instruction does."""
    found: dict[int, float] = {}
    scalar = {
        name for one in module.instructions() if one.opcode in _APPLYING for name in one.calls
    }
    for name in module.computations.keys() - scalar:
        instructions = module.computations[name]
        shapes = {one.name: _shape(one) for one in instructions}
        for one in instructions:
            equation = _equation(one, program)
            whole = 0.0 if equation is None else _whole(equation, one.opcode)
            if equation is not None and whole:
                share = _elements(one, shapes) / whole
                found[equation.number] = max(found.get(equation.number, 0.0), share)
    return found


def _equation(one: Instruction, program: Program) -> Equation | None:
    """The equation that an instruction computes, or None where it computes nothing of its own."""
    if one.opcode in _MOVING:
        return None
    numbers = [one.equation] if one.opcode != "dot" else one.equations
    every = [program.equations[number] for number in numbers if number is not None]
    if one.opcode == "dot":  # it can have the name of a transpose that became part of it
        every = [equation for equation in every if equation.eqn.primitive.name == "dot_general"]
    return next(iter(every), None)


def _shape(one: Instruction) -> tuple[int, ...]:
    found = _SHAPE.match(one.text.partition(" = ")[2])
    return tuple(map(int, filter(None, found[1].split(",")))) if found else ()


def _elements(one: Instruction, shapes: dict[str, tuple[int, ...]]) -> float:
    """The products of a matrix product, the elements that a reduction takes, or results."""
    if one.opcode == "dot":
        contracted = _CONTRACTED.search(one.text)
        lhs = shapes.get(one.operands[0], ())
        axes = [int(n) for n in contracted[1].split(",") if n] if contracted else []
        return one.elements * math.prod(lhs[axis] for axis in axes if axis < len(lhs))
    if one.opcode in ("reduce", "reduce-window") and one.operands:
        return math.prod(shapes.get(one.operands[0], ()))
    if one.elements:
        return one.elements
    result = one.text.partition(" = ")[2].partition(f" {one.opcode}(")[0]
    return max((count for _, count in element_types(result)), default=0)


def _whole(equation: Equation, opcode: str) -> float:
    """The number that ``_elements`` would be of the undivided equation."""
    eqn = equation.eqn
    if eqn.primitive.name == "dot_general":
        return equation.cost.operations / 2 if opcode in ("dot", "reduce") else 0.0
    if opcode == "reduce":
        return float(max((getattr(x.aval, "size", 0) for x in eqn.invars), default=0))
    return float(max((getattr(v.aval, "size", 0) for v in eqn.outvars), default=0))
