"""What the registry loads: the primitives of this package."""

from __future__ import annotations

from collections.abc import Iterable

from bindax_control_flow.cond import cond_p
from bindax_core.extend import Primitive, hookimpl


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives of control flow."""
    return (cond_p,)
