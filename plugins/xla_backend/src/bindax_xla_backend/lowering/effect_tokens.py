"""The order of effects: a token that each ordered effect takes from the one before it.

The token runs through a function, through the calls in it, and through the regions of loops and
conditionals, so that XLA cannot exchange what depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.extend import Effect, Region, ShapedArray

if TYPE_CHECKING:
    from bindax_xla_backend.lowering.module_builder import ModuleBuilder

THREADED = frozenset(("stablehlo.while", "stablehlo.case", "stablehlo.if"))
"""The operations through whose regions the order of effects is kept."""


class EffectToken:
    """The token of the last ordered effect in a block; None before there is one."""

    __slots__ = ("token",)

    def __init__(self, token: Any = None) -> None:
        self.token: Any = token


def is_ordered(effects: frozenset[Effect]) -> bool:
    """Tell whether there is an effect whose order has to be kept."""
    return any(effect.ordered for effect in effects)


class TokenOperations:
    """Base of the context of lowering rules: operations that keep the order of effects."""

    __slots__ = ()

    if TYPE_CHECKING:
        _builder: ModuleBuilder
        _effect_token: EffectToken
        op: Callable[..., list[Any]]
        _create: Callable[..., Any]
        _parsed: Callable[..., dict[str, Any]]
        _build_region: Callable[..., None]

    def token(self) -> Any:
        """The token that the next ordered effect depends on."""
        order = self._effect_token
        if order.token is None:
            types = [self._builder.context.token_type]
            order.token = self._create("stablehlo.create_token", [], types).results[0]
        return order.token

    def _ordered_op(
        self,
        name: str,
        operands: Sequence[Any],
        result_avals: Sequence[ShapedArray],
        attributes: Mapping[str, str],
        ordered: bool,
    ) -> list[Any]:
        """An operation that, if ordered, takes a token as first operand and gives the next one."""
        if not ordered:
            return self.op(name, operands, result_avals, attributes)
        types = [self._builder.context.token_type, *self._builder.types(result_avals)]
        parsed = self._parsed(name, attributes)
        made = self._create(name, [self.token(), *operands], types, parsed)
        self._effect_token.token = made.results[0]
        return list(made.results)[1:]

    def _threaded_op(
        self,
        name: str,
        operands: list[Any],
        types: list[Any],
        attributes: Any,
        regions: Sequence[Region],
    ) -> list[Any]:
        """A loop or conditional whose last result is the token of what its regions did."""
        token, is_loop = self.token(), name == "stablehlo.while"
        given = [*operands, token] if is_loop else operands
        types = [*types, self._builder.context.token_type]
        made = self._create(name, given, types, attributes, len(regions))
        for i, (region, body) in enumerate(zip(regions, made.regions, strict=True)):
            # The first region of a loop is its condition, which returns nothing but that.
            order = EffectToken(None if is_loop else token)
            self._build_region(region, body, name, order, returns=not (is_loop and i == 0))
        self._effect_token.token = made.results[len(types) - 1]
        return list(made.results)[:-1]
