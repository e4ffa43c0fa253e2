"""Evaluating control flow now, through a compiler: equal programs are compiled once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Backend,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    Var,
    executable_of,
    typeof,
)

_LIMIT = 1024
_programs: dict[Any, ClosedJaxpr] = {}


def run_compiled(
    primitive: Primitive, backend: Backend, operands: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """Apply a higher-order primitive to values, compiled.

    A loop called again is traced again, since its functions may have changed what they close
    over; when the new programs say the same as the old ones, the executable is found again.
    """
    avals = tuple([typeof(x) for x in operands])
    key = (primitive, avals, _structure_of_params(params))
    program = _programs.get(key)
    if program is None:
        invars = [Var(aval) for aval in avals]
        outvars = [Var(aval) for aval in primitive.out_avals(avals, params)]
        eqn = JaxprEqn(primitive, invars, outvars, params)
        program = ClosedJaxpr(Jaxpr((), invars, outvars, [eqn]))
        if len(_programs) >= _LIMIT:
            _programs.clear()
        _programs[key] = program
    return list(executable_of(program, backend, name=primitive.name)(*operands))


def structure_of(closed: ClosedJaxpr) -> Any:
    """A hashable value that programs without constants share when they say the same."""
    found = closed.cache.get("structure")
    if found is None:
        numbers: dict[Var, int] = {}

        def number(v: Var) -> Any:
            return numbers.setdefault(v, len(numbers)), v.aval

        def atom(x: Any) -> Any:
            if type(x) is Var:
                return numbers[x]
            return x.aval, np.asarray(x.val).tobytes()

        jaxpr = closed.jaxpr
        found = closed.cache["structure"] = (
            tuple([number(v) for v in jaxpr.invars]),
            tuple(
                [
                    (
                        eqn.primitive,
                        tuple([atom(x) for x in eqn.invars]),
                        _structure_of_params(eqn.params),
                        tuple([number(v) for v in eqn.outvars]),
                    )
                    for eqn in jaxpr.eqns
                ]
            ),
            tuple([atom(x) for x in jaxpr.outvars]),
        )
    return found


def _structure_of_params(params: dict[str, Any]) -> Any:
    return tuple([(name, _structure_of_param(value)) for name, value in params.items()])


def _structure_of_param(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return structure_of(value) if not value.consts else value
    if isinstance(value, tuple):
        return tuple([_structure_of_param(x) for x in value])
    return value
