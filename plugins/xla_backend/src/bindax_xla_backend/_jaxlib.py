"""Everything of ``jaxlib`` that this package touches; the only module that imports it.

``jaxlib`` promises no stable Python interface, so what differs between the supported versions is
evened out here. Three habits keep a process safe in which JAX runs too, or is not installed:

- nothing process-wide is set that JAX reads (dtype width, tracebacks, canonicalization handlers);
- no method of a device buffer is called that leads to JAX's Python code. Several of them import
  JAX behind the caller's back, and behave differently once it is imported;
- results leave an execution through result handlers only.

Buffers, executables and IR objects are opaque to the rest of the package, hence ``Any``.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import DeviceMemories, ShapedArray
from bindax_xla_backend._element_types import LAST_NUMPY_DTYPE, storage_dtype
from bindax_xla_backend._errors import InstallationError


@contextmanager
def _quiet_start() -> Iterator[None]:
    # XLA writes informational lines to stderr when a client starts. The variable is read once,
    # when the library is loaded; the user's environment is left as it was.
    name = "TF_CPP_MIN_LOG_LEVEL"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        os.environ.pop(name, None)


try:
    with _quiet_start():
        # Only the loaders of the dialects: their generated Python modules would cost 100 ms.
        import jaxlib.version
        from jaxlib import _hlo as _hlo  # type: ignore[attr-defined, unused-ignore]
        from jaxlib import _jax as _jax  # type: ignore[attr-defined, unused-ignore]
        from jaxlib import xla_client as xla_client

        if tuple(map(int, jaxlib.version.__version__.split(".")[:2])) > (0, 10):
            # There _sdy imports this one while it is itself half made. Asked for first, it waits
            # for the rest, which JAX in the same process needs.
            import jaxlib.mlir.dialects.sdy
        from jaxlib.mlir import ir as ir
        from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _sdy
        from jaxlib.mlir._mlir_libs import _stablehlo as _stablehlo
except Exception as error:
    raise InstallationError.because_of(error) from error

VERSION: str = jaxlib.version.__version__

INCLUDE_DIRECTORY = os.path.join(os.path.dirname(jaxlib.version.__file__), "include")
"""The directory of the headers that foreign kernels include."""

RuntimeFailure: type[Exception] = _jax.JaxRuntimeError
"""The error that jaxlib raises when compilation or execution fails."""

InvalidIR: type[Exception] = ir.MLIRError
"""The error that MLIR raises for text that does not parse and operations that do not verify."""


class _BufferAval:
    """The shape and dtype of a buffer, in the form in which jaxlib's C++ code reads them."""

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak_type = False

    def str_short(self, short_dtypes: bool = False) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


if TYPE_CHECKING:
    _Sharding = object  # jaxlib has no types
else:
    _Sharding = _jax.Sharding


class RawSharding(_Sharding):
    """Devices and the parts of an array on them; what jaxlib's C++ code asks for, no more.

    Args:
        devices: the devices, in the order in which programs count them.
        parts: an opaque HLO sharding; None for copies.
        memory: the kind of their memory, None for their own.
    """

    # Not properties, as they are asked for several times by each transfer.
    __slots__ = (
        "_addressable_device_assignment",
        "_device_assignment",
        "_internal_device_list",
        "_parts",
        "memory_kind",
    )

    def __init__(
        self, devices: Sequence[Device], parts: Any = None, memory: str | None = None
    ) -> None:
        super().__init__()
        self.memory_kind: str | None = memory
        self._device_assignment = tuple([device.raw for device in devices])
        local = tuple([device.raw for device in devices if device.is_local])
        self._addressable_device_assignment = local
        self._internal_device_list = xla_client.DeviceList(self._device_assignment)
        self._parts = _hlo.HloSharding.replicate() if parts is None else parts

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> Any:
        return self._parts


_ALIGNMENT = 64
"""The boundary, in bytes, on which XLA for CPUs takes memory as it is."""

_MANY_BYTES = 1 << 16
"""The fewest bytes that take longer to copy than to look after."""


@functools.cache
def _free_with_garbage() -> None:
    """Let Python's collections of garbage free arrays that were put on a device.

    Otherwise they are freed when the next one is put there, which may be never.
    """

    def collect(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            _jax.collect_garbage()

    gc.callbacks.append(collect)


class Device(DeviceMemories):
    """One device of a client, with what is needed to place arrays on it."""

    __slots__ = ("id", "is_local", "platform", "process_index", "raw", "sharding")

    def __init__(self, raw: Any, is_local: bool = True) -> None:
        self.raw: Any = raw
        self.id: int = int(raw.id)
        self.is_local: bool = is_local
        self.platform: str = str(raw.platform)
        self.process_index: int = int(raw.process_index)
        self.sharding: RawSharding = RawSharding((self,))
        _free_with_garbage()

    @property
    def device_kind(self) -> str:
        """The name of the hardware."""
        return str(self.raw.device_kind)

    @property
    def local_hardware_id(self) -> int:
        """The number of the hardware on its machine."""
        return int(self.raw.local_hardware_id)

    def _memory_kinds(self) -> tuple[str, ...]:
        own = str(self.raw.default_memory().kind)
        every = [str(memory.kind) for memory in self.raw.addressable_memories()]
        return (own, *[kind for kind in every if kind != own])

    def memory_stats(self) -> dict[str, int] | None:
        """The bytes in use and their limits, where the hardware counts them."""
        return self.raw.memory_stats() if self.is_local else None

    def __repr__(self) -> str:
        return f"Device({self.platform}:{self.id})"

    def put(self, array: np.ndarray[Any, Any], *, copy: bool) -> Any:
        """A buffer with the values of a C-ordered array of native byte order.

        With ``copy``, as somebody may write to the array later, the buffer has its own memory, and
        the copy is finished on return; else it has where that saves time.
        """
        shares = not copy and array.nbytes >= _MANY_BYTES and array.ctypes.data % _ALIGNMENT == 0
        shares = shares and array.dtype.name not in _SUBBYTE_NAMES
        return self.putter(array.shape, array.dtype, shares=shares)(array)

    def putter(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], *, shares: bool = False
    ) -> Callable[[np.ndarray[Any, Any]], Any]:
        """A function that does what ``put`` does, for many arrays of one type."""
        put, raw, sharding = _jax.batched_device_put, [self.raw], self.sharding
        aval = _BufferAval(shape, dtype)
        kinds = xla_client.HostBufferSemantics
        semantics = kinds.ZERO_COPY if shares else kinds.IMMUTABLE_ONLY_DURING_CALL

        def put_one(array: np.ndarray[Any, Any]) -> Any:
            return put(aval, sharding, [array], raw, True, False, semantics, True)

        return put_one


def result_handler(sharding: RawSharding, aval: ShapedArray, wrap: Callable[[Any], Any]) -> Any:
    """Make the handler that turns one raw result of an execution into ``wrap(buffer)``."""
    arguments = (_BufferAval(aval.shape, storage_dtype(aval.dtype)), sharding, True)
    try:
        handler = _jax.array_result_handler(*arguments, _skip_checks=True)
    except TypeError:  # jaxlib 0.11 and later never check, and have no such parameter
        handler = _jax.array_result_handler(*arguments)
    return handler.wrap(wrap)


def make_cpu_client(num_devices: int = 1, **distributed: Any) -> Any:
    """A new client of the CPU platform; several clients can live in one process."""
    with _quiet_start():
        return xla_client.make_cpu_client(num_devices=num_devices, **distributed)


_MOST_OF_ONE_PROCESS = 2048
"""The number of devices of a CPU client from which XLA takes them for another process's."""


def make_virtual_client(num_devices: int) -> Any:
    """A client of the CPU platform whose devices are to be compiled for, not to be used."""
    if num_devices <= _MOST_OF_ONE_PROCESS:
        return make_cpu_client(num_devices)
    # XLA compiles for several processes where they have a way to exchange values. It is not used.
    return make_cpu_client(num_devices, collectives=_jax.make_mpi_collectives())


def planned_memory(executable: Any) -> dict[str, int]:
    """The bytes that a run needs on a device: for arguments, outputs, temporaries, and others."""
    stats = executable.get_compiled_memory_stats()
    purposes = ("argument", "output", "alias", "temp", "generated_code")
    names = [f"{purpose}_size_in_bytes" for purpose in purposes]
    return {name: int(getattr(stats, name)) for name in names}


def all_devices(client: Any) -> list[Device]:
    """The devices of a client, those of other processes included."""
    local = {raw.id for raw in client.local_devices()}
    return [Device(raw, raw.id in local) for raw in client.devices()]


@functools.cache
def enable_lapack() -> None:
    """Let programs call LAPACK on the CPU; the first time takes 0.4 s, to load the library.

    The targets are those that JAX registers under the same names; doing so twice is harmless.
    """
    from jaxlib.cpu import _lapack  # type: ignore[attr-defined, unused-ignore]

    for name, function in _lapack.registrations().items():
        version = 1 if name.endswith("_ffi") else 0
        xla_client.register_custom_call_target(name, function, platform="cpu", api_version=version)
        if version:  # devices that hold parts of a batch need nothing of each other
            xla_client.register_custom_call_as_batch_partitionable(name)
    _lapack.initialize()


def compile_options(device_count: int = 1) -> Any:
    """Options for a program that runs on some devices."""
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = 1, device_count
    return options


def _device_list(devices: Sequence[Device]) -> Any:
    return xla_client.DeviceList(tuple([device.raw for device in devices]))


def compile_program(
    client: Any, devices: Sequence[Device], program: Any, options: Any, *callbacks: Sequence[Any]
) -> Any:
    """Compile MLIR bytecode and load it onto devices.

    With a list of Python functions, which its custom calls name by their position, it is a module.
    """
    return client.compile_and_load(program, _device_list(devices), options, *callbacks)


def load_executable(client: Any, devices: Sequence[Device], serialized: bytes, options: Any) -> Any:
    """Load a serialized executable; it may run code, so the bytes must be trusted."""
    return client.deserialize_executable(serialized, _device_list(devices), options)


def cost_analysis(client: Any, module: Any) -> dict[str, float]:
    """XLA's estimates for a program: ``flops``, ``bytes accessed`` and others."""
    return dict(_jax.hlo_module_cost_analysis(client, module))


def hlo_text(computation: Any, *, debug_info: bool) -> str:
    """The text of a program in the language of XLA, with the places that operations come from."""
    options = _hlo.HloPrintOptions()
    options.print_metadata = debug_info
    return str(computation.get_hlo_module().to_string(options))


def load_profiler() -> tuple[Any, Any]:
    """The module of the profiler, and the class that reads its files."""
    from jaxlib import _profile_data, _profiler  # type: ignore[attr-defined, unused-ignore]

    return _profiler, _profile_data.ProfileData


def settle(client: Any) -> None:
    """Wait for all buffers of a client; failures show when a buffer is looked at."""
    for buffer in client.live_arrays():
        try:
            if not buffer.is_deleted():
                _jax.batched_block_until_ready([buffer])
        except RuntimeFailure:
            pass


def run_with_token(executable: Any, buffers: Sequence[Any]) -> tuple[Any, Any]:
    """Start an execution; give its results and a token with ``block_until_ready()``."""
    results = executable.execute_sharded(buffers, with_tokens=True)
    return results, results.consume_token()


def delete(buffer: Any) -> None:
    """Give a buffer's memory back, as soon as no host view needs it."""
    # Deleting a buffer that is exported ends the process. It goes with its last reference.
    if id(buffer) not in _held:
        buffer.delete()


def block_until_ready(buffers: Sequence[Any]) -> None:
    """Wait until the buffers are computed; raises what their computation raised."""
    _jax.batched_block_until_ready(buffers if type(buffers) is list else list(buffers))


_SUBBYTE_NAMES = frozenset(("int1", "int2", "int4", "uint1", "uint2", "uint4", "float4_e2m1fn"))


def to_numpy(buffer: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A read-only host array of a buffer's values, without a copy where the memory allows it.

    The array keeps the memory alive, also when the buffer is deleted or donated later. The
    buffer must not be deleted.
    """
    if dtype.num <= LAST_NUMPY_DTYPE:
        # Not np.asarray(buffer): it falls back to JAX's __array__ when the protocol fails.
        return np.asarray(memoryview(buffer))
    if dtype.name in _SUBBYTE_NAMES:
        return copy_to_host(buffer)
    block_until_ready([buffer])
    if 0 in shape:
        return _read_only(np.empty(shape, dtype))
    # NumPy knows no buffer format for the dtypes of ml_dtypes, so its memory is given by address.
    held = _held.get(id(buffer))
    if held is None:
        held = _held[id(buffer)] = _HeldMemory(buffer, shape, dtype.itemsize)
    return np.asarray(held).view(dtype)


class _HeldMemory:
    """Memory of a buffer, for NumPy to look at.

    A DLPack export that nobody imports keeps it from being freed or overwritten by a donation.
    """

    def __init__(self, buffer: Any, shape: tuple[int, ...], itemsize: int) -> None:
        self._buffer = buffer
        self._export = _jax.buffer_to_dlpack_managed_tensor(buffer)
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": f"|V{itemsize}",
            "data": (buffer.unsafe_buffer_pointer(), True),
        }


_held: weakref.WeakValueDictionary[int, _HeldMemory] = weakref.WeakValueDictionary()
"""The memory that NumPy arrays look at, by the identity of the buffer, which it keeps alive."""


def _read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def copy_to_host(buffer: Any) -> np.ndarray[Any, Any]:
    """A host array of a buffer whose memory the host cannot read."""
    with _jax_import_blocked():
        array, _ = buffer._single_device_array_to_np_array_did_copy()
    return _read_only(np.array(array))


_import_lock = threading.RLock()


@contextmanager
def _jax_import_blocked() -> Iterator[None]:
    # Some methods of a buffer import JAX if they can: over a second, and 200 MB.
    with _import_lock:
        if "jax" in sys.modules:
            yield
            return
        sys.modules["jax"] = None  # type: ignore[assignment]
        try:
            yield
        finally:
            if sys.modules.get("jax", False) is None:
                del sys.modules["jax"]


_registry = ir.DialectRegistry()
_jax_mlir_ext.register_dialects(_registry)
_thread_pool = ir.ThreadPool()


class _PlainContext(ir.Context):
    # The initializer of ir.Context loads more dialects, and Python modules for them.
    def __init__(self) -> None:
        super(ir.Context, self).__init__()


def make_context() -> Any:
    """A new MLIR context with the dialects that programs use; takes milliseconds."""
    context = _PlainContext()
    context.append_dialect_registry(_registry)
    context.load_all_available_dialects()
    context.set_thread_pool(_thread_pool)
    for dialect in (_stablehlo, _chlo, _sdy):
        dialect.register_dialect(context)
    return context
