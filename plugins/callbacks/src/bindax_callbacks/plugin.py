"""Give the conformance suite the samples; the entry points name what the package brings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give calls of the functions, and the mistakes that change nothing."""
    from bindax_callbacks.samples import conformance_samples

    return conformance_samples()


@hookimpl
def bindax_function_checks() -> Iterable[Any]:
    """Say which functions of users the primitives call; give functions with effects, and checks."""
    from bindax_callbacks.backend_checks import checks_of_callbacks
    from bindax_callbacks.samples import functions_called, programs_with_effects

    return [*functions_called(), *programs_with_effects(), *checks_of_callbacks()]
