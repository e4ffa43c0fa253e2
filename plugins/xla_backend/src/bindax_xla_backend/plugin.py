"""What this package offers to bindax; ``jaxlib`` is imported by the first use of the backend."""

from __future__ import annotations

from collections.abc import Iterable

from bindax_core.extend import Backend, Extension, hookimpl
from bindax_xla_backend import _rules
from bindax_xla_backend._backend import XlaBackend

backend = XlaBackend()
"""The one backend of this process."""


@hookimpl
def bindax_backends() -> Iterable[Backend]:
    """The XLA backend."""
    return [backend]


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """The lowering of ``jit``."""
    return _rules.extensions()
