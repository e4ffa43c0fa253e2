"""Bodies of loops and branches: the programs that an equation runs, with their operands.

The values can be anything that has slices, can be stacked and gives a number, so that one walk
serves one run of a program and two runs side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from bindax_core.extend import Array, ClosedJaxpr, JaxprEqn

RunBody = Callable[[str, ClosedJaxpr, Sequence[Any]], Sequence[Any]]
"""Runs a body: takes what it is, such as ``"scan, step 3"``, the program and its operands."""


class Values(Protocol):
    """Operations on the values of a run."""

    def part(self, x: Any, i: int) -> Any:
        """The slice of a sequence at a position."""

    def stacked(self, parts: Sequence[Any], aval: Any) -> Any:
        """The sequence of some slices; the type is that of no slices."""

    def number(self, x: Any) -> int:
        """The value of a scalar."""


class Single:
    """The values of one run: arrays."""

    def part(self, x: Any, i: int) -> Any:
        """Take a slice."""
        return Array(x.aval.update(shape=x.aval.shape[1:]), x.numpy()[i, ...])

    def stacked(self, parts: Sequence[Any], aval: Any) -> Any:
        """Stack slices."""
        if not parts:
            return Array(aval, np.empty(aval.shape, aval.dtype))
        first = parts[0].aval
        made = aval.update(shape=(len(parts), *first.shape), dtype=first.dtype)
        return Array(made, np.stack([x.numpy() for x in parts]))

    def number(self, x: Any) -> int:
        """Read a scalar."""
        return int(x)


class Pairs:
    """The values of two runs: pairs of arrays. Numbers are those of the first run."""

    def __init__(self) -> None:
        self._single = Single()

    def part(self, x: Any, i: int) -> Any:
        """Take a slice."""
        return tuple(self._single.part(one, i) for one in x)

    def stacked(self, parts: Sequence[Any], aval: Any) -> Any:
        """Stack slices."""
        return tuple(self._single.stacked([x[k] for x in parts], aval) for k in (0, 1))

    def number(self, x: Any) -> int:
        """Read a scalar."""
        return self._single.number(x[0])


def has_bodies(eqn: JaxprEqn) -> bool:
    """Tell whether an equation is a loop or a choice of branches."""
    return eqn.primitive.name in _WALKS


def run_bodies(eqn: JaxprEqn, operands: Sequence[Any], run: RunBody, values: Values) -> list[Any]:
    """Run the bodies of an equation in order; returns its results.

    Args:
        eqn: an equation that has bodies.
        operands: the values of its operands.
        run: runs a body.
        values: the operations on these values.
    """
    return _WALKS[eqn.primitive.name](eqn, operands, run, values)


def _scan(eqn: JaxprEqn, operands: Sequence[Any], run: RunBody, values: Values) -> list[Any]:
    params, body = eqn.params, eqn.params["jaxpr"]
    first, last = params["num_consts"], params["num_consts"] + params["num_carry"]
    consts, carry, xs = operands[:first], operands[first:last], operands[last:]
    steps = range(params["length"])
    rows: list[Sequence[Any]] = []
    for number, i in enumerate(reversed(steps) if params["reverse"] else steps):
        slices = [values.part(x, i) for x in xs]
        outs = run(f"scan, step {number}", body, [*consts, *carry, *slices])
        carry, ys = outs[: len(carry)], outs[len(carry) :]
        rows.append(ys)
    if params["reverse"]:
        rows.reverse()
    avals = [v.aval for v in eqn.outvars[len(carry) :]]
    stacked = [values.stacked([row[k] for row in rows], aval) for k, aval in enumerate(avals)]
    return [*carry, *stacked]


def _while(eqn: JaxprEqn, operands: Sequence[Any], run: RunBody, values: Values) -> list[Any]:
    params = eqn.params
    first, last = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    cond_consts, body_consts, carry = operands[:first], operands[first:last], operands[last:]
    number = 0
    while True:
        condition = f"condition of while, round {number}"
        (going,) = run(condition, params["cond_jaxpr"], [*cond_consts, *carry])
        if not values.number(going):
            return list(carry)
        carry = run(f"while, round {number}", params["body_jaxpr"], [*body_consts, *carry])
        number += 1


def _cond(eqn: JaxprEqn, operands: Sequence[Any], run: RunBody, values: Values) -> list[Any]:
    branches = eqn.params["branches"]
    index = min(max(values.number(operands[0]), 0), len(branches) - 1)
    return list(run(f"cond, branch {index}", branches[index], operands[1:]))


_WALKS = {"scan": _scan, "while": _while, "cond": _cond}
