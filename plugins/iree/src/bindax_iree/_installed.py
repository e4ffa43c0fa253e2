"""The packages of IREE, which need not be installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bindax_core.errors import clause
from bindax_iree._errors import InstallationError


def compiler() -> Any:
    """The package ``iree.compiler``.

    Raises:
        InstallationError: when it does not import.
    """
    return _imported("compiler")


def runtime() -> Any:
    """The package ``iree.runtime``; raises as ``compiler`` does."""
    found = _imported("runtime")
    # At the end of the process it would print what arrays and programs still refer to.
    getattr(found._binding, "disable_leak_checker", lambda: None)()
    return found


def _imported(part: str) -> Any:
    try:
        return import_module(f"iree.{part}")
    except ImportError as error:
        raise InstallationError(
            f"the backend 'iree' needs iree-base-{part}, which does not import: {clause(error)}. "
            f"Install it: pip install 'bindax-iree[{part}]'."
        ) from error
