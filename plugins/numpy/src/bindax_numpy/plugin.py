"""The plugin that the registry loads: methods of arrays, supplied by this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bindax_core.extend import hookimpl
from bindax_numpy._methods import METHODS


@hookimpl
def bindax_array_attributes() -> Mapping[str, Any]:
    """The methods and properties of arrays and tracers."""
    return METHODS
