"""Backends: what runs a staged program. With none installed, programs are interpreted.

The kernel knows the interface alone; packages supply backends through the ``bindax_backends`` hook.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from bindax_core._extension_points import runtime
from bindax_core.arrays._array import Array
from bindax_core.arrays._executable_cache import CacheEntry, executable_cache
from bindax_core.arrays._operands import as_array
from bindax_core.arrays._physical_executable import (
    LoweredPhysical,
    PhysicalExecutable,
    has_extended_dtypes,
)
from bindax_core.arrays._placement import HOST
from bindax_core.errors import BackendError
from bindax_core.kernel._aval import typeof
from bindax_core.kernel._config import config
from bindax_core.kernel._eval_jaxpr import eval_jaxpr
from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from bindax_core.kernel._parameters import is_reusable
from bindax_core.kernel._rollback import record_undo

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

Executable = Callable[..., Sequence[Any]]


class Backend(Protocol):
    """A compiler and runner of programs.

    Attributes:
        name: what ``config.backend`` and ``jit(backend=...)`` call it.
        priority: the one with the highest priority is used unless one is named.
        platform: the kind of device, such as ``"cpu"``.
        host_accessible: whether its buffers can be read by NumPy without a transfer.
    """

    name: str
    priority: int
    platform: str
    host_accessible: bool

    def compile(
        self, jaxpr: ClosedJaxpr, *, name: str, donated: Sequence[bool], keep_unused: bool
    ) -> Executable:
        """A function from flat operands to the list of result arrays."""

    def lower(
        self, jaxpr: ClosedJaxpr, *, name: str, donated: Sequence[bool], keep_unused: bool
    ) -> Any:
        """The program in the compiler's language, with ``as_text`` and ``compile``."""

    def to_host(self, buffer: Any, aval: Any) -> np.ndarray[Any, Any]:
        """The bytes of a buffer as a NumPy array."""

    def put(self, array: np.ndarray[Any, Any], aval: Any, device: Any = None) -> Any:
        """A buffer of an array's bytes. Nobody writes to the array, so it may share its memory."""

    def block_until_ready(self, buffer: Any) -> None:
        """Wait until a buffer's computation has ended."""

    def delete(self, buffer: Any) -> None:
        """Free a buffer."""

    def is_deleted(self, buffer: Any) -> bool:
        """Tell whether a buffer was freed or donated."""

    def devices(self) -> Sequence[Any]:
        """The devices that the backend can use."""

    # A backend may have ``default_placement``, the ``Placement`` of arrays on its first device that
    # are bound to none. One with several devices has two more, of which the others know nothing:
    #   place(sharding, *, committed=True) -> Placement
    #   lower(..., in_shardings=None), for each operand the sharding that it is bound to, or None.
    # An executable learns of devices from its operands (``Array.placement``), and from the meshes
    # and shardings that are parameters of equations.


class LoweringContext(Protocol):
    """The builder for ``lowering["stablehlo"]`` rules; values are opaque to the rule.

    Attributes:
        avals_in: the types of the operands.
        avals_out: the types of the results.
        platform: the kind of device that is compiled for.
        device_count: the number of devices that the program is divided among.
    """

    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    platform: str
    device_count: int

    def op(
        self,
        name: str,
        operands: Sequence[Any],
        result_avals: Sequence[Any] | None = None,
        attributes: Mapping[str, str] = ...,
        regions: Sequence[Region] = (),
    ) -> list[Any]:
        """An operation; attributes are text; the result types default to ``avals_out``."""

    def constant(self, value: Any) -> Any:
        """A constant from a NumPy value."""

    def inline(self, jaxpr: ClosedJaxpr, values: Sequence[Any]) -> list[Any]:
        """The operations of a program, in place."""

    def call(self, jaxpr: ClosedJaxpr, values: Sequence[Any], name: str) -> list[Any]:
        """A call of a program that becomes a function, shared by its calls."""

    def broadcast(self, value: Any, aval_from: Any, aval_to: Any, dimensions: Sequence[int]) -> Any:
        """A value repeated along new axes; axis i becomes axis ``dimensions[i]``."""

    def sharding(self, sharding: Any, ndim: int) -> str:
        """A ``NamedSharding`` of an array as the text of an attribute of Shardy's, ``sdy``."""

    def inspect_sharding(self, value: Any, callback: Callable[[Any], None]) -> None:
        """Call a function with the sharding of the first operand, when it is decided."""

    def mesh(self, mesh: Any) -> str:
        """The symbol of a mesh, declared where the program needs it, without ``@``."""

    def callback(
        self,
        function: Callable[..., Any],
        operands: Sequence[Any],
        result_avals: Sequence[Any],
        *,
        pure: bool = False,
        ordered: bool = False,
    ) -> list[Any]:
        """A call of a Python function on the host, with NumPy arrays; dropped only if pure."""


class Region(NamedTuple):
    """A region of an operation, such as the body of a reduction.

    Attributes:
        arg_avals: the types of the region's arguments.
        build: ``(ctx, *values) -> sequence of values``, builds the body.
    """

    arg_avals: Sequence[Any]
    build: Callable[..., Sequence[Any]]


kernel_sources: list[Callable[[str, str], bool]] = []
"""Functions of the name of a kernel of another language and of a platform.

Each tells whether there is such a kernel, and has the compiler know it. A package that registers
kernels only when its own primitives are lowered adds one, for programs that were made elsewhere.
"""


class _Interpreter:
    """The backend of last resort: interprets programs by the primitives' ``impl`` rules."""

    name = "numpy"
    priority = 0
    platform = "host"
    host_accessible = True

    def compile(self, jaxpr: ClosedJaxpr, **options: Any) -> Executable:
        def run(*operands: Any) -> list[Any]:
            return [as_array(x) for x in eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)]

        return run

    def lower(self, jaxpr: ClosedJaxpr, **options: Any) -> Any:
        return InterpretedProgram(jaxpr, self.compile(jaxpr))

    def to_host(self, buffer: Any, aval: Any) -> np.ndarray[Any, Any]:
        return np.asarray(buffer)

    def put(self, array: np.ndarray[Any, Any], aval: Any, device: Any = None) -> Any:
        return array

    def block_until_ready(self, buffer: Any) -> None:
        return

    def delete(self, buffer: Any) -> None:
        return

    def is_deleted(self, buffer: Any) -> bool:
        return False

    def devices(self) -> Sequence[Any]:
        return [HOST]


class InterpretedProgram(NamedTuple):
    """A program "lowered" to itself, for use where no compiler is installed."""

    jaxpr: ClosedJaxpr
    executable: Executable

    def as_text(self) -> str:
        """The program, as jaxprs print."""
        return repr(self.jaxpr)

    def compile(self) -> InterpretedProgram:
        """The program itself, ready to be called."""
        return self

    def __call__(self, *operands: Any) -> Sequence[Any]:
        return self.executable(*operands)


backends: dict[str, Backend] = {"numpy": _Interpreter()}


def register_backend(backend: Backend) -> None:
    """Add a backend.

    Raises:
        ValueError: when its name is taken.
    """
    if backends.setdefault(backend.name, backend) is not backend:
        raise ValueError(f"a backend named {backend.name!r} is registered already.")
    record_undo(lambda: unregister_backend(backend))


def unregister_backend(backend: Backend) -> None:
    """Undo ``register_backend``."""
    if backends.get(backend.name) is backend:
        del backends[backend.name]


def find_backend(name: str | None = None) -> Backend:
    """The backend of a name, or the one that ``config.backend`` or the priorities choose.

    In a process that was forked from one with a compiler at work, it is the interpreter.

    Raises:
        BackendError: when no installed backend has the name.
    """
    name = name or config.backend
    if not runtime.has_compiler_threads:
        return backends["numpy"]
    if name is None:
        runtime.plugins.load_backends()
        return max(list(backends.values()), key=lambda backend: backend.priority)
    for wanted in (name, None):  # which devices there are is known to no manifest
        if name not in backends:
            runtime.plugins.load_backends(wanted)
    if name not in backends:
        raise BackendError(
            f"there is no backend named {name!r}; installed are {', '.join(sorted(backends))}. "
            f"Install the package that brings it (bindax-xla-backend brings 'xla'), or see "
            f"`bindax doctor`."
        )
    return backends[name]


def _check_backend(name: str | None) -> None:
    if name is not None:
        find_backend(name)


config.check("backend", _check_backend)


def _devices() -> Sequence[Any]:
    return find_backend().devices()


runtime.devices = _devices


def effects_barrier() -> None:
    """Wait until the host functions that running programs call have returned."""
    for backend in list(backends.values()):
        getattr(backend, "effects_barrier", lambda: None)()


def compile_program(jaxpr: ClosedJaxpr, backend: Backend, **options: Any) -> Executable:
    """Have a backend compile a program; of one with extended dtypes what represents it."""
    return _representing(backend, backend.compile, PhysicalExecutable, jaxpr, options)  # type: ignore[no-any-return]


def lower_program(jaxpr: ClosedJaxpr, backend: Backend, **options: Any) -> Any:
    """Have a backend lower a program; of one with extended dtypes what represents it."""
    return _representing(backend, backend.lower, LoweredPhysical, jaxpr, options)


def _representing(
    backend: Backend,
    make: Callable[..., Any],
    overlay: Callable[..., Any],
    jaxpr: ClosedJaxpr,
    options: dict[str, Any],
) -> Any:
    if options.get("in_shardings") is None or not hasattr(backend, "place"):
        options.pop("in_shardings", None)  # backends with one device know nothing of them
    if backend is backends["numpy"] or not has_extended_dtypes(jaxpr):
        return make(jaxpr, **options)
    physical = make(runtime.plugins.physical_jaxpr(jaxpr), **options)
    return overlay(jaxpr, physical, options["donated"])


def bound_shardings(operands: Sequence[Any]) -> list[Any] | None:
    """For each operand the sharding that it is bound to, or None; None where no operand is."""
    found = [x.sharding if isinstance(x, Array) and x.committed else None for x in operands]
    return found if any(found) else None


def executable_of(
    jaxpr: ClosedJaxpr,
    backend: Backend,
    *,
    name: str,
    donated: tuple[bool, ...] = (),
    keep_unused: bool = False,
    keep: bool = True,
    operands: Sequence[Any] = (),
) -> Executable:
    """The compiled form of a program, made once for each backend and options.

    Args:
        jaxpr: the program.
        backend: the one that compiles it.
        name: its name, for messages and profiles.
        donated: for each operand, whether its memory may be reused for a result.
        keep_unused: whether operands that the program does not use are transferred anyway.
        keep: whether it is kept with the program, among the ``config.compiled_programs`` used
            last; otherwise the caller keeps it.
        operands: those of the first call; a new program is compiled for where they are.
    """
    key = ("executable", backend.name, config.default_device, name, donated, keep_unused)
    entry: _ExecutableEntry | None = jaxpr.cache.get(key)
    if entry is None:
        compiled = compile_program(
            jaxpr,
            backend,
            name=name,
            donated=donated,
            keep_unused=keep_unused,
            in_shardings=bound_shardings(operands),
        )
        if not keep:
            return compiled
        forget = partial(_forget, weakref.ref(jaxpr), key)
        entry = jaxpr.cache.setdefault(key, _ExecutableEntry(compiled, forget))
        executable_cache.add(entry)
    entry.used = executable_cache.time
    return entry.run


class _ExecutableEntry(CacheEntry):
    """An executable in a table, and the function that takes it out of there."""

    __slots__ = ("_forget", "run")

    def __init__(self, run: Executable, forget: Callable[[], object]) -> None:
        super().__init__()
        self.run = run
        self.size = getattr(run, "size", 0)
        self._forget = forget

    def drop(self) -> None:
        self._forget()


def _forget(program: weakref.ref[ClosedJaxpr], key: Any) -> None:
    found = program()
    if found is not None:
        found.cache.pop(key, None)


# ---------------------------------------------------------------------- single operations

_operations: dict[Any, _ExecutableEntry] = {}


def compiling_backend(operands: Sequence[Any]) -> Backend | None:
    """The backend that compiles an operation; None where none does, or none may."""
    if not runtime.has_compiler_threads:
        return None
    for x in operands:
        placement = getattr(x, "_placement", None)
        owner = None if placement is None else placement.backend
        if owner is not None and config.backend in (None, owner.name) and owner.name in backends:
            return owner  # type: ignore[no-any-return]
    backend = find_backend()
    return None if backend is backends["numpy"] else backend


def run_operation(
    primitive: Primitive,
    operands: Sequence[Any],
    params: dict[str, Any],
    backend: Backend | None = None,
) -> Sequence[Any]:
    """Evaluate one primitive through a backend, compiling once for each type of operands."""
    if backend is None:
        placed = [p for x in operands if (p := getattr(x, "_placement", None)) is not None]
        known = placed and runtime.has_compiler_threads
        backend = placed[0].backend if known else find_backend()
    avals = tuple([x.aval if type(x) is Array else typeof(x) for x in operands])
    parameters = tuple(params.items()) if params else ()
    key = (primitive, backend, config.default_device, avals, parameters)
    entry = _operations.get(key)
    if entry is None:
        made = _compile_operation(primitive, backend, avals, params, bound_shardings(operands))
        entry = _ExecutableEntry(made, partial(_operations.pop, key, None))
        if all(map(is_reusable, params.values())):
            _operations[key] = entry
            executable_cache.add(entry)
    entry.used = executable_cache.time
    return entry.run(operands)


def _compile_operation(
    primitive: Primitive,
    backend: Backend,
    avals: tuple[Any, ...],
    params: dict[str, Any],
    in_shardings: list[Any] | None,
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in primitive.out_avals(avals, params)]
    executable = compile_program(
        ClosedJaxpr(Jaxpr((), invars, outvars, [JaxprEqn(primitive, invars, outvars, params)])),
        backend,
        name=primitive.name,
        donated=(False,) * len(avals),
        keep_unused=True,
        in_shardings=in_shardings,
    )
    # The types of the operands are part of the key, so a check of them would be a second one.
    return getattr(executable, "run_unchecked", None) or (lambda operands: executable(*operands))
