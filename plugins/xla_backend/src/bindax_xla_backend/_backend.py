"""The backend: compiles programs with XLA and keeps arrays on its devices."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import (
    BackendError,
    ClosedJaxpr,
    DeletedArrayError,
    ShapedArray,
    compiler_started,
    float0,
)
from bindax_xla_backend import _cache
from bindax_xla_backend._errors import (
    FORKED,
    ArgumentError,
    CompilationError,
    ExecutionError,
    excerpt,
)
from bindax_xla_backend._types import element_type, storage_dtype

# jaxlib takes 0.1 s to import, so whatever needs it is imported by the first use of the backend.
if TYPE_CHECKING:
    from bindax_xla_backend._aot import Lowered
    from bindax_xla_backend._executable import Executable
    from bindax_xla_backend._jaxlib import Device
    from bindax_xla_backend._program import LoweredProgram


class XlaBackend:
    """Compiles with XLA for the CPU of this machine, through ``jaxlib``.

    Making one imports nothing; the client, with its threads, is started by the first use.

    Attributes:
        name: ``"xla"``.
        priority: above the interpreter of the kernel.
        platform: ``"cpu"``.
        host_accessible: True: NumPy can read buffers where they are.
    """

    name = "xla"
    priority = 100
    platform = "cpu"
    host_accessible = True

    def __init__(self) -> None:
        self.compiled = _cache.MemoryCache()
        self._lock = threading.Lock()
        self.executables: weakref.WeakSet[Executable] = weakref.WeakSet()
        self._client: Any = None
        self._forked = False
        self._abandoned: Any = None
        self._devices: list[Device] = []

    def __repr__(self) -> str:
        return f"XlaBackend(platform={self.platform!r})"

    @property
    def foreign(self) -> Any:
        """The registry of kernels of other languages."""
        from bindax_xla_backend import _foreign

        return _foreign

    @property
    def profiler(self) -> Any:
        """The profiler of XLA."""
        from bindax_xla_backend import _profiler

        return _profiler

    def compile(
        self,
        jaxpr: ClosedJaxpr,
        *,
        name: str,
        donated: Sequence[bool] = (),
        keep_unused: bool = False,
    ) -> Executable:
        """Compile a program.

        Args:
            jaxpr: the program.
            name: its name, for messages and profiles.
            donated: for each operand, whether its memory may be reused for a result.
            keep_unused: whether operands that the program does not use are transferred anyway.

        Returns:
            What takes flat operands and gives the list of results.

        Raises:
            MissingRuleError: when a primitive can neither be lowered nor evaluated on the host.
            LoweringError: when a lowering rule is wrong.
            CompilationError: when XLA rejects the program.
        """
        return self.compile_lowered(self._lowered(jaxpr, name, donated, keep_unused))

    def lower(
        self,
        jaxpr: ClosedJaxpr,
        *,
        name: str,
        donated: Sequence[bool] = (),
        keep_unused: bool = False,
    ) -> Lowered:
        """Lower a program to StableHLO without compiling it; arguments as for ``compile``."""
        from bindax_xla_backend._aot import Lowered

        return Lowered(self, self._lowered(jaxpr, name, donated, keep_unused))

    def compile_lowered(self, program: LoweredProgram) -> Executable:
        """Compile a program that was lowered, or take it from a cache."""
        from bindax_xla_backend import _jaxlib
        from bindax_xla_backend._executable import Executable

        device = self.device()
        options = _jaxlib.compile_options()
        if b"lapack_" in program.bytecode:
            _jaxlib.enable_lapack()
        if program.callbacks:
            # It calls Python functions of this process, so it can be used by nobody else.
            loaded = self._compile(program, options)
        else:
            key = _cache.program_key(
                program.text(),
                options.SerializeAsString(),
                f"jaxlib {_jaxlib.VERSION} {self.platform} {len(self._devices)}",
            )
            loaded = self.compiled.get(
                key, len(program.bytecode), lambda: self._load_or_compile(program, options, key)
            )
        return Executable(self, program, loaded, device)

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
        return chosen.put(np.asarray(array, order="C"), copy=copy)

    def to_host(self, buffer: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
        """The values of a buffer as a read-only NumPy array that shares its memory.

        Waits until they are computed. Types of less than a byte are copied.

        Raises:
            DeletedArrayError: when the buffer was deleted or donated.
            ExecutionError: when the computation of the buffer failed.
        """
        from bindax_xla_backend import _jaxlib

        if _jaxlib.is_deleted(buffer):
            raise DeletedArrayError(
                f"an array of type {aval.str_short()} was looked at, but it was deleted or "
                f"donated to a compiled function; use that function's result, or do not donate it."
            )
        if aval.dtype == float0:
            self.block_until_ready(buffer)
            return np.zeros(aval.shape, float0)
        try:
            return _jaxlib.to_numpy(buffer, aval.shape, aval.dtype)
        except (_jaxlib.RuntimeFailure, BufferError) as error:
            raise _failed(error) from error

    def block_until_ready(self, buffer: Any) -> None:
        """Wait until a buffer is computed.

        Raises:
            DeletedArrayError: when the buffer was deleted or donated.
            ExecutionError: when its computation failed.
        """
        from bindax_xla_backend import _jaxlib

        if _jaxlib.is_deleted(buffer):
            raise DeletedArrayError("an array was waited for that was deleted or donated before.")
        try:
            _jaxlib.block_until_ready([buffer])
        except _jaxlib.RuntimeFailure as error:
            raise _failed(error) from error

    def effects_barrier(self) -> None:
        """Wait until the host functions that running programs call have returned."""
        if self._client is not None:
            from bindax_xla_backend import _pending

            _pending.barrier()

    def delete(self, buffer: Any) -> None:
        """Give the memory of a buffer back, as soon as no NumPy view needs it."""
        from bindax_xla_backend import _jaxlib

        _jaxlib.delete(buffer)

    def is_deleted(self, buffer: Any) -> bool:
        """Tell whether a buffer was deleted or donated."""
        from bindax_xla_backend import _jaxlib

        return _jaxlib.is_deleted(buffer)

    def devices(self) -> list[Device]:
        """The devices that programs can run on."""
        self.client()
        return list(self._devices)

    def devices_of(self, buffer: Any) -> list[Device]:
        """The devices that a buffer is on."""
        return [self.device()]

    def device(self) -> Device:
        """The device that programs run on."""
        if not self._devices:
            self.client()
        return self._devices[0]

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
                    from bindax_xla_backend import _jaxlib

                    client = self.make_client()
                    self._devices = _jaxlib.local_devices(client)
                    self._client = client
                    compiler_started(self._settle, self._abandon)
        return self._client

    def make_client(self) -> Any:
        """A new PJRT client for the platform."""
        from bindax_xla_backend import _jaxlib

        return _jaxlib.make_cpu_client()

    def _settle(self) -> None:
        """Wait for what is being computed, so that a forked process can read it."""
        from bindax_xla_backend import _jaxlib

        self.effects_barrier()
        _jaxlib.settle(self._client)

    def _abandon(self) -> None:
        """Refuse to compile or to run anything, in a process that lacks the client's threads."""
        self._abandoned = self._client, self._devices  # freeing them could wait for a thread
        self._client, self._devices, self._forked = None, [], True
        for executable in list(self.executables):
            executable.abandon()

    def _lowered(
        self, jaxpr: ClosedJaxpr, name: str, donated: Sequence[bool], keep_unused: bool
    ) -> LoweredProgram:
        from bindax_xla_backend._program import lower_program

        program = lower_program(
            jaxpr, name=name, donated=donated, keep_unused=keep_unused, platform=self.platform
        )
        unused = [
            f"{i} ({program.in_avals[i].str_short()})"
            for i, flag in enumerate(donated)
            if flag and i not in program.donated
        ]
        if unused:
            warnings.warn(
                f"{name}: the memory of the donated operands {', '.join(unused)} cannot be "
                f"reused, because no result that is left has the same shape and dtype; they stay "
                f"usable. Donate only operands that a result can replace.",
                stacklevel=2,
            )
        return program

    def _load_or_compile(self, program: LoweredProgram, options: Any, key: bytes) -> Any:
        from bindax_xla_backend import _jaxlib

        directory = _cache.compilation_cache_dir()
        if directory is None:
            return self._compile(program, options)
        stored = _cache.read_entry(directory, key)
        if stored is not None:
            try:
                return _jaxlib.load_executable(self._client, self.device(), stored, options)
            except _jaxlib.RuntimeFailure:
                pass  # written by something that is not quite this version: compile it anew
        loaded = self._compile(program, options)
        _cache.write_entry(directory, key, _jaxlib.serialize_executable(loaded))
        return loaded

    def _compile(self, program: LoweredProgram, options: Any) -> Any:
        from bindax_xla_backend import _jaxlib, _mlir

        client, device = self.client(), self.device()
        try:
            if not program.callbacks:
                return _jaxlib.compile_program(client, device, program.bytecode, options)
            with _mlir.Context.borrow() as context:
                module = context.parse_module(program.bytecode)
                return _jaxlib.compile_module(client, device, module, options, program.callbacks)
        except _jaxlib.RuntimeFailure as error:
            raise CompilationError(
                f"XLA could not compile {program.name}: {excerpt(str(error))}\n"
                f"lower(...).as_text() shows the program that was given to it."
            ) from error


def _failed(error: Exception) -> ExecutionError:
    return ExecutionError(
        f"the computation of an array failed, in the program that gave it: {excerpt(str(error))}"
    )
