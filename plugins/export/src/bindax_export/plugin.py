"""Give the conformance suite the samples; the entry points name what the package brings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give calls of exported programs, made when the suite asks."""
    from bindax_export._samples import samples

    return samples()


@hookimpl
def bindax_function_checks() -> Iterable[Any]:
    """Give the check of functions that are exported."""
    from bindax_export._function_checks import checks_of_export

    return checks_of_export()
