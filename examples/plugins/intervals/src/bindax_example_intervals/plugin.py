"""The hooks: what takes code. The entry points in ``pyproject.toml`` name everything else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Extension, hookimpl


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """Give rules for the primitives of others."""
    from bindax_example_intervals.rules import rules

    return list(rules())


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the check of interval rules, and what the suite needs to check the transformation."""
    from bindax_example_intervals.conformance import check_bounds, transformations
    from bindax_testing import rule_check

    return [rule_check("interval", check_bounds, name="bounds hold"), *transformations()]
