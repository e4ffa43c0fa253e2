"""The plugin that the registry loads; IREE is imported when a program is compiled or run."""

from __future__ import annotations

from collections.abc import Iterable

from bindax_core.extend import Backend, Extension, hookimpl
from bindax_iree._backend import IreeBackend

backend: IreeBackend = IreeBackend()
"""The backend for the driver of ``config.iree_driver``."""


@hookimpl
def bindax_backends() -> Iterable[Backend]:
    """The backend; without IREE its use is an error that says what to install."""
    return [backend]


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """The lowering rules for this platform."""
    from bindax_iree._rules import extensions

    return extensions()
