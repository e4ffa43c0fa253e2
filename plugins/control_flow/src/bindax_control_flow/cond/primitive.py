"""The primitive ``cond``: one of several programs, chosen at run time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from bindax_control_flow.cond.branches import agreeing, split_branches
from bindax_control_flow.shared.flags import kept
from bindax_control_flow.shared.partial_evaluation import unzipped_by
from bindax_control_flow.shared.programs import (
    Programs,
    batch_in_front,
    compared,
    join_consts,
    spread,
)
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    JaxprEqn,
    Primitive,
    Printer,
    PyTreeDef,
    Region,
    ShapedArray,
    Tracer,
    as_array,
    eval_jaxpr,
    format_application,
    is_differentiable,
    primitive,
    rules,
    tree_unflatten,
    typeof,
    zeros_like_aval,
)
from bindax_lax_basic import clamp, convert_element_type, eq, select_n, stop_gradient
from bindax_transforms import (
    check_repeatable,
    dce_jaxpr,
    jvp_jaxpr,
    trace_to_jaxpr,
    vmap_jaxpr,
    with_zeros,
)
from bindax_transforms.extend import (
    log,
    transpose_with_logs,
    varying_beyond,
    varying_of,
    with_varying,
)
from bindax_transforms.zeros import Zero, instantiate_zeros, is_undef_primal

__all__ = ["cond_p"]

INDEX = ShapedArray((), np.int32)
PREDICATE = ShapedArray((), np.bool_)

DEFAULT = "default"
"""In place of the name of a platform: all platforms that are not named."""

_PLATFORMS = {"gpu": ("cuda", "rocm"), "cpu": ("host",)}
"""Names that stand for others too; programs that are interpreted run on the ``host``."""


def _impl(index: Any, *operands: Any, branches: Programs, **which: Any) -> list[Any]:
    avals = tuple([typeof(x) for x in (index, *operands)])
    cond_p.out_avals(avals, {"branches": branches, **which})  # checks the operands
    branch = branches[min(max(int(index), 0), len(branches) - 1)]
    return [as_array(x) for x in eval_jaxpr(branch.jaxpr, branch.consts, *operands)]


def _abstract_eval(index: Any, *avals: Any, branches: Programs, **which: Any) -> list[Any]:
    if compared([index])[0] not in ((PREDICATE, INDEX) if len(branches) == 2 else (INDEX,)):
        raise TypeError(
            f"the index of cond must be int32[], or bool[] for two branches, but it is "
            f"{index.str_short()}."
        )
    given, outs = compared(avals), compared(branches[0].out_avals)
    for i, branch in enumerate(branches):
        if compared(branch.in_avals) != given:
            raise TypeError(f"branch {i} of cond does not take the types of the operands.")
        if compared(branch.out_avals) != outs:
            raise TypeError(f"branch {i} of cond does not return the types of branch 0.")
    along = varying_of([index]) | varying_beyond(avals, branches[0].in_avals)
    found = zip(*[branch.out_avals for branch in branches], strict=True)
    return [with_varying(row[0], along | varying_of(row)) for row in found]


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, branches: Programs, **which: Any
) -> Any:
    index, *primals = primals
    nonzeros = [type(t) is not Zero for t in tangents[1:]]
    found = [jvp_jaxpr(branch, nonzeros)[1] for branch in branches]
    nonzeros_out = [any(flags) for flags in zip(*found, strict=True)]
    made = [jvp_jaxpr(branch, nonzeros, nonzeros_out)[0] for branch in branches]
    joined, consts = join_consts(agreeing(made))
    given = [t for t in tangents[1:] if type(t) is not Zero]
    outs = cond_p.bind(index, *consts, *primals, *given, branches=joined, **which)
    count = len(nonzeros_out)
    return outs[:count], with_zeros(nonzeros_out, outs[count:], branches[0].out_avals)


def _vmap(
    axis_size: int,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    *,
    branches: Programs,
    **which: Any,
) -> tuple[list[Any], list[int | None]]:
    index, *rest = operands
    index_dim, *rest_dims = dims
    if index_dim is not None:
        return _select(axis_size, index, rest, rest_dims, branches)
    found = [vmap_jaxpr(branch, axis_size, rest_dims)[1] for branch in branches]
    batched = [any(d is not None for d in row) for row in zip(*found, strict=True)]
    made = [vmap_jaxpr(branch, axis_size, rest_dims, batched)[0] for branch in branches]
    joined, consts = join_consts(agreeing(made))
    outs = cond_p.bind(index, *consts, *rest, branches=joined, **which)
    return outs, [0 if flag else None for flag in batched]


def _select(
    axis_size: int,
    index: Any,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    branches: Programs,
) -> tuple[list[Any], list[int | None]]:
    """With a mapped condition, all branches run and each element is taken from its own.

    The index is a scalar for each element, so its only axis is the batch axis.
    """
    if typeof(index).dtype == np.bool_:
        index = convert_element_type(index, INDEX.dtype)
    same = _unreached(operands, dims, branches)
    rows = []
    for i, branch in enumerate(branches):
        check_repeatable(branch, "vmap of cond with a mapped predicate runs all branches")
        taken = eq(clamp(0, index, len(branches) - 1), i)
        guarded = [_guarded(axis_size, taken, x, d) for x, d in zip(operands, dims, strict=True)]
        given_dims = [d for _, d in guarded]
        program, _ = vmap_jaxpr(branch, axis_size, given_dims, True)
        rows.append(eval_jaxpr(program.jaxpr, program.consts, *[x for x, _ in guarded]))
    which = convert_element_type(index, np.bool_) if len(branches) == 2 else index
    outs = []
    for cases, unreached in zip(zip(*rows, strict=True), same, strict=True):
        if unreached is not None:
            outs.append(unreached)
        elif len(cases) == 1:
            outs.append(cases[0])
        else:
            outs.append(select_n(spread(which, typeof(cases[0]).shape), *cases))
    return outs, [0 if unreached is None else None for unreached in same]


def _unreached(
    operands: Sequence[Any], dims: Sequence[int | None], branches: Programs
) -> list[Any]:
    """The results that all branches forward from one operand without a batch; None for others."""
    found = []
    for atoms in zip(*[branch.jaxpr.outvars for branch in branches], strict=True):
        places = {
            branch.jaxpr.invars.index(x) if x in branch.jaxpr.invars else None
            for x, branch in zip(atoms, branches, strict=True)
        }
        place = places.pop() if len(places) == 1 else None
        found.append(operands[place] if place is not None and dims[place] is None else None)
    return found


def _guarded(axis_size: int, taken: Any, x: Any, dim: int | None) -> tuple[Any, int | None]:
    """An operand of a branch, of which only the elements that take the branch have tangents.

    Without it, an infinite slope at an element of another branch times a cotangent of zero is nan.
    """
    aval = typeof(x)
    if not isinstance(x, Tracer) or not is_differentiable(aval.dtype):
        return x, dim
    x = batch_in_front(axis_size, x, dim)
    return select_n(spread(taken, typeof(x).shape), stop_gradient(x), x), 0


def _split(in_unknowns: Sequence[bool], eqn: JaxprEqn) -> Any:
    if in_unknowns[0]:
        return None, eqn, [True] * len(eqn.outvars), []
    unzipped = split_branches(eqn.params["branches"], in_unknowns[1:])
    known_eqn, unknown_eqn, residuals = _two_equations(unzipped, in_unknowns, eqn)
    return known_eqn, unknown_eqn, unzipped[-1].out_unknowns, residuals


def _remat(unzip: Any, in_unknowns: Sequence[bool], eqn: JaxprEqn) -> Any:
    if in_unknowns[0]:
        return None, eqn, [True] * len(eqn.outvars)
    unzipped = split_branches(eqn.params["branches"], in_unknowns[1:], unzip)
    known_eqn, again_eqn, _ = _two_equations(unzipped, in_unknowns, eqn)
    _, later, parts = unzipped
    saved = [parts._replace(unknown=branch).saved_results() for branch in later]
    used = [not all(flags) for flags in zip(*saved, strict=True)]
    return known_eqn, _dce(used, again_eqn.replace(outvars=eqn.outvars)), parts.out_unknowns


def _two_equations(unzipped: Any, in_unknowns: Sequence[bool], eqn: JaxprEqn) -> Any:
    """The equations of the known and the unknown branches, and the residuals between them."""
    known, later, split = unzipped
    index, *operands = eqn.invars
    known_eqn, unknown_eqn, residuals = split.split_equation(
        eqn.replace(invars=operands),
        in_unknowns[1:],
        {**eqn.params, "branches": known},
        {**eqn.params, "branches": later},
    )
    known_eqn = known_eqn.replace(invars=[index, *known_eqn.invars])
    unknown_eqn = unknown_eqn.replace(invars=[index, *unknown_eqn.invars])
    return known_eqn, unknown_eqn, residuals


def _transpose(
    cotangents: Sequence[Any], index: Any, *operands: Any, branches: Programs, **which: Any
) -> Any:
    linear = [is_undef_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cotangents]
    made = [Transposed(*transpose_with_logs(branch, linear, nonzero_cts)) for branch in branches]
    ct_avals = [x.aval.cotangent_aval() for x in operands if is_undef_primal(x)]
    alike = [_with_all_results(made, i, ct_avals) for i in range(len(made))]
    joined, consts = join_consts(agreeing(alike))
    residuals = [x for x in operands if not is_undef_primal(x)]
    given = [ct for ct in cotangents if type(ct) is not Zero]
    outs = iter(cond_p.bind(index, *consts, *residuals, *given, branches=joined, **which))
    cts = [next(outs) if flag else None for flag in linear]
    logs = [
        {} if one.logs is None else tree_unflatten(one.logs, islice(outs, one.logs.num_leaves))
        for one in made
    ]
    place = convert_element_type(index, np.int32) if any(logs) else None
    names = dict.fromkeys(name for entries in logs for name in entries)
    log({name: CondSum(place, [entries.get(name) for entries in logs]) for name in names})
    return [None, *cts]


class Transposed(NamedTuple):
    """The transpose of a branch, which cotangents it returns, and the structure of its logs."""

    program: ClosedJaxpr
    nonzero_out: list[bool]
    logs: PyTreeDef | None

    @property
    def log_avals(self) -> list[Any]:
        """The types of what it logs."""
        return self.program.out_avals[sum(self.nonzero_out) :]


class CondSum(NamedTuple):
    """Logs by one name of backward rules in branches of ``cond``.

    Attributes:
        index: which branch was taken.
        branches: for each branch what it logs, zeros when it was not taken; None if it logs nothing
            by this name.
    """

    index: Any
    branches: list[Any]


def _with_all_results(made: Sequence[Transposed], i: int, ct_avals: Sequence[Any]) -> ClosedJaxpr:
    """The program of a branch, with zeros for cotangents and logs that only others have."""
    program, nonzero_out, _ = made[i]
    if all(nonzero_out) and all(one.logs is None for one in made):
        return program
    cut = sum(nonzero_out)

    def function(*operands: Any) -> list[Any]:
        outs = eval_jaxpr(program.jaxpr, program.consts, *operands)
        results = [instantiate_zeros(ct) for ct in with_zeros(nonzero_out, outs[:cut], ct_avals)]
        for k, one in enumerate(made):
            results += outs[cut:] if k == i else map(zeros_like_aval, one.log_avals)
        return results

    return trace_to_jaxpr(function, program.in_avals, DebugInfo("cond"))


def _dce(used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    pruned = [dce_jaxpr(branch.jaxpr, used_outputs) for branch in eqn.params["branches"]]
    used = [any(flags) for flags in zip(*[flags for _, flags in pruned], strict=True)]
    branches = tuple(
        ClosedJaxpr(jaxpr.replace(invars=kept(jaxpr.invars, used))) for jaxpr, _ in pruned
    )
    index, *operands = eqn.invars
    return eqn.replace(
        invars=[index, *kept(operands, used)],
        outvars=kept(eqn.outvars, used_outputs),
        params={**eqn.params, "branches": branches},
    )


def branch_for(platforms: Sequence[str], platform: str) -> int:
    """Find the branch, each for one platform, that belongs to a platform."""
    for i, name in enumerate(platforms):
        if platform == name or platform in _PLATFORMS.get(name, ()):
            return i
    if DEFAULT in platforms:
        return list(platforms).index(DEFAULT)
    raise ValueError(
        f"platform_dependent has no function for the platform {platform}, only for "
        f"{', '.join(platforms)}; add {platform}=..., or default=... for all others."
    )


def _lowering(
    ctx: Any, index: Any, *values: Any, branches: Programs, platforms: tuple[str, ...] = ()
) -> list[Any]:
    if platforms:
        return ctx.inline(branches[branch_for(platforms, ctx.platform)], values)  # type: ignore[no-any-return]

    def region(position: int, branch: ClosedJaxpr) -> Region:
        name = f"cond/branch_{position}_fun"
        return Region((), lambda inner: inner.inline(branch, values, name))

    if ctx.avals_in[0].dtype == np.bool_:
        (index,) = ctx.op("stablehlo.convert", [index], result_avals=[INDEX])
    regions = [region(i, branch) for i, branch in enumerate(branches)]
    return ctx.op("stablehlo.case", [index], regions=regions)  # type: ignore[no-any-return]


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    """The equation; of a predicate, the branch for true comes first."""
    shown = dict(eqn.params)
    if eqn.invars[0].aval.dtype == np.bool_:
        shown["branches"] = tuple(reversed(shown["branches"]))
    return format_application(eqn, shown, printer)


cond_p: Primitive = primitive(
    "cond",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose, symbolic_zeros=True),
    unzipped_by(_split),
    rules.remat(_remat),
    rules.dce(_dce),
    rules.pretty_print(_pretty_print),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Applies ``branches[index]`` to the operands. Operands: ``index``, an int32 scalar in range, or a
boolean for two branches, of which the first is for false; and the branches' arguments. Parameters:
``branches``, programs of one type, without constants; ``platforms``, if given the platform that
each branch is for: then ``index`` is what ``platform_index`` gives, and only the branch of the
platform is compiled."""
