"""Jaxprs with operations that stand for others."""

from __future__ import annotations

from bindax_core._extension_points import runtime
from bindax_core.arrays._rules import expansion
from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr


def is_high(jaxpr: Jaxpr | ClosedJaxpr) -> bool:
    """Tell whether operations in a jaxpr, at any depth, stand for others.

    >>> is_high(Jaxpr([], [], [], []))
    False
    """
    if isinstance(jaxpr, Jaxpr):
        if any(expansion.find(eqn.primitive) is not None for eqn in jaxpr.eqns):
            return True
        return any(map(is_high, jaxpr.programs))
    if "is_high" not in jaxpr.cache:  # many equations may share a jaxpr
        jaxpr.cache["is_high"] = is_high(jaxpr.jaxpr)
    return bool(jaxpr.cache["is_high"])


runtime.is_high = is_high
