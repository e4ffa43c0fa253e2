"""Programs of one device without what types say of devices, to be run on one."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import ClosedJaxpr, Jaxpr, Literal, Var
from bindax_parallel.casting import pvary_p
from bindax_transforms import cached_on_jaxpr


def without_devices(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with plain types, also in the programs among the parameters of its equations."""
    return cached_on_jaxpr(
        closed, "without_devices", lambda: ClosedJaxpr(_plain(closed.jaxpr), closed.consts)
    )


def _plain(jaxpr: Jaxpr) -> Jaxpr:
    made: dict[Any, Any] = {}

    def var(x: Any) -> Any:
        if type(x) is Literal:
            return Literal(x.val, x.aval.plain())
        if x not in made:
            made[x] = Var(x.aval.plain())
        return made[x]

    def each(atoms: Any) -> list[Any]:
        return [var(x) for x in atoms]

    eqns = []
    for eqn in jaxpr.eqns:
        if eqn.primitive is pvary_p:  # it changes the type alone
            made[eqn.outvars[0]] = var(eqn.invars[0])
            continue
        params = {name: _inside(value) for name, value in eqn.params.items()}
        eqns.append(eqn.replace(invars=each(eqn.invars), outvars=each(eqn.outvars), params=params))
    return jaxpr.replace(
        constvars=each(jaxpr.constvars),
        invars=each(jaxpr.invars),
        eqns=eqns,
        outvars=each(jaxpr.outvars),
    )


def _inside(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return without_devices(value)
    if type(value) is tuple and any(isinstance(part, ClosedJaxpr) for part in value):
        return tuple(_inside(part) for part in value)
    return value
