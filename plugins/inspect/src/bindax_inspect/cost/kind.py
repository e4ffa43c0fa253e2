"""The rule kind ``cost``: the work of an equation.

A package gives the rule of its primitive with ``rules.cost``; a primitive without one is counted as
one operation for each element of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bindax_core.extend import (
    JaxprEqn,
    Primitive,
    RuleKind,
    rule_output_error,
    shown_result,
    subjaxprs,
)


class Cost(NamedTuple):
    """The work of one run of an equation, without the jaxprs among its parameters.

    Attributes:
        operations: the arithmetic operations, a multiplication and an addition being two.
        bytes: the bytes that are read and written; None for those of all operands and results.
        runs: for each parameter that holds a jaxpr, how often it runs; once when not named.
        known: whether a rule gave the operations; False for one for each element of the results.

    >>> Cost(3.0).bytes is None
    True
    """

    operations: float = 0.0
    bytes: float | None = None
    runs: Mapping[str, float] = {}
    known: bool = True


def _adapt(
    primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]
) -> Callable[..., Cost]:
    def rule(operands: Any, results: Any, **params: Any) -> Cost:
        found = function(operands, results, **params)
        if isinstance(found, Cost):
            return found
        if isinstance(found, (int, float)):
            return Cost(float(found))
        problem = f"returned {shown_result(found)}, where a number of operations or a Cost is due"
        raise rule_output_error(primitive, "cost", problem)

    return rule


cost: RuleKind = RuleKind(
    "cost", adapt=_adapt, signature="(operands, results, **params) -> number or Cost"
)
"""The work of a primitive, from the types of its operands and results and its parameters."""


def size_in_bytes(aval: Any) -> int:
    """Return the memory that a value of a type takes; 0 where its size is not a number."""
    try:
        return int(aval.size) * int(aval.dtype.itemsize)
    except (AttributeError, TypeError, ValueError):
        return 0


def _moved(eqn: JaxprEqn) -> float:
    return float(sum(size_in_bytes(x.aval) for x in (*eqn.invars, *eqn.outvars)))


def cost_of(eqn: JaxprEqn) -> Cost:
    """Return the work of one run of an equation.

    Raises:
        TypeError: when a rule returns neither a number nor a ``Cost``.

    >>> import bindax_lax_basic as lax
    >>> import numpy as np
    >>> from bindax_transforms import make_jaxpr
    >>> x = np.ones((2, 3), np.float32)
    >>> [eqn] = make_jaxpr(lambda x: lax.dot(x, x.T))(x).eqns[1:]
    >>> cost_of(eqn).operations, cost_of(eqn).bytes
    (24.0, 64.0)
    """
    rule = cost.find(eqn.primitive)
    operands, results = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    has_programs = bool(subjaxprs(eqn.params))
    if rule is not None:
        found: Cost = rule(operands, results, **eqn.params)
    elif has_programs:
        found = Cost()
    else:
        found = Cost(float(sum(_elements(aval) for aval in results)), known=False)
    if found.bytes is None:
        found = found._replace(bytes=0.0 if has_programs else _moved(eqn))
    return found


def _elements(aval: Any) -> int:
    try:
        return int(aval.size)
    except (AttributeError, TypeError, ValueError):  # a token, or a symbolic size
        return 0
