"""The samples of all primitives, for the conformance kit."""

from __future__ import annotations

from collections.abc import Iterator

from bindax_control_flow.cond.samples import cond_samples
from bindax_control_flow.scan.samples import scan_samples
from bindax_control_flow.solve.samples import solver_samples
from bindax_control_flow.while_loop.samples import while_samples
from bindax_testing import Sample


def conformance_samples() -> Iterator[Sample]:
    """Calls of the functions of control flow."""
    yield from cond_samples()
    yield from while_samples()
    yield from scan_samples()
    yield from solver_samples()
