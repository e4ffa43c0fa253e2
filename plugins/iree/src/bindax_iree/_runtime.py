"""The runtime of IREE: a device, buffers on it, and modules that are loaded for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.errors import clause
from bindax_core.extend import BackendError, DeviceMemories, ShapedArray, dtype_name, float0
from bindax_iree import _installed
from bindax_iree._errors import CompilationError, ExecutionError


class Buffer:
    """A buffer view of IREE, until it is deleted."""

    __slots__ = ("view",)

    def __init__(self, view: Any) -> None:
        self.view: Any = view


class IreeDevice(DeviceMemories):
    """The device of a driver of IREE.

    Attributes:
        id: 0.
        platform: ``"iree"``.
        device_kind: the name of the driver.
        process_index: 0.
        is_local: True.
    """

    id: int = 0
    platform: str = "iree"
    process_index: int = 0
    is_local: bool = True

    def __init__(self, driver: str) -> None:
        self.device_kind: str = driver

    def __repr__(self) -> str:
        return f"IreeDevice({self.device_kind!r})"

    def memory_stats(self) -> None:
        """Give None: nobody counts."""


class Runtime:
    """A device of a driver, with the instance of the virtual machine that runs programs on it."""

    def __init__(self, driver: str) -> None:
        self._iree = iree = _installed.runtime()
        self.device: IreeDevice = IreeDevice(driver)
        self._instance = iree.VmInstance()
        try:
            self._device = iree.get_device(driver)
        except Exception as error:  # of several types, by driver
            known = ", ".join(sorted(iree.query_available_drivers()))
            raise BackendError(
                f"config.iree_driver is {driver!r}, which IREE cannot use here: {clause(error)}. "
                f"Its drivers are {known}; those of devices need the device and its library."
            ) from error
        self._elements: dict[np.dtype[Any], Any] = {}
        self._memory = iree.MemoryType.DEVICE_LOCAL
        self.host_accessible: bool = driver.startswith("local")
        if self.host_accessible:
            self._memory |= iree.MemoryType.HOST_VISIBLE
        self._usage = iree.BufferUsage.DEFAULT | iree.BufferUsage.MAPPING

    def put(self, array: np.ndarray[Any, Any]) -> Buffer:
        """A buffer with the values of an array."""
        host = np.zeros(array.shape, np.bool_) if array.dtype == float0 else array
        view = self._device.allocator.allocate_buffer_copy(
            memory_type=self._memory,
            allowed_usage=self._usage,
            device=self._device,
            buffer=np.asarray(host, host.dtype.newbyteorder("="), order="C"),
            element_type=self.element(host.dtype),
        )
        return Buffer(view)

    def to_host(self, buffer: Buffer, aval: ShapedArray) -> np.ndarray[Any, Any]:
        """The values of a buffer, as an array that shares its memory where NumPy can read it."""
        if aval.dtype == float0:
            return np.zeros(aval.shape, float0)
        if aval.size == 0:
            return np.zeros(aval.shape, aval.dtype)
        found: np.ndarray[Any, Any] = self._iree.DeviceArray(self._device, buffer.view).to_host()
        found = found.view(aval.dtype) if found.dtype != aval.dtype else found
        found.flags.writeable = False
        return found

    def has(self, aval: ShapedArray) -> bool:
        """Tell whether buffers can hold values of a type."""
        of_dtype = self._iree.array_interop.map_dtype_to_hal_element_type
        return aval.dtype == float0 or of_dtype(aval.dtype) is not None

    def element(self, dtype: np.dtype[Any]) -> Any:
        """The element type of IREE for a dtype.

        Raises:
            CompilationError: when it has none.
        """
        found = self._elements.get(dtype)
        if found is None:
            found = self._iree.array_interop.map_dtype_to_hal_element_type(dtype)
            if found is None:
                raise CompilationError(
                    f"the backend 'iree' has no element type for the dtype {dtype_name(dtype)}; "
                    f"convert the array to another first."
                )
            self._elements[dtype] = found
        return found

    def load(self, module: bytes, name: str) -> Callable[[Sequence[Buffer]], list[Buffer]]:
        """The function ``main`` of a compiled module, from buffers to buffers.

        Calls of one function wait for each other: the state of a module is not shared by threads.
        """
        iree = self._iree
        loaded = iree.VmModule.copy_buffer(self._instance, module)
        hal = iree.create_hal_module(self._instance, self._device)
        context = iree.VmContext(self._instance, modules=[hal, loaded])
        function = loaded.lookup_function("main")
        invoke, new_list, view, lock = (
            context.invoke,
            iree.VmVariantList,
            iree.HalBufferView,
            threading.Lock(),
        )

        def run(operands: Sequence[Buffer]) -> list[Buffer]:
            given, results = new_list(len(operands)), new_list(1)
            for buffer in operands:
                given.push_ref(buffer.view)
            try:
                with lock:
                    invoke(function, given, results)
            except Exception as error:  # RuntimeError and ValueError, by its status code
                raise ExecutionError(
                    f"the compiled program {name} failed: {clause(str(error)[:400])}"
                ) from error
            return [Buffer(results.get_as_object(i, view)) for i in range(len(results))]

        return run
