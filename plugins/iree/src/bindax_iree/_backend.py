"""The backend: compiles programs with IREE and runs them on a device of one of its drivers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import (
    BackendError,
    ClosedJaxpr,
    DefaultPlacement,
    DeletedArrayError,
    ShapedArray,
    compiler_started,
    config,
)
from bindax_iree._support import DIFFERENCES, UNITS, UNSUPPORTED

if TYPE_CHECKING:
    from bindax_iree._executable import Executable, LoweredProgram
    from bindax_iree._runtime import Buffer, IreeDevice, Runtime


class IreeBackend:
    """Compiles with IREE, and runs programs with the driver that ``config.iree_driver`` names.

    Making one imports nothing of IREE, and it is never the default: name it to use it.

    Attributes:
        name: ``"iree"``.
        priority: below the interpreter of the kernel.
        platform: ``"iree"``.
        host_accessible: whether NumPy can read buffers where they are: with a driver of the CPU.
        unsupported: the names of the primitives that it refuses.
        units: how many units in the last place some functions may be from the reference.
        differences: which functions have other results for zeros, infinities and nan, and how.
    """

    name = "iree"
    priority = -1
    platform = "iree"
    unsupported = UNSUPPORTED
    units = UNITS
    differences = DIFFERENCES

    def __init__(self) -> None:
        self.host_accessible: bool = True
        self._runtime: Runtime | None = None
        self._forked = False
        self._lock = threading.Lock()
        self.default_placement: DefaultPlacement = DefaultPlacement(self)

    def __repr__(self) -> str:
        return "IreeBackend()"

    def compile(self, jaxpr: ClosedJaxpr, **options: Any) -> Executable:
        """Compile a program for the device; the memory of donated operands is not reused.

        Raises:
            CompilationError: when IREE lacks something that the program needs.
            InstallationError: when IREE is not installed.
        """
        return self.lower(jaxpr, **options).compile()

    def lower(
        self,
        jaxpr: ClosedJaxpr,
        *,
        name: str,
        donated: Sequence[bool] = (),
        keep_unused: bool = False,
    ) -> LoweredProgram:
        """Lower a program to StableHLO without compiling it; arguments as for ``compile``."""
        from bindax_iree._executable import LoweredProgram
        from bindax_iree._lowering import lower

        return LoweredProgram(self, lower(jaxpr, name), jaxpr.in_avals, jaxpr.out_avals)

    def put(self, array: np.ndarray[Any, Any], aval: ShapedArray, device: Any = None) -> Buffer:
        """A buffer on the device with the values of an array."""
        return self.runtime().put(np.asarray(array))

    def to_host(self, buffer: Buffer, aval: ShapedArray) -> np.ndarray[Any, Any]:
        """The values of a buffer as a read-only NumPy array.

        Raises:
            DeletedArrayError: when the buffer was deleted.
        """
        if buffer.view is None:
            raise DeletedArrayError(
                f"an array of type {aval.str_short()} was looked at, but it was deleted."
            )
        return self.runtime().to_host(buffer, aval)

    def block_until_ready(self, buffer: Buffer) -> None:
        """Do nothing: a call returns when its results are computed."""

    def delete(self, buffer: Buffer) -> None:
        """Give the memory of a buffer back, as soon as no NumPy view needs it."""
        buffer.view = None

    def is_deleted(self, buffer: Buffer) -> bool:
        """Tell whether a buffer was deleted."""
        return buffer.view is None

    def devices(self) -> list[IreeDevice]:
        """The device of the driver."""
        return [self.runtime().device]

    def runtime(self) -> Runtime:
        """The device with its runtime, made on the first call.

        Raises:
            BackendError: when the driver cannot be used, and in a process that was forked.
        """
        if self._runtime is None:
            from bindax_iree._runtime import Runtime

            if self._forked:
                raise BackendError(_FORKED)
            with self._lock:
                if self._runtime is None:
                    self._runtime = Runtime(config.iree_driver)
                    self.host_accessible = self._runtime.host_accessible
                    compiler_started(lambda: None, self._abandon)
                    config.check("iree_driver", self._keep_driver)
        return self._runtime

    def _keep_driver(self, driver: str) -> None:
        if self._runtime is not None and driver != self._runtime.device.device_kind:
            raise BackendError(
                f"config.iree_driver was set to {driver!r}, but programs run with "
                f"{self._runtime.device.device_kind!r} since its first use; set it before, or "
                f"BINDAX_IREE_DRIVER in the environment."
            )

    def _abandon(self) -> None:
        """Refuse to run anything, in a process that lacks the threads of the driver."""
        self._abandoned, self._runtime, self._forked = self._runtime, None, True


_FORKED = (
    "this process was forked after IREE had started its threads, which it lacks, so it can run "
    'nothing with IREE. Start processes with multiprocessing.get_context("spawn") or "forkserver".'
)
