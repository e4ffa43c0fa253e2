"""The rule kinds of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from bindax_core.kernel._rule_tables import RuleKind, core_kinds

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


def list_result(
    primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]
) -> Callable[..., Any]:
    """Adapt a rule to return a sequence of results."""
    if primitive.multiple_results:
        return function
    return lambda *args, **params: [function(*args, **params)]


class Effect(NamedTuple):
    """Something that a program does besides computing its results.

    Attributes:
        name: what messages call it.
        ordered: whether it happens in the order in which the program says it.
        repeatable: whether transformations may make it happen more often than the program says:
            in branches that are not taken, and where a computation is repeated to save memory.
    """

    name: str
    ordered: bool = False
    repeatable: bool = False


abstract_eval = RuleKind(
    "abstract_eval",
    adapt=list_result,
    canonical=True,
    signature="(*avals, **params) -> aval",
)
"""The type of a primitive's result from the types of its operands; raises when they are wrong."""

pretty_print = RuleKind("pretty_print", signature="(eqn, printer) -> list of lines")
"""The lines of an equation in a printed jaxpr."""

effects = RuleKind("effects", signature="(**params) -> frozenset of Effect")
"""The effects of an application; none, for a primitive without the rule."""

typecheck = RuleKind("typecheck", signature="(*avals, **params) -> sequence of aval")
"""The types of an equation for the jaxpr checker, where abstract evaluation is not enough."""

core_kinds += (abstract_eval, pretty_print, effects, typecheck)
