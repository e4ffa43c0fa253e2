"""``jit`` as a higher-order primitive: its operands are arrays, its parameter is a jaxpr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    LoweringContext,
    Primitive,
    executable_of,
    find_backend,
    primitive,
    rules,
)
from bindax_transforms._closed_call_rules import ClosedCallRules, Params


class JitRules(ClosedCallRules):
    """Those of ``jit``: nothing of another jaxpr is donated."""

    def params_of(self, params: Params, jaxpr: ClosedJaxpr) -> Params:
        return {**params, "jaxpr": jaxpr, "donated": (False,) * len(jaxpr.jaxpr.invars)}

    def usual(self, eqn: JaxprEqn) -> Params:
        donated = (False,) * len(eqn.invars)
        return {"donated": donated, "inline": False, "keep_unused": False, "backend": None}


def _impl(
    *operands: Any, jaxpr: ClosedJaxpr, inline: bool, backend: str | None, **params: Any
) -> Sequence[Any]:
    executable = executable_of(jaxpr, find_backend(backend), operands=operands, **params)
    return executable(*operands)


def _lowering(
    ctx: LoweringContext,
    *values: Any,
    jaxpr: ClosedJaxpr,
    name: str,
    inline: bool = False,
    **params: Any,
) -> Sequence[Any]:
    """Call a function of the module, which all applications of one jaxpr share."""
    return ctx.inline(jaxpr, values, f"jit({name})") if inline else ctx.call(jaxpr, values, name)


jit_rules: JitRules = JitRules()
jit_p: Primitive = primitive(
    "jit",
    rules.impl(_impl, on_values=True),
    jit_rules.rules(),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
jit_rules.primitive = jit_p
"""A call of a jaxpr that a backend compiles. Parameters: ``jaxpr``, a jaxpr without constants;
``name``; ``donated``, for each operand whether its bytes may be reused; ``inline``, whether tracing
an outer function dissolves the call; ``keep_unused``; ``backend``, its name or None."""
