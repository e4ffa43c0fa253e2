"""Effects of programs, for transformations that repeat or reorder them."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import ClosedJaxpr, JaxprEqn, Primitive, subjaxprs
from bindax_transforms._flat import cached_on_jaxpr


def check_unordered(primitive: Primitive, params: dict[str, Any]) -> None:
    """Raise when an application has ordered effects: the elements of a batch have no order.

    Raises:
        ValueError: naming the primitive and the effect.
    """
    for effect in JaxprEqn(primitive, (), (), params).effects:
        if effect.ordered:
            raise ValueError(
                f"vmap of {primitive.name} with the ordered effect {effect.name!r}: the elements "
                f"of a batch have no order. Make it unordered with ordered=False, or loop over "
                f"the elements with scan or map."
            )


def check_repeatable(program: ClosedJaxpr, use: str) -> None:
    """Raise when a jaxpr has effects that must not happen more often than it says.

    Args:
        program: what is going to run more often, or where it would not.
        use: what for, such as ``"vmap of cond with a mapped predicate"``.

    Raises:
        ValueError: naming the use and the effect.
    """
    for effect in program.jaxpr.effects:
        if not effect.repeatable:
            raise ValueError(
                f"{use}: the program has the effect {effect.name!r}, which would happen more "
                f"often than the program says. Move it out of the function."
            )


def without_effects(program: ClosedJaxpr) -> ClosedJaxpr:
    """A jaxpr without the effects that give it no values, for a computation that is repeated.

    Args:
        program: a jaxpr without constants, whose effects happen elsewhere.
    """
    if not program.jaxpr.effects:
        return program
    return cached_on_jaxpr(program, "without effects", lambda: _without_effects(program))


def _without_effects(program: ClosedJaxpr) -> ClosedJaxpr:
    eqns = []
    for eqn in program.eqns:
        if eqn.effects and subjaxprs(eqn.params):
            eqns.append(eqn.replace(params={k: _stripped(v) for k, v in eqn.params.items()}))
        elif eqn.outvars or not eqn.effects:
            eqns.append(eqn)
    return ClosedJaxpr(program.jaxpr.replace(eqns=eqns), program.consts)


def _stripped(param: Any) -> Any:
    if isinstance(param, tuple):
        return tuple([_stripped(entry) for entry in param])
    return without_effects(param) if isinstance(param, ClosedJaxpr) else param
