"""The algorithms by NumPy, for ``impl`` rules, and as programs of primitives, for lowering."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    LoweringContext,
    Primitive,
    Region,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic.extend import broadcast_to, convert, in_double, scalar_array
from bindax_special.evaluation import gamma
from bindax_special.evaluation.functions import Functions, State
from bindax_transforms import trace_to_jaxpr

_DOUBLE = np.dtype(np.float64)
_ONLY_LOWERED = "it is bound only in programs of lowering rules, which are not transformed"


def _numpy_loop(condition: Callable[..., Any], body: Callable[..., State], state: State) -> State:
    while np.any(condition(*state)):
        state = body(*state)
    return state


NUMPY = Functions(
    exp=np.exp,
    expm1=np.expm1,
    log=np.log,
    log1p=np.log1p,
    sqrt=np.sqrt,
    abs=np.abs,
    floor=np.floor,
    erfc=rules.impl.get(lax.erfc_p),
    digamma=gamma.digamma,
    where=np.where,
    loop=_numpy_loop,
)
"""NumPy's functions, and those of this package that they lack."""


def by_numpy(function: Any) -> Any:
    """An algorithm on NumPy arrays of any float dtype, as precise as the dtype needs."""
    for_type = cache(lambda dtype: in_double(partial(function, NUMPY.rounded_to(dtype))))
    return lambda *arrays: for_type(arrays[0].dtype)(*arrays)


def _loop_lowering(
    ctx: LoweringContext, *values: Any, condition: ClosedJaxpr, body: ClosedJaxpr
) -> Any:
    avals = list(ctx.avals_in)
    regions = [
        Region(avals, lambda inner, *state: inner.inline(condition, state)),
        Region(avals, lambda inner, *state: inner.inline(body, state)),
    ]
    return ctx.op("stablehlo.while", values, avals, regions=regions)


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
        return [lax.reduce_or(condition(*values))]

    return tuple(
        _loop_p.bind(
            *state,
            condition=trace_to_jaxpr(any_holds, avals, DebugInfo("lowering")),
            body=trace_to_jaxpr(lambda *xs: list(body(*xs)), avals, DebugInfo("lowering")),
        )
    )


def _where(condition: Any, x: Any, y: Any) -> Any:
    shape = typeof(condition).shape
    cases = [scalar_array(v, _DOUBLE) if isinstance(v, float) else v for v in (y, x)]
    return lax.select_n_p.bind(condition, *[broadcast_to(case, shape) for case in cases])


def by_lax(function: Callable[..., Any], digamma: Callable[[Any], Any]) -> Callable[..., Any]:
    """An algorithm as a function of operands of any floats: computed in float64, rounded once.

    The derivative of ``digamma`` is lowered by this module, so that it has to be given.
    """
    functions = Functions(
        exp=lax.exp,
        expm1=lax.expm1,
        log=lax.log,
        log1p=lax.log1p,
        sqrt=lax.sqrt,
        abs=lax.abs_p.bind,
        floor=lax.floor,
        erfc=lax.erfc,
        digamma=digamma,
        where=_where,
        loop=_loop,
    )

    def run(*operands: Any) -> Any:
        avals = [typeof(x) for x in operands]
        shape = max((aval.shape for aval in avals), key=len)
        wide = [broadcast_to(convert(x, _DOUBLE, False), shape) for x in operands]
        narrow = avals[0].dtype
        return convert(function(functions.rounded_to(narrow), *wide), narrow, False)

    return run
