"""The rule kinds of evaluation and compilation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bindax_core.kernel._rules import RuleKind, core_kinds, list_result

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class RuleFamily:
    """Rule kinds that differ in a target, such as ``lowering["stablehlo"]``."""

    def __init__(self, name: str, make: Callable[[str], RuleKind]) -> None:
        self.name = name
        self._make = make
        self._lock = threading.Lock()
        self._kinds: dict[str, RuleKind] = {}

    def __getitem__(self, target: str) -> RuleKind:
        with self._lock:  # two threads that ask first get one kind
            if target not in self._kinds:
                self._kinds[target] = self._make(f"{self.name}.{target}")
            return self._kinds[target]

    def __iter__(self) -> Iterator[RuleKind]:
        return iter(list(self._kinds.values()))


def _set_options(
    primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]
) -> Callable[..., Any]:
    primitive.takes_values = bool(options.get("on_values", False))
    primitive.prefers_compiler = bool(options.get("slow", False))
    return function


impl: RuleKind = RuleKind(
    "impl", adapt=_set_options, canonical=True, signature="(*arrays, **params) -> array"
)
"""The evaluation on NumPy arrays, which do not warn of what floats overflow or divide; with
``on_values=True``, on the operands as they are given, and NumPy as the user has set it.
``slow=True`` says that NumPy has no fast form of it: the operation is compiled where something is
installed that compiles."""

lowering: RuleFamily = RuleFamily(
    "lowering",
    lambda name: RuleKind(
        name,
        adapt=list_result,
        canonical=name == "lowering.stablehlo",
        signature="(ctx, *ir_values, **params) -> ir_value",
    ),
)
"""The translation into a compiler's language, one kind for each target; ``alone=False`` says that
it works inside of the program of another primitive only."""

stablehlo: RuleKind = lowering["stablehlo"]

core_kinds += (impl, stablehlo)
