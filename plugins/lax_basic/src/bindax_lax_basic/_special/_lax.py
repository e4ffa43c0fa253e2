"""The algorithms as programs of primitives: lowering rules without a compiler's own function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    LoweringContext,
    Origin,
    Primitive,
    Region,
    ShapedArray,
    abstract_eval,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    typeof,
    vmap,
)
from bindax_lax_basic._elementwise import composition
from bindax_lax_basic._lowering import Lowering
from bindax_lax_basic._special.functions import Functions, State
from bindax_lax_basic.axes import broadcast_to
from bindax_lax_basic.conversion import convert
from bindax_lax_basic.dtypes import scalar_array
from bindax_lax_basic.exponential import exp, expm1, log, log1p, sqrt
from bindax_lax_basic.reductions import reduce_or
from bindax_lax_basic.rounding import abs_p, floor
from bindax_lax_basic.selection import select_n_p
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


def _loop_type(
    *avals: ShapedArray, condition: ClosedJaxpr, body: ClosedJaxpr
) -> Sequence[ShapedArray]:
    return avals


_loop_p: Primitive = primitive(
    "special_functions.loop",
    impl.absent(_ONLY_LOWERED),
    abstract_eval(_loop_type),
    jvp.absent(_ONLY_LOWERED),
    vmap.absent(_ONLY_LOWERED),
    transpose.absent(_ONLY_LOWERED),
    lowering["stablehlo"](_loop_lowering),
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


@cache
def functions() -> Functions:
    """Functions of this package, for operands of float64 and one shape."""
    # Their derivatives are functions that are lowered by this module.
    from bindax_lax_basic.error_functions import erfc
    from bindax_lax_basic.gamma_functions import digamma

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


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """An algorithm as a function of operands of any floats: computed in float64, rounded once."""

    def run(*operands: Any) -> Any:
        avals = [typeof(x) for x in operands]
        shape = max((aval.shape for aval in avals), key=len)
        wide = [broadcast_to(convert(x, _DOUBLE, False), shape) for x in operands]
        narrow = avals[0].dtype
        return convert(function(functions().rounded_to(narrow), *wide), narrow, False)

    return run


def program(function: Callable[..., Any]) -> Lowering:
    """The lowering of an algorithm, which computes what it does by NumPy."""
    return composition(in_double(function))
