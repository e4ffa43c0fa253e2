"""Along which mesh axes values differ between devices.

A part of an array differs along the axes that divide it, an index along its own axis, and a result
of an operation along all axes of its operands. A sum or an extremum over an axis is the same for
all devices along it. Whatever is not known to be the same counts as different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive
from bindax_parallel.exchanges import all_gather_p
from bindax_parallel.reductions import pmax_p, pmin_p, psum_p

Axes = frozenset[Any]
_NONE: Axes = frozenset()
_SAME_FOR_ALL: tuple[Primitive, ...] = (psum_p, pmax_p, pmin_p, all_gather_p)


def varying_axes(jaxpr: ClosedJaxpr, inputs: Sequence[Axes]) -> list[Axes]:
    """For each result of a program, the axes along which it may differ."""
    return _results(jaxpr.jaxpr, [_NONE] * len(jaxpr.consts), inputs)


def _results(jaxpr: Jaxpr, consts: Sequence[Axes], inputs: Sequence[Axes]) -> list[Axes]:
    env: dict[Any, Axes] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, inputs, strict=True))

    def read(atom: Any) -> Axes:
        return _NONE if type(atom) is Literal else env[atom]

    for eqn in jaxpr.eqns:
        outs = _equation(eqn, [read(x) for x in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(x) for x in jaxpr.outvars]


def _equation(eqn: JaxprEqn, inputs: list[Axes]) -> Sequence[Axes]:
    rule = _RULES.get(eqn.primitive.name)
    if rule is not None:
        return rule(eqn, inputs)
    if eqn.primitive in _SAME_FOR_ALL:
        value, index = inputs
        if eqn.params["mesh"] is not None and eqn.params["axis_index_groups"] is None:
            return [(value | index) - {eqn.params["axis_name"]}]
        return [value | index]
    return [_NONE.union(*inputs)] * len(eqn.outvars)


def _call(eqn: JaxprEqn, inputs: list[Axes]) -> Sequence[Axes]:
    return varying_axes(eqn.params["jaxpr"], inputs)


def _cond(eqn: JaxprEqn, inputs: list[Axes]) -> Sequence[Axes]:
    which, operands = inputs[0], inputs[1:]
    branches = [varying_axes(branch, operands) for branch in eqn.params["branches"]]
    return [which.union(*outs) for outs in zip(*branches, strict=True)]


def _scan(eqn: JaxprEqn, inputs: list[Axes]) -> Sequence[Axes]:
    params = eqn.params
    consts, carry = params["num_consts"], params["num_carry"]
    head, state, xs = inputs[:consts], inputs[consts : consts + carry], inputs[consts + carry :]
    outs: Sequence[Axes] = []

    def step(state: list[Axes]) -> list[Axes]:
        nonlocal outs
        outs = varying_axes(params["jaxpr"], [*head, *state, *xs])
        return list(outs[:carry])

    return [*_fixpoint(step, state), *outs[carry:]]


def _while(eqn: JaxprEqn, inputs: list[Axes]) -> Sequence[Axes]:
    params = eqn.params
    cond, body = params["cond_nconsts"], params["body_nconsts"]
    head, more, state = inputs[:cond], inputs[cond : cond + body], inputs[cond + body :]

    def step(state: list[Axes]) -> list[Axes]:
        (going,) = varying_axes(params["cond_jaxpr"], [*head, *state])
        return [going | out for out in varying_axes(params["body_jaxpr"], [*more, *state])]

    return _fixpoint(step, state)


def _fixpoint(step: Callable[[list[Axes]], list[Axes]], state: Sequence[Axes]) -> list[Axes]:
    found = list(state)
    while True:
        grown = [old | new for old, new in zip(found, step(found), strict=True)]
        if grown == found:
            return found
        found = grown


_RULES: dict[str, Callable[[JaxprEqn, list[Axes]], Sequence[Axes]]] = {
    "jit": _call,
    "cond": _cond,
    "scan": _scan,
    "while": _while,
    "custom_jvp_call": _call,
    "custom_vjp_call": _call,
    "checkpoint": _call,
}
