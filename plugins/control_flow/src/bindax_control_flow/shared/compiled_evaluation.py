"""Evaluating control flow now, through a compiler: equal programs are compiled once.

A loop that is called again is traced again, since its functions may have changed what they close
over; when the new programs say the same as the old ones, the executable is found again. Arrays that
they close over are operands and may change; scalars are part of what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from bindax_transforms import intern_jaxpr


def application_of(
    primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]
) -> ClosedJaxpr:
    """A program that applies a primitive: the same object for parameters that say the same."""
    avals = tuple([typeof(x) for x in operands])
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in primitive.out_avals(avals, params)]
    eqn = JaxprEqn(primitive, invars, outvars, params)
    return intern_jaxpr(ClosedJaxpr(Jaxpr((), invars, outvars, [eqn])))


def run_compiled(program: ClosedJaxpr, backend: Backend, operands: Sequence[Any]) -> list[Any]:
    """Run what ``application_of`` found."""
    unused = (False,) * len(operands)
    executable = executable_of(
        program, backend, name=program.eqns[0].primitive.name, donated=unused, keep_unused=True
    )
    return list(executable(*operands))
