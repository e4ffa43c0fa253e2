"""What the registry loads: the primitives of this package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_control_flow.cond import cond_p
from bindax_control_flow.custom_linear_solve import linear_solve_p
from bindax_control_flow.platform_dependent import platform_index_p
from bindax_control_flow.scan import scan_p
from bindax_control_flow.while_loop import while_p
from bindax_core.extend import Primitive, hookimpl


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives of control flow."""
    return (cond_p, linear_solve_p, platform_index_p, scan_p, while_p)


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """What the conformance kit checks the primitives on."""
    from bindax_control_flow._conformance import conformance_samples

    return conformance_samples()
