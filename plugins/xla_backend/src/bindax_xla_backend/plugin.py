"""The plugin that the registry loads; ``jaxlib`` is imported when a program needs the backend."""

from __future__ import annotations

from collections.abc import Iterable

from bindax_core.extend import Backend, hookimpl
from bindax_xla_backend.execution.backend import XlaBackend

backend: XlaBackend = XlaBackend()
"""The backend for the CPU."""


@hookimpl
def bindax_backends() -> Iterable[Backend]:
    """The XLA backends; where ``jaxlib`` does not import, the error quarantines the plugin."""
    from bindax_xla_backend import _jaxlib  # noqa: F401 -- to see that it works
    from bindax_xla_backend.platforms.plugin_backends import plugin_backends

    return plugin_backends(backend)
