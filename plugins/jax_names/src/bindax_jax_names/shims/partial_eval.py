"""``jax.interpreters.partial_eval``: staging, and the removal of what is not used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from bindax_core.extend import ClosedJaxpr, DebugInfo, Jaxpr, full_raise, new_main
from bindax_jax_names.shims._tables import RuleMapping
from bindax_jax_names.shims.linear_util import WrappedFun
from bindax_transforms.autodiff.partial_eval import PartialEvalTrace
from bindax_transforms.autodiff.partial_eval import PartialEvalTracer as JaxprTracer
from bindax_transforms.autodiff.partial_eval import dce_jaxpr as without_unused
from bindax_transforms.staging.jaxpr_trace import JaxprBuilder, trace_to_jaxpr
from bindax_transforms.staging.jaxpr_trace import JaxprTracer as DynamicJaxprTracer

__all__ = [
    "DynamicJaxprTracer",
    "JaxprTracer",
    "PartialVal",
    "abstract_eval_fun",
    "close_jaxpr",
    "convert_constvars_jaxpr",
    "dce_jaxpr",
    "dce_rules",
    "move_binders_to_back",
    "move_binders_to_front",
    "prune_closed_jaxpr_outputs",
    "trace_to_jaxpr_dynamic",
    "trace_to_jaxpr_nounits",
]

dce_rules: Final = RuleMapping("dce", lambda primitive, rule: rule)
partial_eval_jaxpr_custom_rules: Final = RuleMapping(
    "partial_eval_jaxpr_custom", lambda p, rule: rule
)
custom_partial_eval_rules: Final = RuleMapping("custom_partial_eval", lambda p, rule: rule)


def trace_to_jaxpr_dynamic(
    fun: WrappedFun, in_avals: Sequence[Any], **options: Any
) -> tuple[Jaxpr, list[Any], list[Any]]:
    """The program of a flat function: the jaxpr, the types of its results and its constants."""
    closed = trace_to_jaxpr(fun.call_wrapped, list(in_avals), DebugInfo("trace_to_jaxpr", fun.f))
    return closed.jaxpr, closed.out_avals, closed.consts


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool]]:
    """The program without what the used results do not need; also which arguments it uses.

    What is not needed inside of loops and branches is removed, too.

    >>> import bindax
    >>> loop = lambda x: bindax.lax.fori_loop(0, 3, lambda i, c: (c[0] * 2, c[1] + 1), (x, x))
    >>> program = bindax.make_jaxpr(loop)(1.0).jaxpr
    >>> less, used = dce_jaxpr(program, [True, False])
    >>> str(program).count(" = add "), str(less).count(" = add "), len(less.outvars), used
    (2, 0, 1, [True])
    """
    plain = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    found, used = without_unused(plain, used_outputs)
    keep = [instantiate] * len(used) if isinstance(instantiate, bool) else instantiate
    used = [u or k for u, k in zip(used, keep, strict=True)]
    invars = [x for x, is_used in zip(found.invars, used, strict=True) if is_used]
    return found.replace(invars=invars), used


class PartialVal(NamedTuple):
    """A value that is known, or the type of one that is not."""

    aval: Any
    value: Any

    @classmethod
    def known(cls, value: Any) -> PartialVal:
        """A value that is known."""
        return cls(None, value)

    @classmethod
    def unknown(cls, aval: Any) -> PartialVal:
        """The type of a value that is not known."""
        return cls(aval, None)

    def is_known(self) -> bool:
        """Tell whether the value is known."""
        return self.aval is None


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """Evaluate what known arguments suffice for, and stage the rest.

    Returns:
        The program of the rest, the results as far as they are known, and the program's constants.
    """
    builder = JaxprBuilder()
    with new_main(PartialEvalTrace, builder, origin=DebugInfo("partial evaluation", fun.f)) as main:
        trace: Any = main.trace
        args = [p.value if p.is_known() else trace.new_arg(p.aval) for p in pvals]
        outs = [full_raise(trace, out) for out in fun.call_wrapped(*args)]
        found = [
            PartialVal.known(out.value) if out.is_known else PartialVal.unknown(out.aval)
            for out in outs
        ]
        closed = builder.build([trace.instantiate(out) for out in outs if not out.is_known])
    return closed.jaxpr, found, closed.consts


def abstract_eval_fun(fun: Any, *avals: Any, debug_info: Any = None, **params: Any) -> list[Any]:
    """The types of the results of a function that returns several, for types of arguments."""
    traced = DebugInfo("abstract_eval_fun", fun)
    return trace_to_jaxpr(lambda *args: fun(*args, **params), list(avals), traced).out_avals


def convert_constvars_jaxpr(jaxpr: Any) -> Jaxpr:
    """The program with its constants as first arguments."""
    plain: Jaxpr = jaxpr.jaxpr
    return plain.replace(constvars=[], invars=[*plain.constvars, *plain.invars])


def close_jaxpr(jaxpr: Any) -> ClosedJaxpr:
    """The program without constants, closed."""
    return ClosedJaxpr(jaxpr.jaxpr, ())


def move_binders_to_front(closed_jaxpr: ClosedJaxpr, to_move: Sequence[bool]) -> ClosedJaxpr:
    """The program with the marked arguments first."""
    pairs = list(zip(closed_jaxpr.jaxpr.invars, to_move, strict=True))
    invars = [x for mark in (True, False) for x, moves in pairs if moves is mark]
    return ClosedJaxpr(closed_jaxpr.jaxpr.replace(invars=invars), closed_jaxpr.consts)


def move_binders_to_back(closed_jaxpr: ClosedJaxpr, to_move: Sequence[bool]) -> ClosedJaxpr:
    """The program with the marked arguments last."""
    return move_binders_to_front(closed_jaxpr, [not moves for moves in to_move])


def prune_closed_jaxpr_outputs(jaxpr: ClosedJaxpr, used_outputs: Sequence[bool]) -> ClosedJaxpr:
    """The program with the marked results alone."""
    outvars = [x for x, used in zip(jaxpr.jaxpr.outvars, used_outputs, strict=True) if used]
    return ClosedJaxpr(jaxpr.jaxpr.replace(outvars=outvars), jaxpr.consts)
