"""The arguments of ``scan``, checked, and its function, traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bindax_control_flow.scan.loop import slice_aval
from bindax_control_flow.shared.arguments import as_integer, check_returned, check_values
from bindax_control_flow.shared.carry import Carry
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Dimension,
    PyTreeDef,
    Tracer,
    convert_constvars,
    describe_function,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_transforms import argument_names, split, traced_once
from bindax_transforms.extend import StagedProgram, stage_with_references


def common_length(name: str, xs: Any) -> int | None:
    """The size of the first axis of all leaves; None without any."""
    check_values(name, "xs", xs)
    leaves, names = tree_flatten(xs)[0], argument_names(xs, "xs")
    lengths: dict[int, str] = {}
    for i, x in enumerate(leaves):
        shape = typeof(x).shape
        if not shape:
            raise ValueError(
                f"{name} runs along the first axis of xs, but {names[i]} has none: it is "
                f"{typeof(x).str_short()}. Let the function close over what is the same in "
                f"all steps."
            )
        lengths.setdefault(shape[0], names[i])
    if len(lengths) > 1:
        listed = " and ".join(f"{path} has {length}" for length, path in lengths.items())
        raise ValueError(
            f"the arrays of xs must have first axes of one length in {name}, but {listed}."
        )
    return next(iter(lengths), None)


def checked_length(xs: Any, length: Any) -> int:
    """The number of steps, from the sequences and the argument ``length``."""
    found = common_length("scan", xs)
    if length is None:
        if found is None:
            raise ValueError("scan needs length=..., because xs holds no arrays.")
        return found
    if isinstance(length, Tracer):
        raise ConcretizationTypeError(
            f"the length of scan must be known while tracing, but it is traced: "
            f"{length.aval.str_short()}. Make it static with static_argnums, or use while_loop or "
            f"fori_loop for a number of steps that is not known."
        )
    symbolic = isinstance(length, Dimension)
    given: Any = length if symbolic else as_integer("scan", "length", length)
    if given < 0:
        raise ValueError(f"the length of scan must not be negative, but it is {given}.")
    if found is not None and given != found:
        raise ValueError(
            f"scan was given length={given}, but {argument_names(xs, 'xs')[0]} has the length "
            f"{found}."
        )
    return given  # type: ignore[no-any-return]


def checked_unroll(unroll: Any, length: int) -> int:
    """Check how many steps one round of a compiled loop makes."""
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    count = as_integer("scan", "unroll", unroll, "an integer or a bool")
    if count < 0:
        raise ValueError(
            f"unroll of scan must not be negative, but it is {count}; True unrolls all steps."
        )
    return max(count, 1)  # 0 is False


def trace_step(
    f: Callable[..., Any], init: Any, xs: Any
) -> tuple[ClosedJaxpr, list[Any], StagedProgram, Carry, PyTreeDef]:
    """Trace one step, if ``f`` may see other values of what it closes over than before.

    Gives the step, its constants, its program with references, the carry to begin with, of the
    types that a step keeps, and the structure of the stacked results.
    """
    carry = Carry.of("scan", "init", init)
    sequences, xs_tree = tree_flatten(xs)
    x_avals = [slice_aval(typeof(x)) for x in sequences]
    y_trees: list[PyTreeDef] = []

    def flat(*values: Any) -> list[Any]:
        c, x = split(values, len(carry.leaves))
        result = f(tree_unflatten(carry.tree, c), tree_unflatten(xs_tree, x))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(
                f"the function of scan must return a pair (carry, y), but "
                f"{describe_function(f)} returned {result!r:.80} of type "
                f"{type(result).__name__}. Return (carry, None) when nothing is stacked."
            )
        carry_out, y = result
        leaves = carry.flatten(f, carry_out)
        ys, y_tree = tree_flatten(y)
        check_returned("scan", f, "y", y, ys)
        y_trees.append(y_tree)
        return [*leaves, *ys]

    def trace() -> tuple[Any, Sequence[Any]]:
        origin = DebugInfo("scan", f)
        settled, staged = carry.settled(
            f, lambda avals: stage_with_references(flat, [*avals, *x_avals], origin)
        )
        jaxpr, consts = convert_constvars(staged.for_loop())
        return (jaxpr, consts, staged, settled.avals, y_trees[-1]), consts

    key = ("scan", carry.tree, xs_tree, tuple(carry.avals), tuple(x_avals))
    jaxpr, consts, staged, avals, y_tree = traced_once([f], key, trace)
    return jaxpr, list(consts), staged, replace(carry, avals=avals), y_tree
