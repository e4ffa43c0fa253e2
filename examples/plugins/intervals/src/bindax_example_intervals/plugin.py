"""The hooks, called once, when something of this package is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bindax_core.extend import Extension, hookimpl
from bindax_example_intervals.transformation import bounds


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """Give rules for the primitives of others."""
    from bindax_example_intervals.rules import rules

    return list(rules())


@hookimpl
def bindax_transformations() -> Mapping[str, Callable[..., Any]]:
    """Offer ``bindax.bounds``."""
    return {"bounds": bounds}
