"""Backends: what runs a staged program. With none installed, programs are interpreted.

The kernel knows the interface alone; packages supply backends through the ``bindax_backends`` hook.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from bindax_core._extension_points import runtime
from bindax_core._rollback import on_rollback
from bindax_core.arrays._operands import as_array
from bindax_core.arrays._placement import HOST
from bindax_core.arrays._settings import config
from bindax_core.errors import BackendError, MissingRuleError
from bindax_core.kernel._eval_jaxpr import eval_jaxpr
from bindax_core.kernel._jaxpr import ClosedJaxpr

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


class NumPyBackend:
    """The backend of last resort, which interprets jaxprs by the ``impl`` rules of primitives."""

    name = "numpy"
    priority = 0
    platform = "host"
    host_accessible = True

    def compile(self, jaxpr: ClosedJaxpr, **options: Any) -> Executable:
        def run(*operands: Any) -> list[Any]:
            try:
                outs = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)
            except MissingRuleError as error:
                error.add_note(f"The backend {self.name!r} evaluates programs by impl rules.")
                raise
            return [as_array(x) for x in outs]

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
    """A jaxpr "lowered" to itself, for use where no compiler is installed."""

    jaxpr: ClosedJaxpr
    executable: Executable

    def as_text(self) -> str:
        """Print the jaxpr."""
        return repr(self.jaxpr)

    def compile(self) -> InterpretedProgram:
        """Give the object itself, ready to be called."""
        return self

    def __call__(self, *operands: Any) -> Sequence[Any]:
        return self.executable(*operands)


backends: dict[str, Backend] = {"numpy": NumPyBackend()}


def register_backend(backend: Backend) -> None:
    """Add a backend.

    Raises:
        ValueError: when its name is taken.
    """
    if backends.setdefault(backend.name, backend) is not backend:
        raise ValueError(f"a backend named {backend.name!r} is registered already.")
    on_rollback(lambda: unregister_backend(backend))


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
    """Wait until the host functions that running programs call have returned.

    >>> effects_barrier()
    """
    for backend in list(backends.values()):
        getattr(backend, "effects_barrier", lambda: None)()
