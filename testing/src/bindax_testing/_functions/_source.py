"""The source of the calls that are checked: the arguments of the user, or strategies for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import typeof
from bindax_testing._functions._call import Function, FunctionCall, flat_function, varied
from bindax_testing._functions._extensions import FunctionAdapter
from bindax_testing._functions._strategies import drawn, is_strategy, smallest

_CALLS = 5


@attrs.frozen(eq=False)
class Source:
    """A function and what its arguments are drawn from.

    Attributes:
        function: the function as the user has it.
        args: values, and strategies.
        seed: what arguments are drawn from.
        adapters: what makes functions of arrays of functions that hold some.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    seed: int
    adapters: Sequence[FunctionAdapter] = ()

    @property
    def is_drawn(self) -> bool:
        """True if some arguments are strategies."""
        return any(map(is_strategy, self.args))

    def calls(self) -> list[FunctionCall]:
        """The calls to check, each with others of the same types."""
        if not self.is_drawn:
            flat, values = self._flat(self.args)
            return [FunctionCall(flat, varied(values), "call 0", {}, self.seed)]
        flats = [self._flat(row) for row in drawn(self.args, self.seed)]
        if not flats:
            raise ValueError("no arguments were drawn from the strategies.")
        # Values that are changed may be outside of the domain: companions are drawn ones, too.
        groups: dict[Any, list[tuple[Function, list[Any]]]] = {}
        for flat, values in flats:
            groups.setdefault(_key(flat, values), []).append((flat, values))
        found = [(flat, values, groups[_key(flat, values)]) for flat, values in flats]
        return [
            FunctionCall(
                flat, _with_others(values, group), f"call {i}", {}, self.seed, is_drawn=True
            )
            for i, (flat, values, group) in enumerate(_varied_types(found)[:_CALLS])
        ]

    def smallest(
        self, like: FunctionCall, fails: Callable[[FunctionCall], bool]
    ) -> FunctionCall | None:
        """The simplest call from the strategies that fails; None where none is found."""

        def made(row: tuple[Any, ...]) -> FunctionCall:
            flat, values = self._flat(row)
            return attrs.evolve(like, function=flat, draws=[values] * len(like.draws))

        row = smallest(self.args, self.seed, lambda row: fails(made(row)))
        return None if row is None else made(row)

    def _flat(self, args: tuple[Any, ...]) -> tuple[Function, list[Any]]:
        """The function of flat arrays, and the arrays."""
        pure, pure_args = self.function, args
        for adapter in self.adapters:
            pure, pure_args = adapter.adapt(pure, pure_args) or (pure, pure_args)
        return flat_function(self.function, args, pure, pure_args)


def _key(flat: Function, values: Iterable[Any]) -> Any:
    """The same for calls that can be in a batch."""
    statics = tuple((i, repr(x)) for i, x in flat.statics.items())
    return flat.tree, statics, tuple(map(typeof, values))


def _with_others(values: list[Any], group: Sequence[tuple[Function, list[Any]]]) -> list[list[Any]]:
    """The values, and those of two other calls of the group; the same ones without others."""
    others = [row for _, row in group if row is not values and not _same(row, values)]
    return [values, *(others * 2 or [values, values])[:2]]


def _same(a: Iterable[Any], b: Iterable[Any]) -> bool:
    pairs = zip(a, b, strict=True)
    return all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in pairs)


def _varied_types(found: list[Any]) -> list[Any]:
    """The calls in an order in which those of other types come first."""
    turns: dict[int, int] = {}
    numbered = []
    for one in found:
        group = id(one[2])
        turns[group] = turns.get(group, -1) + 1
        numbered.append((turns[group], one))
    return [one for _, one in sorted(numbered, key=lambda pair: pair[0])]
