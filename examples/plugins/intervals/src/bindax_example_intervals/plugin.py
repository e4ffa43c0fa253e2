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


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the check of interval rules, which the conformance kit runs on samples of the owners."""
    from bindax_example_intervals.conformance import check_bounds
    from bindax_testing import rule_check

    return [rule_check("interval", check_bounds, name="bounds hold")]
