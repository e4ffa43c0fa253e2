"""The plugin, which connects the extension module to core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bindax_accelerator import _native
from bindax_core.extend import hookimpl

_NAMES = ("flatten", "method", "runner", "signatures", "unflatten", "wrapper")


def _connect(given: Mapping[str, Any]) -> Mapping[str, Callable[..., Any]]:
    _native.connect(given)
    return {name: getattr(_native, name) for name in _NAMES}


@hookimpl
def bindax_accelerator() -> Callable[[Mapping[str, Any]], Mapping[str, Callable[..., Any]]]:
    """Give the function that core calls with its objects."""
    return _connect
