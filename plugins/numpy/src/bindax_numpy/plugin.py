"""The plugin that the registry loads: it tells arrays the namespace of their functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from bindax_core.extend import hookimpl


def _array_namespace(self: Any, /, *, api_version: str | None = None) -> ModuleType:
    """The functions for this array, as the Python array API standard says."""
    return importlib.import_module("bindax_numpy")


@hookimpl
def bindax_array_attributes() -> Mapping[str, Callable[..., ModuleType]]:
    """The method by which other libraries find the functions for an array."""
    return {"__array_namespace__": _array_namespace}
