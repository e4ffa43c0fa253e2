"""The order of effects: a token that each ordered effect takes from the one before it.

The token runs through a function, through the calls in it, and through the regions of loops and
conditionals, so that XLA cannot exchange what depends on it.
"""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Effect

THREADED = frozenset(("stablehlo.while", "stablehlo.case", "stablehlo.if"))
"""The operations through whose regions the order of effects is kept."""


class Order:
    """The token of the last ordered effect in a block; None before there is one."""

    __slots__ = ("token",)

    def __init__(self, token: Any = None) -> None:
        self.token = token


def is_ordered(effects: frozenset[Effect]) -> bool:
    """Tell whether there is an effect whose order has to be kept."""
    return any(effect.ordered for effect in effects)
