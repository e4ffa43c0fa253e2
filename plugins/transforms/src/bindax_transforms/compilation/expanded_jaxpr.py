"""Jaxprs whose operations stand for others, as jaxprs of those others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    Atom,
    ClosedJaxpr,
    DebugInfo,
    JaxprEqn,
    Literal,
    bind_flat,
    eval_jaxpr,
    expansion,
    interpret_jaxpr,
)
from bindax_transforms._flat import cached_on_jaxpr, map_jaxprs
from bindax_transforms.custom._custom_call import CustomCallPrimitive
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr

_ORIGIN = DebugInfo("expanded_jaxpr")


def expanded_jaxpr(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The jaxpr of the operations that those of a jaxpr stand for.

    An application of a primitive with an ``expansion`` rule is replaced by the jaxpr that the rule
    gives, as often as needed. Then rules of derivatives and batches have no meaning any more, so
    that functions with ``custom_jvp``, ``custom_vjp`` or ``custom_vmap`` are inlined.

    >>> from bindax_core.extend import primitive
    >>> from bindax_transforms import composition, make_jaxpr
    >>> square_p = primitive("example.square", *composition(lambda x: x * x))
    >>> closed = make_jaxpr(square_p.bind)(3.0)
    >>> [eqn.primitive.name for eqn in closed.eqns], closed.is_high
    (['example.square'], True)
    >>> [eqn.primitive.name for eqn in expanded_jaxpr(closed).eqns]
    ['mul']
    """
    if not closed.is_high:
        return closed

    def evaluate(*values: Any) -> list[Any]:
        return interpret_jaxpr(closed.jaxpr, closed.consts, values, _apply)

    return cached_on_jaxpr(
        closed, "expanded", lambda: trace_to_jaxpr(evaluate, closed.in_avals, _ORIGIN)
    )


def _apply(eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
    rule = expansion.find(eqn.primitive)
    if rule is not None:
        return _inlined(rule(*[x.aval for x in eqn.invars], **eqn.params), operands)
    if isinstance(eqn.primitive, CustomCallPrimitive):
        return _inlined(eqn.params["jaxpr"], operands)
    return bind_flat(eqn.primitive, operands, map_jaxprs(_expanded_parameter, eqn.params))


def _expanded_parameter(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The expanded jaxpr; the jaxprs of equations have no constants, so those become literals."""
    found = expanded_jaxpr(closed)
    jaxpr = found.jaxpr
    if not found.consts:
        return found
    pairs = zip(jaxpr.constvars, found.consts, strict=True)
    literals: dict[Atom, Atom] = {v: Literal(x, v.aval) for v, x in pairs}

    def replaced(atoms: Sequence[Atom]) -> list[Atom]:
        return [literals.get(x, x) for x in atoms]

    eqns = [eqn.replace(invars=replaced(eqn.invars)) for eqn in jaxpr.eqns]
    outvars = replaced(jaxpr.outvars)
    return ClosedJaxpr(jaxpr.replace(constvars=[], eqns=eqns, outvars=outvars))


def _inlined(closed: ClosedJaxpr, operands: list[Any]) -> Sequence[Any]:
    closed = expanded_jaxpr(closed)
    return eval_jaxpr(closed.jaxpr, closed.consts, *operands)
