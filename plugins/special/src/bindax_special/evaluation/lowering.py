"""The algorithms as programs of primitives: lowering rules without a compiler's own function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    LoweringContext,
    Origin,
    Primitive,
    Region,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import abs_p, erfc, exp, expm1, floor, log, log1p, reduce_or, select_n_p, sqrt
from bindax_lax_basic.extend import Lowering, broadcast_to, composition, convert
from bindax_lax_basic.rules.scalars import scalar_array
from bindax_special.evaluation.functions import Functions, State
from bindax_transforms import trace_to_jaxpr

_DOUBLE = np.dtype(np.float64)
_ONLY_LOWERED = "it is bound only in programs of lowering rules, which are not transformed"


def _loop_lowering(
    ctx: LoweringContext, *values: Any, condition: ClosedJaxpr, body: ClosedJaxpr
) -> Any:
    avals = list(ctx.avals_in)
    return ctx.op(
        "stablehlo.while",
        list(values),
        avals,
        regions=[
            Region(avals, lambda inner, *state: inner.inline(condition, list(state))),
            Region(avals, lambda inner, *state: inner.inline(body, list(state))),
        ],
    )


_loop_p: Primitive = primitive(
    "special_functions.loop",
    rules.impl.absent(_ONLY_LOWERED),
    rules.abstract_eval(lambda *avals, condition, body: avals),
    rules.jvp.absent(_ONLY_LOWERED),
    rules.vmap.absent(_ONLY_LOWERED),
    rules.transpose.absent(_ONLY_LOWERED),
    rules.lowering["stablehlo"](_loop_lowering),
    multiple_results=True,
)


def _loop(condition: Callable[..., Any], body: Callable[..., State], state: State) -> State:
    avals = [typeof(x).strip_weak_type() for x in state]

    def any_holds(*values: Any) -> list[Any]:
        return [reduce_or(condition(*values))]

    return tuple(
        _loop_p.bind(
            *state,
            condition=trace_to_jaxpr(any_holds, avals, Origin("lowering", condition)),
            body=trace_to_jaxpr(lambda *xs: list(body(*xs)), avals, Origin("lowering", body)),
        )
    )


def _where(condition: Any, x: Any, y: Any) -> Any:
    shape = typeof(condition).shape
    cases = [scalar_array(v, _DOUBLE) if isinstance(v, float) else v for v in (y, x)]
    return select_n_p.bind(condition, *[broadcast_to(case, shape) for case in cases])


def functions(digamma: Callable[[Any], Any]) -> Functions:
    """The functions of this package, for operands of float64 and one shape.

    The derivative of ``digamma`` is lowered by this module, so that it has to be given.
    """
    return Functions(
        exp=exp,
        expm1=expm1,
        log=log,
        log1p=log1p,
        sqrt=sqrt,
        abs=abs_p.bind,
        floor=floor,
        erfc=erfc,
        digamma=digamma,
        where=_where,
        loop=_loop,
    )


def in_double(function: Callable[..., Any], digamma: Callable[[Any], Any]) -> Callable[..., Any]:
    """An algorithm as a function of operands of any floats: computed in float64, rounded once."""
    chosen = functions(digamma)

    def run(*operands: Any) -> Any:
        avals = [typeof(x) for x in operands]
        shape = max((aval.shape for aval in avals), key=len)
        wide = [broadcast_to(convert(x, _DOUBLE, False), shape) for x in operands]
        narrow = avals[0].dtype
        return convert(function(chosen.rounded_to(narrow), *wide), narrow, False)

    return run


def program(function: Callable[..., Any], digamma: Callable[[Any], Any]) -> Lowering:
    """The lowering of an algorithm: what NumPy computes it by, as a program."""
    return composition(in_double(function, digamma))
