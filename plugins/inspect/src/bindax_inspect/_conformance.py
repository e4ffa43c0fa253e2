"""The check of the rules of this package, which the suite runs on samples of all owners."""

from __future__ import annotations

import math

from bindax_inspect.rules import cost_of
from bindax_testing import Case
from bindax_transforms import make_jaxpr


def check_cost(case: Case) -> None:
    """Check that the work of a primitive is a number, and not negative."""
    for eqn in make_jaxpr(case.call)(*case.operands).eqns:
        if eqn.primitive is case.primitive:
            found = cost_of(eqn)
            amounts = (found.operations, found.bytes or 0.0, *found.runs.values())
            if not all(math.isfinite(amount) and amount >= 0 for amount in amounts):
                raise AssertionError(f"the cost is {found}, where no amount is negative.")
