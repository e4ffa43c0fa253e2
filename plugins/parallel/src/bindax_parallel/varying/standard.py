"""Rules of calls, branches and loops, by name, so that none of their packages is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import ClosedJaxpr, Primitive, Rule
from bindax_parallel.varying.kind import Axes, varying, varying_axes


def by_name(primitive: Primitive) -> Rule | None:
    """The rule of a standard primitive, or None."""
    function = _RULES.get(primitive.name)
    return None if function is None else varying(function)


def _call(*inputs: Axes, jaxpr: ClosedJaxpr, **params: Any) -> list[Axes]:
    return varying_axes(jaxpr, inputs)


def _cond(which: Axes, *operands: Axes, branches: Sequence[ClosedJaxpr], **_: Any) -> list[Axes]:
    found = [varying_axes(branch, operands) for branch in branches]
    return [which.union(*outs) for outs in zip(*found, strict=True)]


def _scan(
    *inputs: Axes, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, **_: Any
) -> list[Axes]:
    consts, rest = list(inputs[:num_consts]), list(inputs[num_consts:])
    state, xs = rest[:num_carry], rest[num_carry:]
    outs: list[Axes] = []

    def step(state: list[Axes]) -> list[Axes]:
        nonlocal outs
        outs = varying_axes(jaxpr, [*consts, *state, *xs])
        return outs[:num_carry]

    return [*_fixpoint(step, state), *outs[num_carry:]]


def _while(
    *inputs: Axes,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    **_: Any,
) -> list[Axes]:
    consts, rest = list(inputs[:cond_nconsts]), list(inputs[cond_nconsts:])
    more, state = rest[:body_nconsts], rest[body_nconsts:]

    def step(state: list[Axes]) -> list[Axes]:
        (going,) = varying_axes(cond_jaxpr, [*consts, *state])
        return [going | out for out in varying_axes(body_jaxpr, [*more, *state])]

    return _fixpoint(step, state)


def _fixpoint(step: Callable[[list[Axes]], list[Axes]], state: Sequence[Axes]) -> list[Axes]:
    found = list(state)
    while True:
        grown = [old | new for old, new in zip(found, step(found), strict=True)]
        if grown == found:
            return found
        found = grown


_RULES: dict[str, Callable[..., list[Axes]]] = {
    "jit": _call,
    "cond": _cond,
    "scan": _scan,
    "while": _while,
    "custom_jvp_call": _call,
    "custom_vjp_call": _call,
    "checkpoint": _call,
}
