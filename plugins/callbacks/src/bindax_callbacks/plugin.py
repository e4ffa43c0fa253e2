"""The plugin that the registry loads: the primitives of this package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_callbacks.debug import debug_callback_p
from bindax_callbacks.results import io_callback_p, pure_callback_p
from bindax_core.extend import Primitive, hookimpl


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives that call host functions."""
    return (debug_callback_p, io_callback_p, pure_callback_p)


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Sample inputs for the conformance kit."""
    from bindax_callbacks._conformance import conformance_samples

    return conformance_samples()
