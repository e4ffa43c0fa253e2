"""The register of checks that concern functions, and not the rules of one primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_testing._checks import CHECKS, Check
from bindax_testing._functions._call import FunctionCall

FUNCTION = "function"
"""The kind of rule that is to blame when nothing behind the function is."""

FROM_PRIMITIVES = (
    "staging",
    "interpreted jit",
    "compiled",
    "threads",
    "jvp",
    "linearize",
    "reverse",
    "second order",
    "special points",
    "vmap",
    "batch sizes",
    "nested vmap",
    "vmap special values",
    "jit with derivatives",
    "vmap of others",
    "derivatives of vmap",
    "text",
)
"""The checks of primitives that concern functions as well."""

_OWN: dict[str, Check] = {}
_AS_GIVEN = {
    "staging",
    "interpreted jit",
    "compiled",
    "threads",
    "text",
}
"""The checks of calls as they were given; others get them in double precision where that goes."""


def check(name: str, *, rank: int, as_given: bool = False) -> Callable[[Any], Any]:
    """Register a function as a check of functions."""

    def register(run: Callable[[FunctionCall], None]) -> Callable[[FunctionCall], None]:
        _OWN[name] = Check(name, FUNCTION, lambda call, compiler: run(call), rank)
        if as_given:
            _AS_GIVEN.add(name)
        return run

    return register


def function_checks() -> list[Check]:
    """All checks of functions, the basic ones first."""
    shared = [CHECKS[name] for name in FROM_PRIMITIVES]
    return sorted([*_OWN.values(), *shared], key=lambda check: check.rank)


def is_as_given(name: str) -> bool:
    """Tell whether a check gets the call as it was given, and not in double precision."""
    return name in _AS_GIVEN
