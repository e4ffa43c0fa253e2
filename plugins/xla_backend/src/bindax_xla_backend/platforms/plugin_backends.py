"""Backends for the platforms of PJRT plugins, each isolated from the failures of others."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from bindax_core.extend import BackendError, ShapedArray, config, float0
from bindax_xla_backend.execution.backend import XlaBackend
from bindax_xla_backend.platforms.pjrt_plugins import PATHS_VARIABLE, PjrtPlugin, discover

_log = logging.getLogger("bindax")
_ABOVE_CPU, _STEP = 200, 10


class PluginBackend(XlaBackend):
    """Compiles with XLA for the devices of a PJRT plugin.

    Its priority is -1 when it does not work, so that nobody gets it unasked.
    """

    host_accessible = False
    distributed = None

    def __init__(self, platform: str, plugin: PjrtPlugin | None, priority: int) -> None:
        super().__init__()
        self.name = platform
        self.platform: str = platform
        self.priority: int = priority
        self.failure: Exception | None = None  # to start it
        self._plugin = plugin

    def make_client(self) -> Any:
        """Start the plugin; the error, when it fails, has the reason as its cause."""
        if self.failure is None:
            try:
                from bindax_xla_backend.platforms.plugin_client import make_plugin_client

                return make_plugin_client(self.platform, str(self._library()))
            except Exception as error:
                self.failure = error
        where = "" if self._plugin is None else f", which {self._plugin.origin} brings,"
        kind, problem = type(self.failure).__name__, str(self.failure).rstrip(".")
        raise BackendError(
            f"the platform {self.platform!r}{where} cannot be used: {kind}: "
            f"{problem}. Repair or remove its package; for CUDA install jax-cuda12-pjrt or "
            f"jax-cuda13-pjrt in the version of jaxlib, or name a library with {PATHS_VARIABLE}. "
            f"config.platforms = 'cpu' leaves it alone."
        ) from self.failure

    def _library(self) -> Any:
        if self._plugin is None:
            others = ", ".join(map(repr, sorted(discover()))) or "none"
            raise FileNotFoundError(f"no PJRT plugin for it is installed; there are {others}")
        if self._plugin.library is None:
            raise FileNotFoundError(f"no file of {self._plugin.origin} has the function GetPjrtApi")
        return self._plugin.library

    def start(self) -> None:
        """Start it, and step aside where that fails; the failure is logged."""
        try:
            self.client()
        except BackendError as error:
            self.priority = -1
            _log.warning("%s The CPU is used.", error)

    def to_host(self, buffer: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
        """The values of a buffer as a NumPy array of its own memory."""
        if aval.dtype == float0 or self.is_deleted(buffer):
            return super().to_host(buffer, aval)
        self.block_until_ready(buffer)
        array: np.ndarray[Any, Any] = self._jaxlib.copy_to_host(buffer)
        return array


def plugin_backends(cpu: XlaBackend) -> list[XlaBackend]:
    """The backends of the plugins that are wanted, and the CPU in its place among them.

    With ``config.platforms`` they are those, the first before the others, and what fails is an
    error when it is used. Otherwise they are all that are installed, and one that fails is logged.
    """
    if config.platforms is None:
        found = [
            PluginBackend(platform, plugin, _ABOVE_CPU) for platform, plugin in discover().items()
        ]
        for backend in found:
            backend.start()
        return [cpu, *found]
    names = [name.strip() for name in config.platforms.split(",")]
    wanted = dict.fromkeys(filter(None, names))
    plugins = discover() if set(wanted) - {"cpu"} else {}
    made: list[XlaBackend] = []
    for i, platform in enumerate(wanted):
        priority = _ABOVE_CPU - _STEP * i
        if platform == "cpu":
            cpu.priority = priority
        else:
            made.append(PluginBackend(platform, plugins.get(platform), priority))
    return [cpu, *made]
