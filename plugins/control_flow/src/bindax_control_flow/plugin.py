"""Offer the package to the registry."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import bindax_control_flow
from bindax_core.extend import Primitive, hookimpl

PRIMITIVES = tuple(x for x in vars(bindax_control_flow).values() if isinstance(x, Primitive))
"""Every primitive of the package: what its modules name in ``__all__``."""


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """Offer the primitives."""
    return PRIMITIVES


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance kit calls of the functions."""
    from bindax_control_flow.cond.samples import cond_samples
    from bindax_control_flow.scan.samples import scan_samples
    from bindax_control_flow.solve.samples import solver_samples
    from bindax_control_flow.while_loop.samples import while_samples

    return chain(cond_samples(), while_samples(), scan_samples(), solver_samples())
