"""The rule kind ``varying``: along which axes of the mesh results differ between devices.

A part of an array differs along the axes that divide it, an index along its own axis. A package
gives the rule of its primitive with ``rules.varying``; a result of a primitive without one differs
along all axes of its operands. Whatever is not known to be the same counts as different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    RuleKind,
    rule_output_error,
    shown_result,
)

Axes = frozenset[Any]
_NONE: Axes = frozenset()


def _adapt(
    primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]
) -> Callable[..., Axes | list[Axes]]:
    def rule(*axes: Axes, **params: Any) -> Axes | list[Axes]:
        found = function(*axes, **params)
        if isinstance(found, (set, frozenset)):
            return frozenset(found)
        if isinstance(found, (list, tuple)) and all(isinstance(x, (set, frozenset)) for x in found):
            return [frozenset(x) for x in found]
        problem = f"returned {shown_result(found)}, where a set of axes or a list of sets is due"
        raise rule_output_error(primitive, "varying", problem)

    return rule


varying: RuleKind = RuleKind(
    "varying",
    adapt=_adapt,
    signature="(*axes, **params) -> set, or a list with one for each result",
)
"""The axes of the mesh along which results differ between devices, from those of the operands."""


def varying_axes(jaxpr: ClosedJaxpr, inputs: Sequence[Axes]) -> list[Axes]:
    """For each result of a program, the axes along which it may differ between devices.

    Args:
        jaxpr: the program of one device.
        inputs: for each of its arguments, the axes along which that differs.

    Raises:
        TypeError: when a rule of the kind ``varying`` returns neither a set nor a list of sets.

    >>> import numpy as np
    >>> from bindax_transforms import make_jaxpr
    >>> closed = make_jaxpr(lambda x, y: (x + y, y))(np.ones(2), np.ones(2))
    >>> varying_axes(closed, [frozenset({"i"}), frozenset()])
    [frozenset({'i'}), frozenset()]
    """
    found = varying_variables(jaxpr.jaxpr, inputs)
    return [_NONE if type(x) is Literal else found[x] for x in jaxpr.jaxpr.outvars]


def varying_variables(jaxpr: Jaxpr, inputs: Sequence[Axes]) -> dict[Any, Axes]:
    """For each variable of a program, the axes along which it may differ."""
    found: dict[Any, Axes] = dict.fromkeys(jaxpr.constvars, _NONE)
    found.update(zip(jaxpr.invars, inputs, strict=True))
    for eqn in jaxpr.eqns:
        outs = _results(eqn, [_NONE if type(x) is Literal else found[x] for x in eqn.invars])
        found.update(zip(eqn.outvars, outs, strict=True))
    return found


def _results(eqn: JaxprEqn, inputs: Sequence[Axes]) -> list[Axes]:
    rule = varying.find(eqn.primitive)
    found = _NONE.union(*inputs) if rule is None else rule(*inputs, **eqn.params)
    outs = found if isinstance(found, list) else [found] * len(eqn.outvars)
    if len(outs) != len(eqn.outvars):
        problem = f"returned {len(outs)} sets of axes for {len(eqn.outvars)} results"
        raise rule_output_error(eqn.primitive, "varying", problem)
    return outs
