"""One exchange between devices for several that follow each other along different mesh axes.

``psum(x, ("x", "y"))`` is a sum along one axis and then along the other, which rules and the
evaluation without devices take one by one. Where the program of one device is lowered, such pairs
become one equation, whose ``axis_name`` is a tuple: the outermost axis first.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from bindax_core.extend import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from bindax_parallel._collective import names_of
from bindax_parallel.exchanges import all_gather_p, all_to_all_p, psum_scatter_p
from bindax_parallel.reductions import pmax_p, pmin_p, psum_p
from bindax_transforms import cached_on_jaxpr

_REDUCTIONS = (psum_p, pmax_p, pmin_p)


def with_merged_exchanges(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with one equation for each chain of exchanges along different axes."""
    key = "with_merged_exchanges"
    return cached_on_jaxpr(closed, key, lambda: ClosedJaxpr(_merged(closed.jaxpr), closed.consts))


def _merged(jaxpr: Jaxpr) -> Jaxpr:
    uses = Counter(x for eqn in jaxpr.eqns for x in eqn.invars if type(x) is not Literal)
    uses.update(x for x in jaxpr.outvars if type(x) is not Literal)
    made: dict[Any, JaxprEqn] = {}
    eqns: dict[int, JaxprEqn] = {}
    for i, given in enumerate(jaxpr.eqns):
        eqn = given.replace(params={k: _inside(v) for k, v in given.params.items()})
        first = made.get(eqn.invars[0]) if eqn.invars and _mergeable(eqn) else None
        if first is not None and uses[eqn.invars[0]] == 1:
            joined = _joined(first, eqn)
            if joined is not None:
                eqns = {k: e for k, e in eqns.items() if e is not first}
                eqn = joined
        eqns[i] = eqn
        if _mergeable(eqn):
            made[eqn.outvars[0]] = eqn
    return jaxpr.replace(eqns=list(eqns.values()))


def _inside(value: Any) -> Any:
    """A parameter, with the programs in it."""
    if isinstance(value, ClosedJaxpr):
        return with_merged_exchanges(value)
    if type(value) is tuple and any(isinstance(part, ClosedJaxpr) for part in value):
        return tuple(_inside(part) for part in value)
    return value


def _mergeable(eqn: JaxprEqn) -> bool:
    known = (*_REDUCTIONS, all_gather_p, all_to_all_p, psum_scatter_p)
    if eqn.primitive not in known or type(eqn.invars[0]) is Literal:
        return False
    return eqn.params["mesh"] is not None and eqn.params["axis_index_groups"] is None


def _joined(first: JaxprEqn, second: JaxprEqn) -> JaxprEqn | None:
    """One equation for two of which the second takes the result of the first, or None."""
    a, b = first.params, second.params
    inner, outer = names_of(a["axis_name"]), names_of(b["axis_name"])
    if first.primitive is not second.primitive or a["mesh"] != b["mesh"] or {*inner} & {*outer}:
        return None
    names, axis = inner + outer, a.get("axis")
    if first.primitive in (all_gather_p, psum_scatter_p) and b["axis"] != axis:
        return None
    if first.primitive is all_to_all_p and b["axis"] != a["axis"] + len(inner):
        return None
    if first.primitive is all_gather_p:
        names = outer + inner  # the axis that is gathered last stands in front
    params = {**a, "axis_name": names, "size": a["size"] * b["size"]}
    return second.replace(invars=[first.invars[0], second.invars[1]], params=params)
