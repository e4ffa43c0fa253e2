"""The settings of the IREE backend: its driver, and flags for its compiler."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Setting


def _driver(value: Any) -> Any:
    if isinstance(value, str) and value.replace("-", "").isalnum():
        return value
    raise ValueError("the name of a driver of IREE, such as 'local-task' or 'cuda'")


def _flags(value: Any) -> Any:
    if isinstance(value, str) and all(flag.startswith("--") for flag in value.split()):
        return value
    raise ValueError("flags of iree-compile in one string, each beginning with '--'")


iree_driver: Setting = Setting(
    "iree_driver",
    "local-task",
    """the driver of IREE that the backend ``"iree"`` runs programs with: ``"local-task"`` or
    ``"local-sync"`` on the CPU, ``"cuda"``, ``"hip"``, ``"vulkan"`` or ``"metal"`` where there is
    such a device. Read when the first program is run""",
    check=_driver,
)
iree_flags: Setting = Setting(
    "iree_flags",
    "",
    """more flags of ``iree-compile`` for programs of the backend ``"iree"``, separated by spaces,
    such as ``"--iree-cuda-target=sm_90"``""",
    check=_flags,
    traced=True,
)
