"""Rules of a function for ``checkpoint``: what it saves, and how the rest is computed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    JaxprEqn,
    Primitive,
    PyTreeDef,
    Var,
    convert_constvars,
    describe_function,
    eval_jaxpr,
    is_value,
    primitive,
    rules,
    trace_state,
    tree_flatten,
    tree_unflatten,
    typeof,
    wraps,
)
from bindax_transforms._flat import argument_names, cached_on_jaxpr, check_values, partition, split
from bindax_transforms._flat import merge as merged
from bindax_transforms.autodiff.partial_eval import SplitProgram
from bindax_transforms.batching.batched_jaxpr import vmap_jaxpr
from bindax_transforms.batching.mapped_types import BatchDim
from bindax_transforms.compilation.jit_primitive import jit_p, jit_rules
from bindax_transforms.custom._arguments import check_pair
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr

Params = dict[str, Any]


def recomputed_by(fwd: Callable[..., Any], rem: Callable[..., Any]) -> Callable[..., Any]:
    """The forward rule that is made of one which saves, and one which computes again."""

    @wraps(fwd)
    def forward(*args: Any) -> Any:
        if trace_state.dynamic is None:
            out, saved = _pair(fwd, "fwd", args)
            return out, _pair(rem, "rem", (saved, *args))[1]
        leaves, tree = tree_flatten(args)
        arrays = [is_value(x) for x in leaves]
        fixed, values = partition(arrays, leaves)
        made = _Tracing(
            fwd, rem, lambda values: tree_unflatten(tree, merged(arrays, fixed, values))
        )
        avals = [typeof(x) for x in values]
        first = trace_to_jaxpr(made.forward, avals, DebugInfo("custom_vjp", fwd))
        saved_avals = first.out_avals[made.num_outs :]
        again = trace_to_jaxpr(made.again, [*saved_avals, *avals], DebugInfo("custom_vjp", rem))
        outs = _bind(first, again, made.num_outs, values)
        out, residuals = split(outs, made.num_outs)
        return tree_unflatten(made.out_tree, out), tree_unflatten(made.residual_tree, residuals)

    return forward


def _pair(rule: Callable[..., Any], role: str, args: Sequence[Any]) -> Any:
    pair = rule(*args)
    name = f"{role} rule {describe_function(rule)} of defremat"
    check_pair(pair, name, "(output, residuals)")
    leaves, _ = tree_flatten(pair)
    check_values(leaves, lambda: argument_names(pair, "result"), f"the {name} returned at")
    return pair


class _Tracing:
    """The two rules as functions of flat values, with the structures that they return."""

    out_tree: PyTreeDef
    saved_tree: PyTreeDef
    residual_tree: PyTreeDef
    out_avals: list[Any]

    def __init__(self, fwd: Any, rem: Any, arguments: Callable[[Sequence[Any]], Any]) -> None:
        self.fwd, self.rem, self.arguments = fwd, rem, arguments

    @property
    def num_outs(self) -> int:
        return self.out_tree.num_leaves

    def forward(self, *values: Any) -> list[Any]:
        out, saved = _pair(self.fwd, "fwd", self.arguments(values))
        outs, self.out_tree = tree_flatten(out)
        kept, self.saved_tree = tree_flatten(saved)
        self.out_avals = [typeof(x).strip_weak_type() for x in outs]
        return [*outs, *kept]

    def again(self, *values: Any) -> list[Any]:
        kept, given = split(values, self.saved_tree.num_leaves)
        saved = tree_unflatten(self.saved_tree, kept)
        out, residuals = _pair(self.rem, "rem", (saved, *self.arguments(given)))
        outs, tree = tree_flatten(out)
        found = [typeof(x).strip_weak_type() for x in outs]
        if tree != self.out_tree or found != self.out_avals:
            raise TypeError(
                f"the rem rule {describe_function(self.rem)} of defremat must return the output "
                f"that the fwd rule does, {_shown(self.out_tree, self.out_avals)}, but it "
                f"returned {_shown(tree, found)}."
            )
        rest, self.residual_tree = tree_flatten(residuals)
        return [*outs, *rest]


def _shown(tree: PyTreeDef, avals: Sequence[Any]) -> str:
    return f"{tree} of ({', '.join(aval.str_short() for aval in avals)})"


def _bind(
    first: ClosedJaxpr, again: ClosedJaxpr, num_outs: int, operands: Sequence[Any]
) -> list[Any]:
    """Apply the two programs, whose constants become leading operands of both."""
    (first, one), (again, other) = convert_constvars(first), convert_constvars(again)
    count = len(first.out_avals) - num_outs
    mine, args = split(first.jaxpr.invars, len(one))
    its, saved, rest = split(again.jaxpr.invars, len(other), count)
    shared = [*mine, *(Var(v.aval) for v in its)], [*(Var(v.aval) for v in mine), *its]
    fwd = ClosedJaxpr(first.jaxpr.replace(invars=[*shared[0], *args]))
    rem = ClosedJaxpr(again.jaxpr.replace(invars=[*saved, *shared[1], *rest]))
    operands = [*one, *other, *operands]
    return recomputed_p.bind(*operands, fwd=fwd, rem=rem, num_outs=num_outs)  # type: ignore[no-any-return]


def _whole(
    fwd: ClosedJaxpr, rem: ClosedJaxpr, num_outs: int, *, with_saved: bool = False
) -> ClosedJaxpr:
    """The output and the residuals of ``rem`` from the arguments, with what is saved if asked."""

    def both(*args: Any) -> list[Any]:
        outs, saved = split(eval_jaxpr(fwd.jaxpr, (), *args), num_outs)
        residuals = eval_jaxpr(rem.jaxpr, (), *saved, *args)[num_outs:]
        return [*outs, *residuals, *(saved if with_saved else ())]

    key = "recomputed", rem, num_outs, with_saved
    origin = DebugInfo("custom_vjp")
    return cached_on_jaxpr(fwd, key, lambda: trace_to_jaxpr(both, fwd.in_avals, origin))


def _call(program: ClosedJaxpr) -> Params:
    """The parameters of a call of a program."""
    donated = (False,) * len(program.in_avals)
    plain = {"inline": True, "keep_unused": False, "backend": None}
    return {"jaxpr": program, "name": "recomputed", "donated": donated, **plain}


def _as_call(eqn: JaxprEqn) -> JaxprEqn:
    return eqn.replace(primitive=jit_p, params=_call(_whole(**eqn.params)))


def _vmap(
    axis_size: int,
    operands: Sequence[Any],
    dims: Sequence[BatchDim],
    *,
    fwd: ClosedJaxpr,
    rem: ClosedJaxpr,
    num_outs: int,
) -> tuple[list[Any], list[BatchDim]]:
    first, _ = vmap_jaxpr(fwd, axis_size, dims, True)
    saved: list[BatchDim] = [0] * (len(fwd.out_avals) - num_outs)
    again, _ = vmap_jaxpr(rem, axis_size, [*saved, *dims], True)
    outs = _bind(first, again, num_outs, operands)
    return outs, [0] * len(outs)


def _remat(
    unzip: Callable[..., SplitProgram], in_unknowns: Sequence[bool], eqn: JaxprEqn
) -> tuple[JaxprEqn, JaxprEqn, list[bool]]:
    if any(in_unknowns):
        return jit_rules.remat(unzip, in_unknowns, _as_call(eqn))
    fwd, rem, num_outs = (eqn.params[name] for name in ("fwd", "rem", "num_outs"))
    saved = [Var(aval) for aval in fwd.out_avals[num_outs:]]
    program = _whole(fwd, rem, num_outs, with_saved=True)
    known_eqn = eqn.replace(primitive=jit_p, outvars=[*eqn.outvars, *saved], params=_call(program))
    again_eqn = eqn.replace(primitive=jit_p, invars=[*saved, *eqn.invars], params=_call(rem))
    return known_eqn, again_eqn, [False] * len(eqn.outvars)


def _impl(*operands: Any, **params: Any) -> list[Any]:
    return eval_jaxpr(_whole(**params).jaxpr, (), *operands)


recomputed_p: Primitive = primitive(
    "recomputed",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(lambda *avals, **params: _whole(**params).out_avals),
    rules.jvp(
        lambda primals, tangents, **params: jit_rules.jvp(
            primals, tangents, **_call(_whole(**params))
        ),
        symbolic_zeros=True,
    ),
    rules.vmap(_vmap),
    rules.transpose.absent("its derivative is that of a call"),
    rules.partial_eval(
        lambda trace, tracers, **params: jit_rules.partial_eval(
            trace, tracers, **_call(_whole(**params))
        )
    ),
    rules.partial_eval_jaxpr(
        lambda unknowns, eqn: jit_rules.partial_eval_jaxpr(unknowns, _as_call(eqn))
    ),
    rules.remat(_remat),
    rules.dce(lambda used, eqn: jit_rules.dce(used, _as_call(eqn))),
    rules.lowering["stablehlo"](
        lambda ctx, *values, **params: ctx.inline(_whole(**params), values)
    ),
    multiple_results=True,
)
"""The forward rule of a function with a rule of its own for ``checkpoint``. Parameters: ``fwd``, a
jaxpr from the arguments to ``num_outs`` results and what is saved; ``rem``, one from what is saved
and the arguments to the same results and the residuals; both are without constants."""
