"""The backend: compiles programs with XLA and keeps arrays on its devices."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.errors import PlacementError
from bindax_core.extend import (
    BackendError,
    ClosedJaxpr,
    DefaultPlacement,
    DeletedArrayError,
    ShapedArray,
    compiler_started,
    config,
    float0,
    warn_user,
)
from bindax_xla_backend._element_types import element_type, storage_dtype
from bindax_xla_backend._errors import FORKED, ArgumentError
from bindax_xla_backend.distributed.failures import joined
from bindax_xla_backend.execution import compilation_cache

# jaxlib takes 0.1 s to import, so whatever needs it is imported by the first use of the backend.
if TYPE_CHECKING:
    from bindax_core.sharding import Layout, Sharding
    from bindax_xla_backend._jaxlib import Device
    from bindax_xla_backend.execution.executable import Executable
    from bindax_xla_backend.execution.placement import DevicePlacement
    from bindax_xla_backend.execution.sharded_executable import ShardedExecutable
    from bindax_xla_backend.lowering.program import Lowered, LoweredProgram
_FAILED = "the computation of an array failed, in the program that gave it"


class _LazyModule:
    """An attribute of a backend: a module of this package, imported by the first use."""

    def __init__(self, name: str) -> None:
        self._module = f"{__package__.rpartition('.')[0]}.{name}"

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute = name

    def __get__(self, backend: Any, owner: type | None = None) -> Any:
        """Import the module; later uses find it among the attributes of the backend."""
        if backend is None:
            return self
        module = import_module(self._module)
        vars(backend)[self._attribute] = module
        return module


class XlaBackend:
    """Compiles with XLA for the CPU of this machine, through ``jaxlib``.

    Making one imports nothing; the client, with its threads, is started by the first use.

    Attributes:
        name: ``"xla"``.
        priority: above the interpreter of the kernel.
        platform: ``"cpu"``.
        host_accessible: True: NumPy can read buffers where they are.
        units: the primitives, some in one dtype alone, that are less exact than checks of backends
            ask for, each with the units in the last place that it may be off by.
    """

    name = "xla"
    priority = 100
    platform = "cpu"
    host_accessible = True
    # Near its zeros, 1 and 2, lgamma is right up to an absolute error; where log1p of a double is
    # near log(√2 - 1), XLA cancels digits.
    units: Mapping[str, float] = {"lgamma": 64.0, "log1p float64": 256.0, "atanh float64": 256.0}

    foreign: _LazyModule = _LazyModule("platforms.ffi_targets")
    """The registry of kernels of other languages."""
    exporting: _LazyModule = _LazyModule("lowering.exporting")
    """The functions that write portable artifacts, and read and call them."""
    profiler: _LazyModule = _LazyModule("execution.profiler")
    """The profiler of XLA."""
    virtual: _LazyModule = _LazyModule("execution.virtual_devices")
    """Compilation for devices that do not exist."""
    distributed: Any = _LazyModule("distributed.processes")
    """The way to join other processes, whose devices are then used too; None without one."""
    _jaxlib = _LazyModule("_jaxlib")
    _sharded = _LazyModule("execution.sharded_buffers")

    def __init__(self) -> None:
        self.compiled: compilation_cache.MemoryCache = compilation_cache.MemoryCache()
        self._lock = threading.RLock()
        self.executables: weakref.WeakSet[Executable | ShardedExecutable] = weakref.WeakSet()
        self._client: Any = None
        self._forked = False
        self._abandoned: Any = None
        self._devices: list[Device] = []
        self._first: Device | None = None
        self.default_placement: DefaultPlacement = DefaultPlacement(self)
        self._placements: weakref.WeakValueDictionary[Any, DevicePlacement]
        self._placements = weakref.WeakValueDictionary()

    def __repr__(self) -> str:
        return f"XlaBackend(platform={self.platform!r})"

    def compile(
        self,
        jaxpr: ClosedJaxpr,
        *,
        name: str,
        donated: Sequence[bool] = (),
        keep_unused: bool = False,
        in_shardings: Sequence[Sharding | None] | None = None,
    ) -> ShardedExecutable:
        """Compile a program; called with operands that are bound to other places, it is for these.

        Args:
            jaxpr: the program.
            name: its name, for messages and profiles.
            donated: for each operand, whether its memory may be reused for a result.
            keep_unused: whether operands that the program does not use are transferred anyway.
            in_shardings: for each operand the sharding or format that it is bound to, or None.

        Returns:
            What takes flat operands and gives the list of results.

        Raises:
            MissingRuleError: when a primitive can neither be lowered nor evaluated on the host.
            LoweringError: when a lowering rule is wrong.
            CompilationError: when XLA rejects the program.
            PlacementError: when it names devices that do not fit together.
        """
        executable = self._executable(jaxpr, name, donated, keep_unused)
        return executable.start(self._placements_for(jaxpr, in_shardings))

    def _executable(self, jaxpr: ClosedJaxpr, *options: Any) -> ShardedExecutable:
        from bindax_xla_backend.execution.sharded_executable import ShardedExecutable
        from bindax_xla_backend.lowering.program import Request

        # Not the same jaxpr: its cache may hold the executables, which refer to this one.
        own = ClosedJaxpr(jaxpr.jaxpr, jaxpr.consts)
        names = jaxpr.cache.get("operand_names")
        if names is not None:
            own.cache["operand_names"] = names
        return ShardedExecutable(self, Request(own, *options))

    def _placements_for(
        self, jaxpr: ClosedJaxpr, in_shardings: Sequence[Sharding | None] | None
    ) -> tuple[Any, ...]:
        given = in_shardings or [None] * len(jaxpr.in_avals)
        return tuple([None if one is None else self._placement_for(one) for one in given])

    def _placement_for(self, given: Any) -> DevicePlacement:
        """The placement in which a program takes what is bound to a sharding or a format."""
        from bindax_core.sharding import split_format

        layout, sharding = split_format(given)
        own = sharding.with_memory_kind(None) if sharding.other_memory else sharding
        return self.place(own, layout=layout)

    def lower(
        self,
        jaxpr: ClosedJaxpr,
        *,
        name: str,
        donated: Sequence[bool] = (),
        keep_unused: bool = False,
        in_shardings: Sequence[Sharding | None] | None = None,
        platform: str | None = None,
    ) -> Lowered:
        """Lower a program to StableHLO without compiling it; arguments as for ``compile``.

        It may be for another platform, whose programs are read, not compiled here.
        """
        from bindax_xla_backend.lowering.program import Lowered

        executable = self._executable(jaxpr, name, donated, keep_unused)
        return Lowered(self, executable.lower(self._placements_for(jaxpr, in_shardings), platform))

    def compile_lowered(
        self, program: LoweredProgram, compiler_options: Mapping[str, Any] | None = None
    ) -> Executable:
        """Compile a program that was lowered, or take it from a cache; options are XLA's."""
        from bindax_xla_backend.execution.compilation import load, placements_of
        from bindax_xla_backend.execution.executable import Executable

        if b"lapack_" in program.bytecode:
            self._jaxlib.enable_lapack()
        loaded = load(self, program, compiler_options or {})
        return Executable(self, program, loaded, placements_of(self, program, loaded))

    def place(
        self, sharding: Sharding, *, committed: bool = True, layout: Layout | None = None
    ) -> DevicePlacement:
        """The place of a sharding and a layout; equal ones are one object.

        Raises:
            PlacementError: when it has devices that are not of this backend.
        """
        from bindax_xla_backend.execution.placement import DevicePlacement, LaidOutPlacement

        layout = None if layout is None or layout.is_default else layout
        key = (sharding, committed, layout)
        found = self._placements.get(key)
        if found is None:
            self.check_devices(sharding.device_assignment, "place")
            made = DevicePlacement(self, sharding, committed)
            if layout is not None:
                made = LaidOutPlacement(self, sharding, committed, layout)
            found = self._placements.setdefault(key, made)
        return found

    def check_devices(self, devices: Sequence[Any], what: str) -> None:
        """Raise unless all devices are of this backend; XLA would end the process."""
        own = self.devices()
        for device in devices:
            if not any(device is one for one in own):
                raise PlacementError(
                    f"{what}: {device!r} is not one of bindax.devices(), which are {own}; take "
                    f"devices from there."
                )

    @property
    def sharding(self) -> Sharding:
        """Where buffers of the default placement are: on the first device."""
        from bindax_core.sharding import SingleDeviceSharding

        return SingleDeviceSharding(self.device())

    def raw(self, ndim: int) -> Any:
        """The sharding of buffers on the first device, as jaxlib takes it."""
        return self.device().sharding

    def put(
        self,
        array: np.ndarray[Any, Any],
        aval: ShapedArray | None = None,
        device: Any = None,
        *,
        copy: bool = False,
    ) -> Any:
        """A buffer on a device with the values of an array.

        Args:
            array: a NumPy array or scalar.
            aval: the type it must have; the array's own when omitted.
            device: one of ``devices()``; the first when omitted.
            copy: whether the memory is copied in any case, because somebody may write to the
                array later. Otherwise the buffer can share it.

        Raises:
            ArgumentError: when the array is not of the type.
            OutOfMemoryError: when the device has no memory for it.
        """
        shape, dtype = (array.shape, array.dtype) if aval is None else (aval.shape, aval.dtype)
        if array.shape != shape or array.dtype != dtype:
            raise ArgumentError(
                f"an array of dtype {array.dtype.name} and shape {array.shape} was put on a "
                f"device as {dtype.name} {shape}; convert it first."
            )
        element_type(dtype)  # XLA's own error for a dtype that it lacks names no dtype
        if dtype == float0:
            array = np.zeros(shape, storage_dtype(dtype))
        elif not dtype.isnative:
            array = array.astype(dtype.newbyteorder("="))
        chosen: Device = self.device() if device is None else device
        try:
            return chosen.put(np.asarray(array, order="C"), copy=copy)
        except self._jaxlib.RuntimeFailure as error:
            kind = f"{dtype.name}[{','.join(map(str, shape))}]"
            raise self._failure(error, f"a copy of {kind} to {chosen!r} failed") from error

    def to_host(self, buffer: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
        """The values of a buffer as a read-only NumPy array that shares its memory.

        Waits until they are computed. Types of less than a byte are copied.

        Raises:
            DeletedArrayError: when the buffer was deleted or donated.
            ExecutionError: when the computation of the buffer failed.
        """
        self.check_alive(buffer, aval)
        if aval.dtype == float0:
            self.block_until_ready(buffer)
            return np.zeros(aval.shape, float0)
        try:
            array: np.ndarray[Any, Any] = self._jaxlib.to_numpy(buffer, aval.shape, aval.dtype)
            return array
        except (self._jaxlib.RuntimeFailure, BufferError) as error:
            raise self._failure(error, _FAILED) from error

    def copy(self, buffer: Any, aval: ShapedArray) -> Any:
        """A buffer on the first device with memory of its own."""
        self.check_alive(buffer, aval)
        return self._sharded.copied(buffer, self.raw(aval.ndim))

    def check_alive(self, buffer: Any, aval: ShapedArray) -> None:
        """Raise when a buffer was deleted or donated."""
        if self.is_deleted(buffer):
            raise DeletedArrayError(
                f"an array of type {aval.str_short()} was looked at, but it was deleted or "
                f"donated to a compiled function; use that function's result, or do not donate it."
            )

    def block_until_ready(self, buffer: Any) -> None:
        """Wait until a buffer is computed.

        Raises:
            DeletedArrayError: when the buffer was deleted or donated.
            ExecutionError: when its computation failed.
        """
        self.wait_for([buffer])

    def wait_for(self, buffers: Sequence[Any]) -> None:
        """``block_until_ready`` of many buffers at once."""
        try:
            self._jaxlib.block_until_ready(buffers)
        except self._jaxlib.RuntimeFailure as error:
            if any(map(self.is_deleted, buffers)):
                message = "an array was waited for that was deleted or donated before."
                raise DeletedArrayError(message) from error
            raise self._failure(error, _FAILED) from error

    def _failure(self, error: Exception, what: str) -> Exception:
        """The error for what XLA raised when something failed, which ``what`` names."""
        from bindax_xla_backend.execution.out_of_memory import run_failure

        return run_failure(what, error, self)

    def effects_barrier(self) -> None:
        """Wait until the host functions that running programs call have returned."""
        if self._client is not None:
            from bindax_xla_backend.execution import async_dispatch

            async_dispatch.barrier()

    def delete(self, buffer: Any) -> None:
        """Give the memory of a buffer back, as soon as no NumPy view needs it."""
        self._jaxlib.delete(buffer)

    def is_deleted(self, buffer: Any) -> bool:
        """Tell whether a buffer was deleted or donated."""
        return bool(self._sharded.is_deleted(buffer))

    def devices(self) -> list[Device]:
        """The devices that programs can run on."""
        self.client()
        return list(self._devices)

    def device(self) -> Device:
        """The first device of this process, on which programs run unless something else is said."""
        if self._first is None:
            self.client()
        return self._first  # type: ignore[return-value]

    def client(self) -> Any:
        """The PJRT client, made on the first call; opaque.

        Raises:
            BackendError: in a process that was forked after the client was made.
        """
        if self._client is None:
            if self._forked:
                raise BackendError(FORKED)
            with self._lock:
                if self._client is None:
                    client = self.make_client()
                    self._devices = self._jaxlib.all_devices(client)
                    self._first = next(d for d in self._devices if d.is_local)
                    self._client = client
                    compiler_started(self._settle, self._abandon)
                    if self.name == "xla":
                        config.check("num_cpu_devices", self._keep_devices)
        return self._client

    def _keep_devices(self, count: int) -> None:
        """Refuse another number of devices than there are since the client was made."""
        local = sum(device.is_local for device in self._devices)
        if self._client is not None and count != local:
            raise BackendError(
                f"config.num_cpu_devices was set to {count}, but the CPU has {local} devices since "
                f"its first use; set it before, or BINDAX_NUM_CPU_DEVICES in the environment."
            )

    def make_client(self) -> Any:
        """A new PJRT client for the platform."""
        if joined.connection is not None:
            return joined.connection.make_cpu_client(config.num_cpu_devices)
        return self._jaxlib.make_cpu_client(config.num_cpu_devices)

    def _settle(self) -> None:
        """Wait for what is being computed, so that a forked process can read it."""
        self.effects_barrier()
        self._jaxlib.settle(self._client)

    def _abandon(self) -> None:
        """Refuse to compile or to run anything, in a process that lacks the client's threads."""
        self._abandoned = self._client, self._devices  # freeing them could wait for a thread
        self._client, self._devices, self._first, self._forked = None, [], None, True
        for executable in list(self.executables):
            executable.abandon()

    def warn_of_unused(self, program: LoweredProgram, donated: Sequence[bool]) -> None:
        """Warn of donated operands that no result can replace."""
        unused = [
            f"{i} ({program.in_avals[i].str_short()})"
            for i, flag in enumerate(donated)
            if flag and i not in program.donated
        ]
        if unused:
            warn_user(
                f"Some donated buffers were not usable: the memory of the operands "
                f"{', '.join(unused)} of {program.name} cannot be reused, because no result that "
                f"is left has the same shape and dtype. They stay as they are. Donate only "
                f"operands that a result can replace.",
            )
