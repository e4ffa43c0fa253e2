"""Effects: what programs do besides computing their results."""

from __future__ import annotations

from typing import NamedTuple

from bindax_core.kernel._rules import RuleKind, core_kinds


class Effect(NamedTuple):
    """Something that a program does besides computing its results.

    Attributes:
        name: the name in messages.
        ordered: whether it happens in the order in which the program says it.
        repeatable: whether transformations may make it happen more often than the program says:
            in branches that are not taken, and where a computation is repeated to save memory.
    """

    name: str
    ordered: bool = False
    repeatable: bool = False


effects: RuleKind = RuleKind("effects", signature="(**params) -> frozenset of Effect")
"""The effects of an application; none, for a primitive without the rule."""

core_kinds.append(effects)
