"""Offer the costs of the standard primitives, and the check of costs."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from bindax_core.extend import Extension, hookimpl


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """Have the costs of the standard primitives derived, from their names."""
    import_module("bindax_inspect.rules")  # which adds the derivation
    return ()


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the check of rules of the kind ``cost``."""
    from bindax_inspect._conformance import check_cost
    from bindax_testing import rule_check

    return [rule_check("cost", check_cost)]
