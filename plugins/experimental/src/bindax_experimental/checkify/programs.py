"""The rules of primitives whose parameters are programs: their checks become results of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bindax_control_flow import cond_p, scan_p, while_p
from bindax_core import find_primitive
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Extension,
    MainTrace,
    ShapedArray,
    convert_constvars,
    extend,
    jaxpr_as_fun,
)
from bindax_experimental.checkify.errors import ErrorCategory, Slot, slot_avals
from bindax_experimental.checkify.interpreter import Checks, checked, run_checked, run_silently
from bindax_experimental.jet.programs import with_joint_consts
from bindax_transforms import (
    cached_on_jaxpr,
    custom_jvp_call_p,
    custom_vjp_call_p,
    custom_vmap_call_p,
    jit_p,
    trace_to_jaxpr,
)

CODE = ShapedArray((), np.int32)


def extensions() -> Iterator[Extension]:
    """The rules for calls, branches and loops."""
    yield extend(jit_p, checked(_jit))
    yield extend(find_primitive("checkpoint"), checked(_checkpoint))
    yield extend(cond_p, checked(_cond))
    yield extend(while_p, checked(_while))
    yield extend(scan_p, checked(_scan))
    for primitive in (custom_jvp_call_p, custom_vjp_call_p, custom_vmap_call_p):
        yield extend(primitive, checked(_custom_call(primitive)))


def places(programs: Sequence[ClosedJaxpr], checks: Checks) -> tuple[Slot, ...] | None:
    """The places of the messages of programs, and those there are; None if nothing can fail."""
    found: dict[Slot, None] = dict.fromkeys(checks.slots)
    any_found = False
    for program in programs:
        slots = _with_state(program, checks.enabled, ())[1]
        if slots is not None:
            any_found = True
            found.update(dict.fromkeys(slots))
    return tuple(found) if any_found else None


def with_state(program: ClosedJaxpr, checks: Checks, slots: tuple[Slot, ...]) -> ClosedJaxpr:
    """The program that takes and returns the state first, then what it takes and returns."""
    return _with_state(program, checks.enabled, slots)[0]


def _with_state(
    program: ClosedJaxpr, enabled: frozenset[ErrorCategory], slots: tuple[Slot, ...]
) -> tuple[ClosedJaxpr, tuple[Slot, ...] | None]:
    found: list[tuple[Slot, ...] | None] = []

    def function(*values: Any) -> list[Any]:
        checks = Checks(enabled)
        operands = checks.replace(slots, values)
        checks.found_any = False
        outs = run_checked(checks, jaxpr_as_fun(program), operands)
        found.append(checks.slots if checks.found_any else None)
        return [*checks.values, *outs]

    def make() -> tuple[ClosedJaxpr, tuple[Slot, ...] | None]:
        avals = [CODE, *slot_avals(slots), *program.in_avals]
        return trace_to_jaxpr(function, avals, DebugInfo("checkify")), found[-1]

    return cached_on_jaxpr(program, ("checkify", enabled, slots), make)


def _call(
    primitive: Any, checks: Checks, operands: Sequence[Any], params: dict[str, Any], **more: Any
) -> list[Any]:
    """Apply a call of a program, ``jaxpr`` among the parameters."""
    slots = places([params["jaxpr"]], checks)
    if slots is None:
        return primitive.bind(*operands, **params)  # type: ignore[no-any-return]
    jaxpr, consts = convert_constvars(with_state(params["jaxpr"], checks, slots))
    given = [*consts, *checks.state(slots), *operands]
    changed = {name: change(given) for name, change in more.items()}
    outs = primitive.bind(*given, **{**params, **changed, "jaxpr": jaxpr})
    return checks.replace(slots, outs)


def _jit(checks: Checks, *operands: Any, **params: Any) -> list[Any]:
    return _call(jit_p, checks, operands, params, donated=lambda given: (False,) * len(given))


def _checkpoint(checks: Checks, *operands: Any, **params: Any) -> list[Any]:
    return _call(find_primitive("checkpoint"), checks, operands, params)


def _cond(
    checks: Checks, index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...], **which: Any
) -> list[Any]:
    slots = places(branches, checks)
    if slots is None:
        return cond_p.bind(index, *operands, branches=branches, **which)  # type: ignore[no-any-return]
    programs, consts = with_joint_consts([with_state(branch, checks, slots) for branch in branches])
    given = [*consts, *checks.state(slots), *operands]
    return checks.replace(slots, cond_p.bind(index, *given, branches=programs, **which))


def _while(checks: Checks, *operands: Any, **params: Any) -> list[Any]:
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    slots = places([condition, body], checks)
    if slots is None:
        return while_p.bind(*operands, **params)  # type: ignore[no-any-return]
    cut = params["cond_nconsts"]
    end = cut + params["body_nconsts"]
    cond_consts, body_consts, carry = operands[:cut], operands[cut:end], operands[end:]
    # The condition is checked on the first carry here, and on each later one after the body.
    run_checked(checks, jaxpr_as_fun(condition), [*cond_consts, *carry])
    size = 1 + len(slot_avals(slots))
    state_avals = [CODE, *slot_avals(slots)]
    checked_condition = with_state(condition, checks, slots)
    checked_body = with_state(body, checks, slots)

    def holds(*values: Any) -> list[Any]:
        return [
            jaxpr_as_fun(checked_condition)(
                *values[cut:][:size], *values[:cut], *values[cut + size :]
            )[size]
        ]

    def step(*values: Any) -> list[Any]:
        consts, state, rest = values[:end], values[end : end + size], values[end + size :]
        outs = jaxpr_as_fun(checked_body)(*state, *consts[cut:], *rest)
        after = jaxpr_as_fun(checked_condition)(*outs[:size], *consts[:cut], *outs[size:])
        return [*after[:size], *outs[size:]]

    consts_avals = [*condition.in_avals[:cut], *body.in_avals[: end - cut]]
    carry_avals = [*state_avals, *body.in_avals[end - cut :]]
    cond_made, cond_own = convert_constvars(
        trace_to_jaxpr(holds, [*consts_avals[:cut], *carry_avals], DebugInfo("checkify"))
    )
    body_made, body_own = convert_constvars(
        trace_to_jaxpr(step, [*consts_avals, *carry_avals], DebugInfo("checkify"))
    )
    outs = while_p.bind(
        *cond_own,
        *cond_consts,
        *body_own,
        *cond_consts,
        *body_consts,
        *checks.state(slots),
        *carry,
        cond_jaxpr=cond_made,
        body_jaxpr=body_made,
        cond_nconsts=len(cond_own) + cut,
        body_nconsts=len(body_own) + end,
    )
    return checks.replace(slots, outs)


def _scan(checks: Checks, *operands: Any, **params: Any) -> list[Any]:
    slots = places([params["jaxpr"]], checks)
    if slots is None:
        return scan_p.bind(*operands, **params)  # type: ignore[no-any-return]
    program = with_state(params["jaxpr"], checks, slots)
    count, size = params["num_consts"], 1 + len(slot_avals(slots))
    avals = program.in_avals
    order = [*avals[size : size + count], *avals[:size], *avals[size + count :]]

    def step(*values: Any) -> Sequence[Any]:
        consts, state, rest = values[:count], values[count : count + size], values[count + size :]
        return jaxpr_as_fun(program)(*state, *consts, *rest)

    jaxpr, own = convert_constvars(trace_to_jaxpr(step, order, DebugInfo("checkify")))
    changed = {
        "jaxpr": jaxpr,
        "num_consts": len(own) + count,
        "num_carry": size + params["num_carry"],
    }
    given = [*own, *operands[:count], *checks.state(slots), *operands[count:]]
    return checks.replace(slots, scan_p.bind(*given, **{**params, **changed}))


def _custom_call(primitive: Any) -> Callable[..., list[Any]]:
    """The rule of calls with rules of their own, which the results keep.

    The function is applied a second time for its checks; what that computes is not used.
    """

    def rule(checks: Checks, *operands: Any, call: Any, jaxpr: ClosedJaxpr | None) -> list[Any]:
        run_checked(checks, call.function, operands, main=checks.main)
        silent = call.guarded(partial(_silent, main=checks.main))
        return primitive.bind(*operands, call=silent, jaxpr=jaxpr and _silent_program(jaxpr))  # type: ignore[no-any-return]

    return rule


def _silent(function: Callable[..., Any], main: MainTrace | None = None) -> Callable[..., Any]:
    return lambda *args: run_silently(function, args, main)


def _silent_program(program: ClosedJaxpr) -> ClosedJaxpr:
    function, origin = _silent(jaxpr_as_fun(program)), DebugInfo("checkify")
    make = partial(trace_to_jaxpr, function, program.in_avals, origin)
    return cached_on_jaxpr(program, "checkify without checks", make)
