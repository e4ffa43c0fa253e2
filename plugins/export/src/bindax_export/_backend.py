"""The backend that writes and calls StableHLO programs; it is not imported by name."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import find_backend
from bindax_export._errors import ExportError


def exporting_backend() -> Any:
    """The backend that lowers programs to files, or an error when none is installed."""
    try:
        backend = find_backend("xla")
    except Exception as error:
        raise ExportError(
            f"programs are exported with XLA, which is not there: {error} Install bindax[xla]."
        ) from error
    return backend
