"""Loops made from a loop: its derivative, its batch, its known part, what remains when pruned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from bindax_control_flow.shared.flags import either, fixpoint, kept
from bindax_control_flow.shared.loop_step import (
    DerivedStep,
    Step,
    batch_dims,
    batched,
    differentiated,
    pruned,
    step_of,
)
from bindax_control_flow.shared.programs import spread
from bindax_core.extend import ClosedJaxpr, DebugInfo, Var, convert_constvars, eval_jaxpr, typeof
from bindax_lax_basic import reduce_or, select_n
from bindax_transforms import (
    cached_on_jaxpr,
    check_repeatable,
    dce_jaxpr,
    partial_eval_jaxpr,
    split,
    trace_to_jaxpr,
    vmap_jaxpr,
    without_effects,
)

T = TypeVar("T")
Flags = list[bool]
Dims = Sequence[int | None]


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

    @property
    def body(self) -> Step:
        """The body, a step without sequences."""
        return Step(self.body_jaxpr, self.body_nconsts, len(self.body_jaxpr.jaxpr.outvars))

    def split(self, operands: Sequence[T]) -> list[list[T]]:
        """The condition's constants, the body's constants, and the carry."""
        return split(operands, self.cond_nconsts, self.body_nconsts)


class Derived(NamedTuple):
    """A loop made from another one, and the values of constants that it has before those."""

    loop: Loop
    cond_consts: list[Any]
    body_consts: list[Any]


def derived(condition: ClosedJaxpr, body: DerivedStep[Step], cond_count: int = 0) -> Derived:
    """The loop of a body and a condition, which takes so many operands besides the carry."""
    condition, consts = convert_constvars(condition)
    step = body.step
    loop = Loop(condition, step.jaxpr, len(consts) + cond_count, step.num_consts)
    return Derived(loop, list(consts), body.consts)


def kept_with(loop: Loop, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Derive something from a loop once, and keep it as long as the program of its body."""
    whole = "while", loop.cond_jaxpr, loop.cond_nconsts, loop.body_nconsts, key
    return cached_on_jaxpr(loop.body_jaxpr, whole, make)


# ------------------------------------------------------------------------- jvp and vmap


def jvp_loop(loop: Loop, consts: Flags, carry: Flags) -> tuple[Derived, Flags]:
    """The loop that carries tangents after the primals, and takes those of constants after these.

    The flags tell which constants of the body, and which components of the carry, have one at
    first; also given is which components of the carry have one in the end.
    """
    body = differentiated(loop.body, consts + carry)
    # The condition has no derivative: it looks at no tangent.
    cond = loop.cond_jaxpr.jaxpr
    unused = [Var(aval) for aval in body.step.carry_avals[len(carry) :]]
    condition = ClosedJaxpr(cond.replace(invars=[*cond.invars, *unused]))
    return derived(condition, body, loop.cond_nconsts), body.carry


class Batched(NamedTuple):
    """A loop over a batch.

    Attributes:
        made: the loop; where each element has its own condition, as ``_masked_loop`` says.
        carry: which components of the carry have a batch axis, in front.
        condition: the condition on a batch, where each element has its own.
    """

    made: Derived
    carry: Flags
    condition: ClosedJaxpr | None


def vmap_loop(loop: Loop, size: int, cond_dims: Dims, body_dims: Dims, carry: Flags) -> Batched:
    """The loop over a batch, from which operands have one."""
    body = batched(loop.body, size, [*body_dims, *batch_dims(carry)])
    condition, (dim,) = vmap_jaxpr(loop.cond_jaxpr, size, [*cond_dims, *batch_dims(body.carry)])
    if dim is None:
        return Batched(derived(condition, body, loop.cond_nconsts), body.carry, None)
    # Elements end at different times, so all that the body changes differs between them.
    jaxpr = loop.body_jaxpr.jaxpr
    pairs = zip(jaxpr.invars[loop.body_nconsts :], jaxpr.outvars, strict=True)
    carry = either(body.carry, [taken is not returned for taken, returned in pairs])
    body = batched(loop.body, size, [*body_dims, *batch_dims(carry)])
    condition, _ = vmap_jaxpr(loop.cond_jaxpr, size, [*cond_dims, *batch_dims(body.carry)])
    return Batched(_masked_loop(loop, condition, body), body.carry, condition)


def _masked_loop(loop: Loop, condition: ClosedJaxpr, body: DerivedStep[Step]) -> Derived:
    """A loop until the last element is done, whose carry begins with which elements go on.

    Elements that are done keep their values. The condition is evaluated once in an iteration, on
    the new carry; its constants come before those of the body.
    """
    step = body.step
    first, second = loop.cond_nconsts, loop.cond_nconsts + loop.body_nconsts
    (going_aval,) = condition.out_avals
    consts, carry_avals = split(step.jaxpr.in_avals, step.num_consts)
    avals = [*condition.in_avals[:first], *consts[len(body.consts) :], going_aval, *carry_avals]

    def masked(*values: Any) -> list[Any]:
        going, *old = values[second:]
        new = eval_jaxpr(step.jaxpr.jaxpr, (), *body.consts, *values[first:second], *old)
        kept = [
            select_n(spread(going, typeof(x).shape), x, y) if flag else x
            for x, y, flag in zip(old, new, body.carry, strict=True)
        ]
        return [*eval_jaxpr(condition.jaxpr, condition.consts, *values[:first], *kept), *kept]

    def any_goes_on(going: Any, *carry: Any) -> list[Any]:
        return [reduce_or(going, (0,))]

    origin = DebugInfo("vmap")
    new = step_of(trace_to_jaxpr(masked, avals, origin), second)
    return derived(trace_to_jaxpr(any_goes_on, avals[second:], origin), new)


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
    cond_consts, looked_at = split(cond_used, loop.cond_nconsts)
    body, body_used, carry = pruned(loop.body, either(used_outputs, looked_at))
    condition = ClosedJaxpr(cond.replace(invars=kept(cond.invars, cond_consts + carry)))
    made = Loop(condition, body.jaxpr, sum(cond_consts), body.num_consts)
    return made, cond_consts + body_used
