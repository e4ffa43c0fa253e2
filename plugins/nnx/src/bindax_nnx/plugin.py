"""Say how modules are checked; they need no other entry of the registry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_function_checks() -> Iterable[Any]:
    """Give the checks of modules, and how modules are made functions."""
    from bindax_nnx._function_checks import checks_of_modules

    return checks_of_modules()
