"""The rules of partial evaluation, from how an equation is unzipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import JaxprEqn, Primitive, Rule, Var, eval_jaxpr, full_lower, rules
from bindax_transforms import jit_p


def unzipped_by(split: Callable[[Sequence[bool], JaxprEqn], tuple[Any, ...]]) -> list[Rule]:
    """The rule for programs, which is ``split``, and the one for values that runs what is known."""

    def partial_eval(
        primitive: Primitive, trace: Any, tracers: Sequence[Any], **params: Any
    ) -> list[Any]:
        avals = tuple([t.aval for t in tracers])
        invars = [Var(aval) for aval in avals]
        outvars = [Var(aval) for aval in primitive.out_avals(avals, params)]
        eqn = JaxprEqn(primitive, invars, outvars, params)
        known, later, _, _ = split([not t.is_known for t in tracers], eqn)
        found: dict[Any, Any] = dict(zip(invars, tracers, strict=True))
        if known is not None:
            values = [full_lower(found[x].value) if x in found else x.val for x in known.invars]
            if known.primitive is jit_p:  # of several equations
                outs = eval_jaxpr(known.params["jaxpr"].jaxpr, (), *values)
            else:
                outs = known.primitive.bind(*values, **known.params)
            found.update(zip(known.outvars, outs, strict=True))
        unknown = [trace.unknown(v.aval) for v in later.outvars]
        trace.add_eqn(primitive, [found[x] for x in later.invars], unknown, later.params)
        found.update(zip(later.outvars, unknown, strict=True))
        return [found[v] for v in outvars]

    return [rules.partial_eval(partial_eval, takes_primitive=True), rules.partial_eval_jaxpr(split)]
