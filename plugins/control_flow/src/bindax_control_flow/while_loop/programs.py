"""Loops made from a loop: its derivative, its batch, its known part, what remains when pruned.

A component of the carry has a tangent, a batch axis or an unknown value if it starts with one or
the body gives it one in some iteration; so the body is transformed until nothing is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from bindax_control_flow.shared.lists import either, fixpoint, kept
from bindax_control_flow.shared.programs import with_results
from bindax_control_flow.shared.values import spread
from bindax_core.extend import ClosedJaxpr, Origin, Var, eval_jaxpr, hoist_consts, typeof
from bindax_lax_basic import reduce_or, select_n
from bindax_transforms import (
    check_repeatable,
    dce_jaxpr,
    jvp_jaxpr,
    partial_eval_jaxpr,
    trace_to_jaxpr,
    vmap_jaxpr,
    without_effects,
)

T = TypeVar("T")
Flags = list[bool]
BatchDims = list[int | None]


class Loop(NamedTuple):
    """The parameters of ``while``, whose operands are both kinds of constants and the carry.

    Attributes:
        cond_jaxpr: from its constants and the carry to a boolean.
        body_jaxpr: from its constants and the carry to the carry.
        cond_nconsts: how many constants the condition has.
        body_nconsts: how many constants the body has.
    """

    cond_jaxpr: ClosedJaxpr
    body_jaxpr: ClosedJaxpr
    cond_nconsts: int
    body_nconsts: int

    @property
    def carry_avals(self) -> list[Any]:
        """The types of the carry."""
        return self.body_jaxpr.in_avals[self.body_nconsts :]

    def split(self, operands: Sequence[T]) -> tuple[list[T], list[T], list[T]]:
        """The condition's constants, the body's constants, and the carry."""
        first, second = self.cond_nconsts, self.cond_nconsts + self.body_nconsts
        return list(operands[:first]), list(operands[first:second]), list(operands[second:])


class Derived(NamedTuple):
    """A loop made from another one, and the values of constants that it has before those."""

    loop: Loop
    cond_consts: list[Any]
    body_consts: list[Any]


def derived(condition: ClosedJaxpr, body: ClosedJaxpr, cond_count: int, body_count: int) -> Derived:
    """The loop of two programs that may have constants, which become operands of the loop.

    The counts are of operands besides the carry, to whose types the body's results are converted.
    """
    body = with_results(body, body.in_avals[body_count:])
    condition, cond_consts = hoist_consts(condition)
    body, body_consts = hoist_consts(body)
    counts = len(cond_consts) + cond_count, len(body_consts) + body_count
    return Derived(Loop(condition, body, *counts), cond_consts, body_consts)


def remembered(loop: Loop, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Derive something from a loop once, and keep it as long as the program of its body."""
    cache = loop.body_jaxpr.cache
    full_key = ("while", loop.cond_jaxpr, loop.cond_nconsts, loop.body_nconsts, key)
    if full_key not in cache:
        cache[full_key] = make()
    return cache[full_key]  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------- jvp


def carry_with_tangents(loop: Loop, consts: Flags, carry: Flags) -> Flags:
    """Find which components of the carry get a tangent, from which operands have one."""
    return fixpoint(lambda flags: jvp_jaxpr(loop.body_jaxpr, consts + flags, flags)[1], carry)


def jvp_loop(loop: Loop, consts: Flags, carry: Flags) -> Derived:
    """The loop that carries tangents after the primals, and takes those of constants after these.

    The flags tell which constants of the body, and which components of the carry, have one.
    """
    made, _ = jvp_jaxpr(loop.body_jaxpr, consts + carry, carry)
    invars = made.jaxpr.invars
    num_consts, num_primals = loop.body_nconsts, len(loop.body_jaxpr.in_avals)
    dots = num_primals + sum(consts)
    order = [
        *invars[:num_consts],
        *invars[num_primals:dots],
        *invars[num_consts:num_primals],
        *invars[dots:],
    ]
    body = ClosedJaxpr(made.jaxpr.replace(invars=order), made.consts)
    # The condition has no derivative: it looks at no tangent.
    cond = loop.cond_jaxpr.jaxpr
    unused = [Var(v.aval) for v in invars[dots:]]
    condition = ClosedJaxpr(cond.replace(invars=[*cond.invars, *unused]))
    return derived(condition, body, loop.cond_nconsts, num_consts + sum(consts))


# ------------------------------------------------------------------------------------ vmap


class Batching(NamedTuple):
    """The mapping of a loop, ``masked`` where each element has its own condition.

    The batch axes of constants, and which components of the carry have one, in front.
    """

    axis_size: int
    cond_dims: tuple[int | None, ...]
    body_dims: tuple[int | None, ...]
    carry: tuple[bool, ...]
    masked: bool


def batching(
    loop: Loop, axis_size: int, cond_dims: BatchDims, body_dims: BatchDims, carry: Flags
) -> Batching:
    """Find what gets a batch axis, from which operands have one."""

    def grow(flags: Flags) -> Flags:
        dims = body_dims + batch_dims(flags)
        _, out_dims = vmap_jaxpr(loop.body_jaxpr, axis_size, dims, flags)
        return [d is not None for d in out_dims]

    carry = fixpoint(grow, carry)
    _, (dim,) = vmap_jaxpr(loop.cond_jaxpr, axis_size, cond_dims + batch_dims(carry))
    if dim is not None:
        # Elements end at different times, so all that the body changes differs between them.
        jaxpr = loop.body_jaxpr.jaxpr
        pairs = zip(jaxpr.invars[loop.body_nconsts :], jaxpr.outvars, strict=True)
        changed = [taken is not returned for taken, returned in pairs]
        carry = fixpoint(grow, either(carry, changed))
    return Batching(axis_size, tuple(cond_dims), tuple(body_dims), tuple(carry), dim is not None)


def batch_dims(flags: Sequence[bool]) -> BatchDims:
    """The batch axes of values that have it in front, or have none."""
    return [0 if flag else None for flag in flags]


def mapped_condition(loop: Loop, how: Batching) -> ClosedJaxpr:
    """The condition on a batch."""
    dims = [*how.cond_dims, *batch_dims(how.carry)]
    return vmap_jaxpr(loop.cond_jaxpr, how.axis_size, dims)[0]


def vmap_loop(loop: Loop, how: Batching) -> Derived:
    """The loop over a batch; ``masked``, it is as ``_masked_loop`` says."""
    dims = [*how.body_dims, *batch_dims(how.carry)]
    body, _ = vmap_jaxpr(loop.body_jaxpr, how.axis_size, dims, how.carry)
    condition = mapped_condition(loop, how)
    if how.masked:
        return _masked_loop(loop, condition, body, how)
    return derived(condition, body, loop.cond_nconsts, loop.body_nconsts)


def _masked_loop(loop: Loop, condition: ClosedJaxpr, body: ClosedJaxpr, how: Batching) -> Derived:
    """A loop until the last element is done, whose carry begins with which elements go on.

    Elements that are done keep their values. The condition is evaluated once in an iteration, on
    the new carry; its constants come before those of the body.
    """
    first, second = loop.cond_nconsts, loop.cond_nconsts + loop.body_nconsts
    (going_aval,) = condition.out_avals
    carry_avals = [going_aval, *body.in_avals[loop.body_nconsts :]]

    def step(*values: Any) -> list[Any]:
        going, *old = values[second:]
        new = eval_jaxpr(body.jaxpr, body.consts, *values[first:second], *old)
        kept = [
            select_n(spread(going, typeof(x).shape), x, y) if flag else x
            for x, y, flag in zip(old, new, how.carry, strict=True)
        ]
        return [*eval_jaxpr(condition.jaxpr, condition.consts, *values[:first], *kept), *kept]

    avals = [*condition.in_avals[:first], *body.in_avals[: loop.body_nconsts], *carry_avals]
    origin = Origin("vmap")
    any_goes_on = trace_to_jaxpr(lambda going, *_: [reduce_or(going, (0,))], carry_avals, origin)
    return derived(any_goes_on, trace_to_jaxpr(step, avals, origin), 0, second)


# --------------------------------------------------------- partial evaluation, elimination


class KnownLoop(NamedTuple):
    """The part of a loop that can run when some operands are not known yet.

    Attributes:
        loop: from the known operands to the known components of the carry.
        takes: which operands of the whole loop it takes; none that becomes unknown.
        unknown: which components of the carry are not known.
        later: the whole loop, for what is not known, without the effects of the known one.
    """

    loop: Loop
    takes: Flags
    unknown: Flags
    later: Loop


def known_loop(loop: Loop, unknowns: Flags) -> KnownLoop | None:
    """The known part, or None when nothing is known or the number of iterations is not."""
    cond_unknowns, body_unknowns, carry = loop.split(unknowns)

    def grow(flags: Flags) -> Flags:
        return partial_eval_jaxpr(loop.body_jaxpr, body_unknowns + flags, flags).out_unknowns

    carry = fixpoint(grow, carry)
    condition = partial_eval_jaxpr(loop.cond_jaxpr, cond_unknowns + carry)
    if all(carry) or condition.out_unknowns[0]:
        return None
    body = partial_eval_jaxpr(loop.body_jaxpr, body_unknowns + carry, carry)
    num_known = len(carry) - sum(carry)
    num_residuals = len(body.known.out_avals) - num_known
    # The unknown part computes again what it needs of the known one; nothing is saved for it.
    jaxpr, _ = dce_jaxpr(body.known.jaxpr, [True] * num_known + [False] * num_residuals)
    counts = len(cond_unknowns) - sum(cond_unknowns), len(body_unknowns) - sum(body_unknowns)
    known = Loop(condition.known, ClosedJaxpr(jaxpr), *counts)
    takes = [not flag for flag in (*cond_unknowns, *body_unknowns, *carry)]
    later = loop if body.unknown.jaxpr.effects else _repeated(loop)
    return KnownLoop(known, takes, carry, later)


def _repeated(loop: Loop) -> Loop:
    """A loop that runs a second time, so that its effects happened before."""
    programs = [without_effects(program) for program in (loop.cond_jaxpr, loop.body_jaxpr)]
    for program in programs:
        check_repeatable(program, "a derivative of while_loop runs it a second time")
    return loop._replace(cond_jaxpr=programs[0], body_jaxpr=programs[1])


def pruned_loop(loop: Loop, used_outputs: Flags) -> tuple[Loop, Flags]:
    """A loop with no more in its carry than some results need; and which operands it takes."""
    cond, cond_used = dce_jaxpr(loop.cond_jaxpr.jaxpr, [True])

    def grow(flags: Flags) -> Flags:
        return dce_jaxpr(loop.body_jaxpr.jaxpr, flags)[1][loop.body_nconsts :]

    looked_at = cond_used[loop.cond_nconsts :]
    carry = fixpoint(grow, either(used_outputs, looked_at))
    body, body_used = dce_jaxpr(loop.body_jaxpr.jaxpr, carry)
    cond_consts, body_consts = cond_used[: loop.cond_nconsts], body_used[: loop.body_nconsts]
    condition = cond.replace(invars=kept(cond.invars, cond_consts + carry))
    body = body.replace(invars=kept(body.invars, body_consts + carry))
    counts = sum(cond_consts), sum(body_consts)
    pruned = Loop(ClosedJaxpr(condition), ClosedJaxpr(body), *counts)
    return pruned, cond_consts + body_consts + carry
