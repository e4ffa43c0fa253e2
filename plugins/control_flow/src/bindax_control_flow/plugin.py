"""Give the conformance suite the samples; the entry points name what the package brings."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give calls of the functions."""
    from bindax_control_flow.cond.samples import cond_samples
    from bindax_control_flow.scan.samples import scan_samples
    from bindax_control_flow.solve.samples import solver_samples
    from bindax_control_flow.while_loop.samples import while_samples

    return chain(cond_samples(), while_samples(), scan_samples(), solver_samples())


@hookimpl
def bindax_function_checks() -> Iterable[Any]:
    """Give the checks of functions inside loops and branches, and functions that contain these."""
    from bindax_control_flow.function_checks import checks_inside_loops
    from bindax_control_flow.transformation_programs import programs_with_loops

    return chain(checks_inside_loops(), programs_with_loops())
