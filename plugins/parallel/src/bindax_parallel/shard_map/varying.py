"""Along which mesh axes values differ between devices.

A part of an array differs along the axes that divide it, an index along its own axis, and a result
of an operation along all axes of its operands. A sum or an extremum over an axis is the same for
all devices along it. Whatever is not known to be the same counts as different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive, ShapedArray
from bindax_lax_basic import mul_p
from bindax_parallel.exchanges import all_gather_p
from bindax_parallel.reductions import pmax_p, pmin_p, psum_p

Axes = frozenset[Any]
_NONE: Axes = frozenset()
_SAME_FOR_ALL: tuple[Primitive, ...] = (psum_p, pmax_p, pmin_p, all_gather_p)


def varying_axes(jaxpr: ClosedJaxpr, inputs: Sequence[Axes]) -> list[Axes]:
    """For each result of a program, the axes along which it may differ."""
    return _results(jaxpr.jaxpr, [_NONE] * len(jaxpr.consts), inputs)


def without_needless_sums(closed: ClosedJaxpr, inputs: Sequence[Axes]) -> ClosedJaxpr:
    """The program with a product for each sum over devices that all have the same value.

    Transposition adds such sums: the cotangent of a value that is the same on several devices is.
    """
    key = ("without_needless_sums", tuple(inputs))
    if key not in closed.cache:
        env = _environment(closed.jaxpr, [_NONE] * len(closed.consts), inputs)
        eqns = [_product(eqn) if _is_needless(eqn, env) else eqn for eqn in closed.jaxpr.eqns]
        closed.cache[key] = ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)
    return closed.cache[key]  # type: ignore[no-any-return]


def _is_needless(eqn: JaxprEqn, env: dict[Any, Axes]) -> bool:
    if eqn.primitive is not psum_p or eqn.params["axis_index_groups"] is not None:
        return False
    x = eqn.invars[0]
    return type(x) is Literal or eqn.params["axis_name"] not in env[x]


def _product(eqn: JaxprEqn) -> JaxprEqn:
    dtype = eqn.outvars[0].aval.dtype
    count = Literal(np.asarray(eqn.params["size"], dtype), ShapedArray((), dtype))
    return eqn.replace(primitive=mul_p, invars=[eqn.invars[0], count], params={})


def _results(jaxpr: Jaxpr, consts: Sequence[Axes], inputs: Sequence[Axes]) -> list[Axes]:
    env = _environment(jaxpr, consts, inputs)
    return [_NONE if type(x) is Literal else env[x] for x in jaxpr.outvars]


def _environment(jaxpr: Jaxpr, consts: Sequence[Axes], inputs: Sequence[Axes]) -> dict[Any, Axes]:
    """For each variable, the axes along which it may differ."""
    env: dict[Any, Axes] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, inputs, strict=True))
    for eqn in jaxpr.eqns:
        outs = _equation(eqn, [_NONE if type(x) is Literal else env[x] for x in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    return env


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
