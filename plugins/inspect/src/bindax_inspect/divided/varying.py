"""The devices that compute different things, inside of ``shard_map``.

Devices that differ along an axis along which no operand varies compute the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from bindax_core.extend import JaxprEqn, Literal
from bindax_inspect.divided.by_rules import COLLECTIVES
from bindax_inspect.program.equations import Equation, Program

Axes = frozenset[Hashable]
_SAME = ("all_gather", "pmax", "pmin", "psum")
"""Collectives whose result is the same on all devices of a group."""


class Varying:
    """The axes of the mesh along which the operands of equations vary."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, tuple[Axes, dict[Hashable, int]]] = {}
        for one in program.equations:
            if one.eqn.primitive.name == "shard_map":
                self._visit(one)

    def devices(self, equation: Equation) -> tuple[int, int]:
        """Return the devices that run an equation on a part of their own, and those that differ.

        Those that differ are as many as compute something else than the others.
        """
        manual = different = 1
        while True:
            axes, sizes = self._known.get(equation.number, (frozenset(), {}))
            manual *= math.prod(sizes.values())
            different *= math.prod(sizes[axis] for axis in axes)
            if not equation.parents:
                return manual, different
            equation = self._program.equations[equation.parents[0]]

    def _visit(self, shard_map: Equation) -> None:
        """Find the axes of the equations of one ``shard_map``, and of no jaxpr further inside."""
        params = shard_map.eqn.params
        names = params["axis_names"]
        sizes = {name: n for name, n in params["mesh"].shape_tuple if name in names}
        jaxpr = params["jaxpr"].jaxpr
        given = [frozenset({name}) for name in sizes]
        given += [frozenset(spec.names) for spec in params["in_specs"]]
        axes: dict[Any, Axes] = dict(zip(jaxpr.invars, given, strict=True))
        numbers = self._program.numbers[id(jaxpr)]
        for number, eqn in zip(numbers, jaxpr.eqns, strict=True):
            taken, left = _through(eqn, axes)
            self._known[number] = taken, sizes
            axes.update(dict.fromkeys(eqn.outvars, left))


def _through(eqn: JaxprEqn, known: dict[Any, Axes]) -> tuple[Axes, Axes]:
    """The axes along which operands vary, and those along which results do."""
    name = eqn.primitive.name
    operands = eqn.invars[:1] if name in COLLECTIVES else eqn.invars  # the others are indices
    found = [known.get(x, frozenset()) for x in operands if type(x) is not Literal]
    taken: Axes = frozenset().union(*found)
    if name not in COLLECTIVES:
        return taken, taken
    given = eqn.params["axis_name"]
    across = frozenset(given if isinstance(given, tuple) else (given,))
    is_same = name in _SAME and eqn.params.get("axis_index_groups") is None
    return taken, taken - across if is_same else taken | across
