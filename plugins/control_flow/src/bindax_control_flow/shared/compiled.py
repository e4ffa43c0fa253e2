"""Evaluating control flow now, through a compiler: equal programs are compiled once.

A loop that is called again is traced again, since its functions may have changed what they close
over; when the new programs say the same as the old ones, the executable is found again. Arrays that
they close over are operands and may change; scalars are part of what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bindax_core.extend as core
from bindax_transforms import intern_jaxpr


def application_of(
    primitive: core.Primitive, operands: Sequence[Any], params: dict[str, Any]
) -> core.ClosedJaxpr:
    """A program that applies a primitive: the same object for parameters that say the same."""
    avals = tuple([core.typeof(x) for x in operands])
    invars = [core.Var(aval) for aval in avals]
    outvars = [core.Var(aval) for aval in primitive.out_avals(avals, params)]
    eqn = core.JaxprEqn(primitive, invars, outvars, params)
    return intern_jaxpr(core.ClosedJaxpr(core.Jaxpr((), invars, outvars, [eqn])))


def run_compiled(
    program: core.ClosedJaxpr, backend: core.Backend, operands: Sequence[Any]
) -> list[Any]:
    """Run what ``application_of`` found."""
    unused = (False,) * len(operands)
    executable = core.executable_of(
        program, backend, name=program.eqns[0].primitive.name, donated=unused, keep_unused=True
    )
    return list(executable(*operands))
