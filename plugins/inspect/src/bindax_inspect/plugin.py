"""Give the conformance suite the check of costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the check of rules of the kind ``cost``."""
    from bindax_inspect._conformance import check_cost
    from bindax_testing import rule_check

    return [rule_check("cost", check_cost)]
