"""The hooks: what takes code. The entry points in ``pyproject.toml`` name everything else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Extension, hookimpl


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """Give rules for the primitives of others."""
    from bindax_example_sparsity.rules import rules

    return list(rules())


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the check of the rules, which the suite runs on samples of the owners."""
    from bindax_example_sparsity.conformance import check_pattern
    from bindax_testing import rule_check

    return [rule_check("sparsity", check_pattern, name="pattern")]
