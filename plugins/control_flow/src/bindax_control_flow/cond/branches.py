"""Branches: the programs of a conditional, made to take and return the same types.

Each transformation of a branch can change what it takes (its constants, its residuals) and what
it returns (which results have tangents, a batch axis); the functions here make the branches of
one conditional agree again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_control_flow.shared.arguments import (
    check_returned,
    structure_difference,
    structure_paths,
)
from bindax_control_flow.shared.programs import Programs, with_results
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    PyTreeDef,
    Var,
    config,
    describe_function,
    eval_jaxpr,
    tree_flatten,
    tree_unflatten,
    zeros_like_aval,
)
from bindax_lax_basic.extend import is_integer, kind_of
from bindax_transforms import partial_eval_jaxpr, trace_to_jaxpr
from bindax_transforms.extend import (
    StagedProgram,
    joined,
    same_sums,
    stage_with_references,
    varying_of,
    with_varying,
    without_varying,
)


def trace_branches(
    name: str,
    functions: Sequence[Callable[..., Any]],
    operands: tuple[Any, ...],
    avals: Sequence[Any],
) -> tuple[list[StagedProgram], PyTreeDef]:
    """The programs of the branch functions, whose results agree in structure and type.

    All take the values of the same references, and return those of the same.
    """
    _, in_tree = tree_flatten(operands)
    traced = []
    trees: list[PyTreeDef] = []
    for function in functions:

        def flat(*leaves: Any, function: Callable[..., Any] = function) -> list[Any]:
            result = function(*tree_unflatten(in_tree, leaves))
            outs, tree = tree_flatten(result)
            check_returned(name, function, "output", result, outs)
            trees.append(tree)
            return outs

        traced.append(stage_with_references(flat, avals, DebugInfo(name, function)))
    for function, tree in zip(functions[1:], trees[1:], strict=True):
        if tree != trees[0]:
            raise TypeError(
                f"{name} branch outputs must have the same pytree structure, but "
                f"{describe_function(functions[0])} returns {trees[0]} and "
                f"{describe_function(function)} returns {tree}"
                f"{structure_difference('output', trees[0], tree)}."
            )
    return joined(_agreeing_results(name, functions, traced, trees[0])), trees[0]


def _agreeing_results(
    name: str, functions: Sequence[Any], traced: Sequence[StagedProgram], tree: PyTreeDef
) -> list[StagedProgram]:
    count = tree.num_leaves  # values of references come after the results
    rows = list(zip(*[staged.program.out_avals[:count] for staged in traced], strict=True))
    wanted = []
    for i, row in enumerate(rows):
        common = _common_type(row)
        if common is None:
            place = structure_paths("output", tree)[i]
            listed = "; ".join(
                f"{describe_function(function)} returns {aval.str_short()}"
                for function, aval in zip(functions, row, strict=True)
            )
            raise TypeError(
                f"the branches of {name} must return the same types, but at {place} "
                f"{listed}. Convert with .astype, or broadcast, in one of them."
            )
        wanted.append(common)
    return [_with_results(staged, wanted) for staged in traced]


def _with_results(staged: StagedProgram, avals: list[Any]) -> StagedProgram:
    """A program whose results, without the values of references, have the given types."""
    carried = staged.program.out_avals[len(avals) :] if staged.references else []
    return staged.with_program(with_results(staged.program, avals + carried))


def _common_type(avals: Sequence[Any]) -> Any:
    """The type that all can be converted to without a promotion, or None; weak types yield.

    It is weak where all are. In the modes of JAX, types that differ in nothing else have the
    first one's: of the false branch, or of the first of a switch. It varies where one does.
    """
    if not same_sums(avals):
        return None
    along = varying_of(avals)
    if along:
        common = _common_type([without_varying(aval) for aval in avals])
        return None if common is None else with_varying(common, along)
    first = avals[0]
    if all(aval == first for aval in avals):
        return first
    if any(getattr(aval, "shape", None) != first.shape for aval in avals):
        return None
    strong = {aval.dtype for aval in avals if not aval.weak_type}
    if len(strong) > 1:
        return None
    weak = [aval.dtype for aval in avals if aval.weak_type]
    dtype = strong.pop() if strong else weak[0]
    # A weak dtype yields only to one of its kind: 1 does not become 1.0, nor 0.5 an integer.
    if len({is_integer(other) or kind_of(other) for other in (dtype, *weak)}) > 1:
        return None
    weak_type = all(aval.weak_type for aval in avals)
    if config.enable_x64 != "explicit" and all(aval.dtype == dtype for aval in avals):
        weak_type = first.weak_type  # as in JAX, whose modes these are
    return first.update(dtype=dtype, weak_type=weak_type)


def agreeing(programs: Sequence[ClosedJaxpr]) -> list[ClosedJaxpr]:
    """Programs of the same shapes and dtypes, whose results agree in being weakly typed.

    A transformation can leave a result weakly typed in one branch alone.
    """
    rows = zip(*[program.out_avals for program in programs], strict=True)
    wanted = [row[0] if len(set(row)) == 1 else _common_type(row) for row in rows]
    return [with_results(program, wanted) for program in programs]


def split_branches(
    branches: Programs, in_unknowns: Sequence[bool], unzip: Any = partial_eval_jaxpr
) -> tuple[Programs, Programs, Any]:
    """Unzip all branches by ``unzip``, so that they share known results and residuals.

    Gives the branches of a conditional from the known operands to the known results and the
    computed residuals; of one from all residuals and the unknown operands to the unknown results;
    and how operands, residuals and results divide, the same for all branches.
    """
    first = [unzip(branch, in_unknowns) for branch in branches]
    out_unknowns = [any(flags) for flags in zip(*[s.out_unknowns for s in first], strict=True)]
    splits = [unzip(branch, in_unknowns, out_unknowns) for branch in branches]
    slots_of = _slots_of(splits)
    # Residuals of one type take the same place in all branches.
    slots = list(dict.fromkeys(slot for mine in slots_of for slot in mine))
    known_programs, unknown_programs = [], []
    for split, mine in zip(splits, slots_of, strict=True):
        known_programs.append(_known_program(split, mine, slots))
        residual_vars = dict(zip(mine, split.unknown.jaxpr.invars, strict=False))
        rest = split.unknown.jaxpr.invars[len(mine) :]
        invars = [residual_vars.get(slot) or Var(slot[1]) for slot in slots]
        jaxpr = split.unknown.jaxpr.replace(invars=[*invars, *rest])
        unknown_programs.append(ClosedJaxpr(jaxpr))
    split = splits[0]._replace(
        residual_avals=[slot[1] for slot in slots],
        forwarded=[slot[2] if slot[0] == "operand" else None for slot in slots],
    )
    return tuple(agreeing(known_programs)), tuple(agreeing(unknown_programs)), split


Slot = tuple[str, Any, int]


def _slots_of(splits: Sequence[Any]) -> list[list[Slot]]:
    """For each branch, a name for each of its residuals that other branches can share."""
    named = []
    for split in splits:
        counts: dict[Any, int] = {}
        mine: list[Slot] = []
        for aval, source in zip(split.residual_avals, split.forwarded, strict=True):
            if source is not None:
                mine.append(("operand", aval, source))
            else:
                counts[aval] = counts.get(aval, 0) + 1
                mine.append(("computed", aval, counts[aval]))
        named.append(mine)
    return named


def _known_program(split: Any, mine: list[Slot], slots: list[Slot]) -> ClosedJaxpr:
    """A branch's known part, with zeros for the residuals that only other branches compute."""
    num_known = sum(not unknown for unknown in split.out_unknowns)
    computed = [slot for slot in mine if slot[0] == "computed"]

    def function(*operands: Any) -> list[Any]:
        outs = eval_jaxpr(split.known.jaxpr, split.known.consts, *operands)
        values = dict(zip(computed, outs[num_known:], strict=True))
        residuals = [
            values[slot] if slot in values else zeros_like_aval(slot[1])
            for slot in slots
            if slot[0] == "computed"
        ]
        return [*outs[:num_known], *residuals]

    return trace_to_jaxpr(function, split.known.in_avals, DebugInfo("cond"))
