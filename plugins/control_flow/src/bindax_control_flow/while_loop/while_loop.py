"""``while_loop``: a function applied again and again, as long as a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from bindax_control_flow.shared.arguments import describe_type
from bindax_control_flow.shared.carry import Carry, trace_body
from bindax_control_flow.shared.loop_step import step_of
from bindax_control_flow.while_loop.derived_loops import derived
from bindax_control_flow.while_loop.primitive import bind_while
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    api_boundary,
    config,
    describe_function,
    is_value,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
)
from bindax_transforms import check_function, traced_once
from bindax_transforms.extend import StagedProgram, joined, stage_with_references, with_constants

__all__ = ["while_loop"]

R = TypeVar("R")


@api_boundary
def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], R], init_val: Any) -> R:
    """Apply a function to its own result, as long as a condition holds of it.

    Differentiable in forward mode. Reverse mode would have to store the values of an unknown number
    of iterations: use ``scan``, or ``fori_loop`` with bounds that are not traced. Under ``vmap``,
    if the condition differs between elements, the loop runs until the last element is done, and
    the others keep their values.

    Args:
        cond_fun: takes the carry, returns a boolean scalar.
        body_fun: takes the carry, returns the next one: of the same structure, shapes and dtypes.
        init_val: the carry to begin with, a tree of arrays. Python numbers in it take the types
            that the body promotes them to.

    Returns:
        The first carry of which the condition does not hold.

    Raises:
        TypeError: when the condition is no boolean scalar, or the carry changes its structure or
            types; the message names the component.

    >>> from bindax_control_flow import while_loop
    >>> int(while_loop(lambda n: n < 100, lambda n: 2 * n, 3))
    192
    """
    check_function("while_loop", "cond_fun", cond_fun)
    check_function("while_loop", "body_fun", body_fun)
    if config.disable_jit:
        with suppress(ConcretizationTypeError):  # a loop with a traced condition is traced, too
            value = init_val
            while bool(cond_fun(value)):
                value = body_fun(value)
            return value  # type: ignore[no-any-return]
    carry, body = trace_body(Carry.of("while_loop", "init_val", init_val), body_fun)
    condition = _trace_condition(cond_fun, carry)
    return tree_unflatten(carry.tree, run_loop(condition, body, carry.operands()))  # type: ignore[no-any-return]


def run_loop(condition: StagedProgram, body: StagedProgram, carry: Sequence[Any]) -> Sequence[Any]:
    """The loop of two programs on the carry, which may close over values and use references."""
    condition, body = joined([condition, body])
    reads, writes = ([r.load() for r in found] for found in (body.reads, body.targets))
    holds = with_constants(condition.for_loop(), reads)
    if writes:  # which the condition returns as they are
        outvars = holds.jaxpr.outvars[len(writes) :]
        holds = ClosedJaxpr(holds.jaxpr.replace(outvars=outvars), holds.consts)
    step = step_of(with_constants(body.for_loop(), reads))
    return body.store_first(bind_while(derived(holds, step), [*writes, *carry]))


def _trace_condition(cond_fun: Callable[[Any], Any], carry: Carry) -> StagedProgram:
    def flat(*leaves: Any) -> list[Any]:
        result = cond_fun(tree_unflatten(carry.tree, leaves))
        outs, tree = tree_flatten(result)
        if tree.num_nodes != 1 or len(outs) != 1:
            raise TypeError(_not_a_predicate(cond_fun, f"the tree {tree}"))
        if not is_value(result):
            raise unknown_type_error(result, "cond_fun of while_loop returned ")
        aval = typeof(result)
        if aval.shape != () or aval.dtype != np.bool_:
            raise TypeError(_not_a_predicate(cond_fun, describe_type(aval)))
        return outs

    def trace() -> tuple[StagedProgram, Sequence[Any]]:
        staged = stage_with_references(flat, carry.avals, DebugInfo("while_loop", cond_fun))
        if staged.targets:
            raise ValueError(
                f"cond_fun of while_loop, {describe_function(cond_fun)}, writes to a mutable array "
                f"reference of type {staged.targets[0].aval.str_short()}. A condition only reads: "
                f"write in body_fun."
            )
        return staged, staged.program.consts

    return traced_once([cond_fun], ("condition", carry.tree, tuple(carry.avals)), trace)


def _not_a_predicate(cond_fun: Callable[[Any], Any], found: str) -> str:
    return (
        f"cond_fun of while_loop must return a boolean scalar, but "
        f"{describe_function(cond_fun)} returns {found}. Compare, as in x > 0, and join "
        f"several conditions with & or with .all() or .any()."
    )
