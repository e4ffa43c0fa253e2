"""The rules of primitives whose parameters are programs: these become programs of coefficients."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bindax_control_flow import cond_p, scan_p, while_p
from bindax_core import find_primitive
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Extension,
    convert_constvars,
    extend,
    jaxpr_as_fun,
)
from bindax_experimental.jet.interpreter import jet_flat, taylor
from bindax_experimental.jet.series import Taylor, order_of, series
from bindax_transforms import (
    cached_on_jaxpr,
    custom_vjp_call_p,
    custom_vmap_call_p,
    jit_p,
    linear_call_p,
    trace_to_jaxpr,
)

Flags = tuple[bool, ...]


def extensions() -> Iterator[Extension]:
    """The rules for calls, branches and loops."""
    yield extend(jit_p, taylor(_jit))
    yield extend(find_primitive("checkpoint"), taylor(_checkpoint))
    yield extend(cond_p, taylor(_cond))
    yield extend(while_p, taylor(_while))
    yield extend(scan_p, taylor(_scan))
    for primitive in (custom_vjp_call_p, custom_vmap_call_p):
        yield extend(primitive, taylor(_call))
    yield extend(linear_call_p, taylor(_linear_call))


def _call(*operands: Taylor, call: Any, jaxpr: Any) -> list[Taylor]:
    """Apply the function itself: its rules speak of other transformations."""
    return jet_flat(call.function, operands, DebugInfo("jet"))


def _linear_call(*operands: Taylor, jaxpr: ClosedJaxpr, **params: Any) -> list[Taylor]:
    """Apply the function itself, which its transpose has no say in."""
    return jet_flat(jaxpr_as_fun(jaxpr), operands, DebugInfo("jet"))


def moving(operands: Sequence[Taylor]) -> Flags:
    """For each operand, whether it moves."""
    return tuple([not x.is_constant for x in operands])


def flat(operands: Sequence[Taylor]) -> list[Any]:
    """The coefficients of several series, one after the other."""
    return [x for operand in operands for x in operand.coefficients]


def restored(values: Sequence[Any], flags: Flags, order: int) -> list[Taylor]:
    """The inverse of ``flat``."""
    rest = iter(values)
    return [series(itertools.islice(rest, order + 1 if flag else 1)) for flag in flags]


def program_of(
    program: ClosedJaxpr, order: int, flags: Flags, all_out: Flags = ()
) -> tuple[ClosedJaxpr, Flags]:
    """A program of coefficients, and which of its results move.

    The results in ``all_out`` get all coefficients even if they do not move.
    """
    found: list[Flags] = []

    def function(*values: Any) -> list[Any]:
        outs = jet_flat(jaxpr_as_fun(program), restored(values, flags, order), DebugInfo("jet"))
        if all_out:
            pairs = zip(outs, all_out, strict=True)
            outs = [x.extended(order) if flag else x for x, flag in pairs]
        found.append(moving(outs))
        return flat(outs)

    def make() -> tuple[ClosedJaxpr, Flags]:
        pairs = zip(program.in_avals, flags, strict=True)
        avals = [x for aval, flag in pairs for x in (aval, *([aval] * order if flag else []))]
        return trace_to_jaxpr(function, avals, DebugInfo("jet")), found[-1]

    return cached_on_jaxpr(program, ("jet", order, flags, all_out), make)


def _jit(*operands: Taylor, jaxpr: ClosedJaxpr, **params: Any) -> list[Taylor]:
    return _applied(jit_p, operands, jaxpr, params, donated=True)


def _checkpoint(*operands: Taylor, jaxpr: ClosedJaxpr, **params: Any) -> list[Taylor]:
    return _applied(find_primitive("checkpoint"), operands, jaxpr, params)


def _applied(
    primitive: Any,
    operands: Sequence[Taylor],
    jaxpr: ClosedJaxpr,
    params: dict[str, Any],
    donated: bool = False,
) -> list[Taylor]:
    order = order_of(operands)
    program, out_flags = program_of(jaxpr, order, moving(operands))
    hoisted, consts = convert_constvars(program)
    given = [*consts, *flat(operands)]
    if donated:
        params = {**params, "donated": (False,) * len(given)}
    return restored(primitive.bind(*given, **{**params, "jaxpr": hoisted}), out_flags, order)


def _cond(
    index: Taylor, *operands: Taylor, branches: tuple[ClosedJaxpr, ...], **which: Any
) -> list[Taylor]:
    order, flags = order_of(operands), moving(operands)
    columns = zip(*[program_of(branch, order, flags)[1] for branch in branches], strict=True)
    out_flags = tuple([any(column) for column in columns])
    programs, consts = with_joint_consts(
        [program_of(branch, order, flags, out_flags)[0] for branch in branches]
    )
    outs = cond_p.bind(index.value, *consts, *flat(operands), branches=programs, **which)
    return restored(outs, out_flags, order)


def with_joint_consts(
    programs: Sequence[ClosedJaxpr],
) -> tuple[tuple[ClosedJaxpr, ...], list[Any]]:
    """Programs that take the constants of all of them first, and these constants."""
    hoisted = [convert_constvars(program) for program in programs]
    consts = [x for _, own in hoisted for x in own]
    avals = [a for program, own in hoisted for a in program.in_avals[: len(own)]]
    made, start = [], 0
    for program, own in hoisted:
        made.append(_with_others(program, avals, start, len(own)))
        start += len(own)
    return tuple(made), consts


def _with_others(program: ClosedJaxpr, avals: Sequence[Any], start: int, count: int) -> ClosedJaxpr:
    if len(avals) == count:
        return program

    def function(*values: Any) -> Sequence[Any]:
        return jaxpr_as_fun(program)(*values[start : start + count], *values[len(avals) :])

    return trace_to_jaxpr(function, [*avals, *program.in_avals[count:]], DebugInfo("cond"))


def _carry_flags(grow: Callable[[Flags], Flags], flags: Flags) -> Flags:
    """The least flags, those given included, to which a step adds nothing."""
    while True:
        grown = tuple([a or b for a, b in zip(flags, grow(flags), strict=True)])
        if grown == flags:
            return flags
        flags = grown


def _extended(operands: Sequence[Taylor], flags: Flags, order: int) -> list[Taylor]:
    return [x.extended(order) if f else x for x, f in zip(operands, flags, strict=True)]


def _scan(*operands: Taylor, **params: Any) -> list[Taylor]:
    order, jaxpr = order_of(operands), params["jaxpr"]
    first = params["num_consts"]
    last = first + params["num_carry"]
    consts, carry, xs = operands[:first], operands[first:last], operands[last:]
    count = len(carry)

    def step_flags(flags: Flags) -> Flags:
        return program_of(jaxpr, order, (*moving(consts), *flags, *moving(xs)))[1]

    flags = _carry_flags(lambda flags: step_flags(flags)[:count], moving(carry))
    out_flags = (*flags, *step_flags(flags)[count:])
    in_flags = (*moving(consts), *flags, *moving(xs))
    program, own = convert_constvars(program_of(jaxpr, order, in_flags, out_flags)[0])
    carried = _extended(carry, flags, order)
    outs = scan_p.bind(
        *own,
        *flat(consts),
        *flat(carried),
        *flat(xs),
        **{
            **params,
            "jaxpr": program,
            "num_consts": len(own) + len(flat(consts)),
            "num_carry": len(flat(carried)),
        },
    )
    return restored(outs, out_flags, order)


def _while(*operands: Taylor, **params: Any) -> list[Taylor]:
    order = order_of(operands)
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    first = params["cond_nconsts"]
    last = first + params["body_nconsts"]
    cond_consts = [x.value for x in operands[:first]]
    consts, carry = operands[first:last], operands[last:]

    def step_flags(flags: Flags) -> Flags:
        return program_of(body, order, (*moving(consts), *flags))[1]

    flags = _carry_flags(step_flags, moving(carry))
    program, own = convert_constvars(program_of(body, order, (*moving(consts), *flags), flags)[0])
    carried = _extended(carry, flags, order)

    def holds(*values: Any) -> Sequence[Any]:
        now = [x.value for x in restored(values[first:], flags, order)]
        return jaxpr_as_fun(condition)(*values[:first], *now)

    carry_avals = program.in_avals[len(own) + len(flat(consts)) :]
    test, tested = convert_constvars(
        trace_to_jaxpr(holds, [*condition.in_avals[:first], *carry_avals], DebugInfo("jet"))
    )
    outs = while_p.bind(
        *tested,
        *cond_consts,
        *own,
        *flat(consts),
        *flat(carried),
        cond_jaxpr=test,
        body_jaxpr=program,
        cond_nconsts=len(tested) + first,
        body_nconsts=len(own) + len(flat(consts)),
    )
    return restored(outs, flags, order)
