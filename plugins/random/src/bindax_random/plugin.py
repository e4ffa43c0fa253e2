"""Give the conformance suite the samples; the entry points name what the package brings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give calls of the primitives."""
    from bindax_random._conformance import conformance_samples

    return conformance_samples()


@hookimpl
def bindax_function_checks() -> Iterable[Any]:
    """Give the checks of functions that use random keys, and of backends that draw numbers."""
    from bindax_random._backend_checks import checks_of_random_numbers
    from bindax_random._function_checks import checks_of_keys

    return [*checks_of_keys(), *checks_of_random_numbers()]
