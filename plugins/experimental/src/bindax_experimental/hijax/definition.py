"""The kernel's primitives behind classes: each rule asks a method of the object ``prim``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from bindax_core.extend import (
    DebugInfo,
    JaxprEqn,
    LoweringContext,
    Primitive,
    Printer,
    Rule,
    as_array,
    eval_jaxpr,
    float0,
    format_application,
    is_differentiable,
    is_extended,
    primitive,
    rules,
    short_repr,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_experimental.hijax.batches import AxisData
from bindax_lax_basic.extend import convert, result_type
from bindax_transforms import physical_jaxpr, trace_to_jaxpr
from bindax_transforms.extend import NullAccum, ValAccum, log, sum_in
from bindax_transforms.zeros import Zero, is_undef_primal

if TYPE_CHECKING:
    from bindax_experimental.hijax.hi_prim import HiPrim


@cache
def declare(name: str, methods: frozenset[str]) -> Primitive:
    """The primitive of the classes of a name that define the same optional methods."""
    forward = bool(methods & {"jvp", "lin"})
    reverse = "vjp_fwd" in methods
    optional: list[Rule] = [
        rules.jvp(forward_rule, symbolic_zeros=True)
        if forward
        else rules.jvp.absent("the class defines neither jvp nor lin"),
        rules.transpose(transpose_rule, symbolic_zeros=True)
        if "transpose" in methods
        else rules.transpose.absent("the class does not define transpose"),
    ]
    if reverse:
        optional.append(rules.vjp(backward_rule, takes_perturbed=True))
    if "dce" in methods:
        optional.append(rules.dce(_dce))
    return primitive(
        name,
        rules.impl(_impl, on_values=True),
        rules.abstract_eval(_abstract_eval),
        rules.vmap(_vmap),
        rules.effects(_effects),
        rules.pretty_print(_pretty_print),
        rules.physical(_physical),
        rules.expansion(_expansion),
        rules.lowering["stablehlo"](_lowering),
        *optional,
        multiple_results=True,
    )


def _same_type(x: Any, aval: Any) -> bool:
    return bool(x.shape == aval.shape and x.dtype == aval.dtype)


def adopted(x: Any, aval: Any) -> Any:
    """An operand; a weakly typed one in the declared dtype, where it promotes to that."""
    given, dtype = typeof(x), aval.dtype
    if given.dtype == dtype or not given.weak_type or dtype == float0 or is_extended(dtype):
        return x
    return convert(x, dtype, False) if result_type(x, dtype) == dtype else x


def flat_results(prim: HiPrim, method: str, out: Any) -> list[Any]:
    """The leaves of a result, or its tangent, which has the structure of ``out_aval``."""
    flat, tree = tree_flatten(out, is_leaf=lambda x: type(x) is Zero)
    if tree != prim.out_tree:
        raise TypeError(
            f"{method} of {prim!r} must return the structure of out_aval, {prim.out_tree}, but it "
            f"returned {tree}."
        )
    return flat


def expanded(prim: HiPrim, *operands: Any) -> list[Any]:
    """The results, by ``expand``."""
    flat = flat_results(prim, "expand", prim.expand(*tree_unflatten(prim.in_tree, operands)))
    for x, aval in zip(flat, prim.out_avals_flat, strict=True):
        found = typeof(x)
        if not _same_type(found, aval):
            raise TypeError(
                f"expand of {prim!r} must return {aval.str_short()}, which out_aval says, but it "
                f"returned {found.str_short()}."
            )
    return flat


def _impl(*operands: Any, prim: HiPrim) -> list[Any]:
    _check_operands(prim, [typeof(x) for x in operands])
    return [as_array(x) for x in expanded(prim, *operands)]


def _abstract_eval(*avals: Any, prim: HiPrim) -> list[Any]:
    _check_operands(prim, avals)
    return prim.out_avals_flat


def _check_operands(prim: HiPrim, avals: Sequence[Any]) -> None:
    for i, (given, aval) in enumerate(zip(avals, prim.in_avals_flat, strict=True)):
        if not _same_type(given, aval):
            raise TypeError(
                f"operand {i} of {prim!r} must be {aval.str_short()}, which in_avals says, but it "
                f"is {given.str_short()}. Make an object for the types of the operands."
            )


def _effects(*, prim: HiPrim) -> frozenset[Any]:
    return prim.effects


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    return format_application(eqn, eqn.params["prim"].pp_params(), printer)


def _staged(prim: HiPrim, avals: Sequence[Any]) -> Any:
    origin = DebugInfo(f"expand of {type(prim).__name__}")
    return trace_to_jaxpr(partial(expanded, prim), avals, origin)


def _expansion(*avals: Any, prim: HiPrim) -> Any:
    return _staged(prim, avals)


def _lowering(ctx: LoweringContext, *values: Any, prim: HiPrim) -> Any:
    return ctx.inline(_staged(prim, ctx.avals_in), values)


def _physical(avals: Sequence[Any], *operands: Any, prim: HiPrim) -> Sequence[Any]:
    made = physical_jaxpr(_staged(prim, avals))
    return eval_jaxpr(made.jaxpr, made.consts, *operands)


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], *, prim: HiPrim
) -> tuple[list[Any], list[int | None]]:
    args, in_dims = tree_unflatten(prim.in_tree, operands), tree_unflatten(prim.in_tree, dims)
    out, out_dims = prim.batch(AxisData(axis_size), args, in_dims)
    return flat_results(prim, "batch", out), prim.out_tree.flatten_up_to(out_dims)


def forward_rule(
    primals: Sequence[Any], tangents: Sequence[Any], *, prim: HiPrim
) -> tuple[list[Any], list[Any]]:
    """The results and their tangents, by ``jvp`` or by ``lin`` and ``linearized``."""
    args = tree_unflatten(prim.in_tree, primals)
    given = tree_unflatten(prim.in_tree, tangents)
    if "jvp" in prim._defined:
        name, (out, out_tangents) = "jvp", prim.jvp(args, given)
    else:
        nonzeros = tree_unflatten(prim.in_tree, [type(t) is not Zero for t in tangents])
        out, *rest = prim.lin(nonzeros, *args)
        name, out_tangents = "linearized", prim.linearized(rest[0], *rest[2:], *given)
    outs, flat = flat_results(prim, name, out), flat_results(prim, name, out_tangents)
    pairs = zip(flat, prim.out_avals_flat, strict=True)
    return outs, [Zero(aval.tangent_aval()) if _is_zero(t) else t for t, aval in pairs]


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is Zero or typeof(tangent).dtype == float0


def run_forward(
    prim: HiPrim, primals: Sequence[Any], perturbed: Sequence[bool]
) -> tuple[list[Any], tuple[Any, ...], list[bool]]:
    """The results, the residuals, and which results have cotangents, by ``vjp_fwd``."""
    nonzeros = tree_unflatten(prim.in_tree, perturbed)
    found: Any = prim.vjp_fwd(nonzeros, *tree_unflatten(prim.in_tree, primals))
    if not isinstance(found, tuple) or not 2 <= len(found) <= 4:
        raise TypeError(
            f"vjp_fwd of {prim!r} must return a tuple of the result and residuals, but it returned "
            f"{short_repr(found)}."
        )
    out, residuals, *rest = found
    if len(rest) == 2 and "vjp_bwd" not in prim._defined:
        raise TypeError(
            f"vjp_fwd of {prim!r} returned structured residuals, a fourth part, which only vjp_bwd "
            f"takes: define vjp_bwd(res, structured_res, ct, *accums)."
        )
    told = _flags(prim, rest[0] if rest else True)
    pairs = zip(told, prim.out_avals_flat, strict=True)
    flags = [flag and is_differentiable(aval.dtype) for flag, aval in pairs]
    return flat_results(prim, "vjp_fwd", out), (residuals, *rest[1:]), flags


def backward_rule(
    *primals: Any, prim: HiPrim, perturbed: tuple[bool, ...]
) -> tuple[list[Any], Callable[..., list[Any]]]:
    """The results, and the function from their cotangents to those of the operands."""
    outs, kept, nonzeros = run_forward(prim, primals, perturbed)

    def backward(*cotangents: Any) -> list[Any]:
        triples = zip(cotangents, nonzeros, prim.out_avals_flat, strict=True)
        cts = [ct if nonzero else Zero(aval.tangent_aval()) for ct, nonzero, aval in triples]
        found, logs = cotangents_of(prim, kept, cts, perturbed)
        log(logs)
        return found

    return outs, backward


def _flags(prim: HiPrim, nonzeros: Any) -> list[bool]:
    """Flags for the leaves of the result; one flag stands for all."""
    if isinstance(nonzeros, bool):
        return [nonzeros] * len(prim.out_avals_flat)
    return flat_results(prim, "the third part of what vjp_fwd returned", nonzeros)


def cotangents_of(
    prim: HiPrim, kept: Sequence[Any], cotangents: Sequence[Any], perturbed: Sequence[bool]
) -> tuple[list[Any], dict[Any, Any]]:
    """The cotangents of the operands, with None for zeros and where nothing is differentiated.

    With them comes what the rule logs, by names.
    """
    pairs = zip(prim.in_avals_flat, perturbed, strict=True)
    accums = [(ValAccum if flag else NullAccum)(aval.tangent_aval()) for aval, flag in pairs]
    given = tree_unflatten(prim.in_tree, accums)
    logs = prim.vjp_bwd(*kept, tree_unflatten(prim.out_tree, cotangents), *given)
    if logs is not None and not isinstance(logs, dict):
        raise TypeError(
            f"vjp_bwd of {prim!r} adds cotangents to the accumulators that it is given, and "
            f"returns None, or a dict of what it logs, but it returned {type(logs).__name__}. A "
            f"rule that returns cotangents is vjp_bwd_retval."
        )
    return [sum_in(x) for x in accums], logs or {}


def transpose_rule(cotangents: Sequence[Any], *operands: Any, prim: HiPrim) -> list[Any]:
    """The cotangents of the operands that the operation is linear in."""
    given = [ValAccum(x.aval) if is_undef_primal(x) else x for x in operands]
    prim.transpose(tree_unflatten(prim.out_tree, cotangents), *tree_unflatten(prim.in_tree, given))
    return [sum_in(x) for x in given]


def _dce(used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    prim: HiPrim = eqn.params["prim"]
    used_ins, produced, reduced = prim._used_for(tree_unflatten(prim.out_tree, used_outputs))
    if reduced is None:
        raise TypeError(f"dce of {prim!r} returned no operation, but some of its results are used.")
    ins, outs = _selected(prim.in_tree, used_ins), _selected(prim.out_tree, produced)
    return eqn.replace(
        primitive=reduced._primitive,
        invars=[x for x, used in zip(eqn.invars, ins, strict=True) if used],
        outvars=[v for v, used in zip(eqn.outvars, outs, strict=True) if used],
        params={"prim": reduced},
    )


def _selected(tree: Any, flags: Any) -> list[bool]:
    """Flags for the leaves of a structure; one flag stands for all."""
    if isinstance(flags, bool):
        return [flags] * tree.num_leaves
    return [bool(x) for x in tree.flatten_up_to(flags)]
