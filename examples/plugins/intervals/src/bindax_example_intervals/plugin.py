"""The hooks, called once, when something of this package is first used."""

from __future__ import annotations

from collections.abc import Iterable

from bindax_core.extend import Extension, hookimpl


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """The rules that this package brings for the primitives of others."""
    from bindax_example_intervals.rules import rules

    return list(rules())
