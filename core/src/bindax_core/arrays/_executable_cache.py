"""Executables: jaxprs compiled once for each backend and options, and the cache of them.

Over all functions, those used longest ago are dropped first. Compiled code takes memory mappings of
the process, of which Linux gives it 65,530; XLA ends a process that asks for more. A process that
is forked has none of a compiler's threads, so it interprets programs.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core._packages import package_for
from bindax_core.arrays._array import Array
from bindax_core.arrays._backend import Backend, Executable, backends, find_backend
from bindax_core.arrays._extended_dtypes import is_extended
from bindax_core.arrays._placement import memory_layout_of
from bindax_core.arrays._settings import config
from bindax_core.kernel._aval import typeof
from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, require_jaxpr
from bindax_core.kernel._parameters import is_reusable

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

_BYTES_OF_ONE = 1024


class CacheEntry:
    """A cache entry holding an executable; a subclass says how to drop it.

    Attributes:
        used: ``executable_cache.time`` at the last use, set by each use of the executable.
        size: the size of the executable in bytes, 0 where that is not known.
    """

    __slots__ = ("__weakref__", "size", "used")

    def __init__(self) -> None:
        self.used: int = executable_cache.time
        self.size: int = 0

    def drop(self) -> None:
        """Forget the executable; it is made again when it is wanted again."""
        raise TypeError(f"{type(self).__name__} does not say how to drop its executable.")


class ExecutableCache:
    """The entries of all functions, held weakly.

    ``config.compiled_programs`` bounds their number, and 1,024 times as many bytes their size.
    Time advances with each program that is made, so that a use costs no more than an assignment.

    Attributes:
        time: how many entries were added.
        lock: held while entries are counted.
    """

    def __init__(self) -> None:
        self.time: int = 0
        self._all: weakref.WeakSet[CacheEntry] = weakref.WeakSet()
        self._size = 0
        self.lock: threading.RLock = threading.RLock()

    def add(self, entry: CacheEntry) -> None:
        """Count an entry, or one that has grown, and drop others when there are too many."""
        limit = config.compiled_programs
        with self.lock:
            self.time += 1
            entry.used = self.time
            self._all.add(entry)
            self._size += entry.size
            if len(self._all) <= limit and self._size <= limit * _BYTES_OF_ONE:
                return
            oldest = self._oldest(limit)
        for old in oldest:
            if old is not entry:
                old.drop()

    def clear(self) -> None:
        """Drop all entries."""
        with self.lock:
            dropped = list(self._all)
            self._all.clear()
            self._size = 0
        for entry in dropped:
            entry.drop()

    def __len__(self) -> int:
        return len(self._all)

    def _oldest(self, limit: int) -> Iterable[CacheEntry]:
        """Take out those used longest ago, an eighth more than needed: sorting is paid rarely."""
        kept = sorted(self._all, key=lambda x: x.used)
        number, size = len(kept), sum(x.size for x in kept)
        if number > limit or size > limit * _BYTES_OF_ONE:
            limit -= limit // 8
        oldest = []
        for x in kept[:-1]:
            if number <= limit and size <= limit * _BYTES_OF_ONE:
                break
            oldest.append(x)
            number, size = number - 1, size - x.size
        self._all.difference_update(oldest)
        self._size = size
        return oldest


executable_cache: ExecutableCache = ExecutableCache()
"""The cache of this process."""


# --------------------------------------------------------------------------------- jaxprs


def has_extended_dtypes(jaxpr: ClosedJaxpr) -> bool:
    """Tell whether any value in a jaxpr has an extended dtype."""
    require_jaxpr("has_extended_dtypes", jaxpr, ClosedJaxpr)
    known = jaxpr.cache.get("has_extended_dtypes")
    if known is None:
        inner = jaxpr.jaxpr
        bound = [*inner.constvars, *inner.invars, *(v for eqn in inner.eqns for v in eqn.outvars)]
        dtypes = {getattr(aval, "dtype", None) for aval in {v.aval for v in bound}}
        known = any(dtype is not None and is_extended(dtype) for dtype in dtypes)
        known = known or any(map(has_extended_dtypes, inner.programs))
        jaxpr.cache["has_extended_dtypes"] = known
    return bool(known)


def compile_program(jaxpr: ClosedJaxpr, backend: Backend, **options: Any) -> Executable:
    """Have a backend compile a jaxpr; of one with extended dtypes the one that represents it."""
    return _made(jaxpr, backend, options, lowered=False)  # type: ignore[no-any-return]


def lower_program(jaxpr: ClosedJaxpr, backend: Backend, **options: Any) -> Any:
    """Have a backend lower a jaxpr; of one with extended dtypes the one that represents it."""
    return _made(jaxpr, backend, options, lowered=True)


def _made(jaxpr: ClosedJaxpr, backend: Backend, options: dict[str, Any], *, lowered: bool) -> Any:
    make = backend.lower if lowered else backend.compile
    if options.get("in_shardings") is None or not hasattr(backend, "place"):
        options.pop("in_shardings", None)  # backends with one device know nothing of them
    if backend is backends["numpy"] or not has_extended_dtypes(jaxpr):
        return make(jaxpr, **options)
    use = "A program with extended dtypes"
    module = package_for(use, "bindax_transforms.compilation.physical_executable")
    return module.represented(jaxpr, make, options, lowered=lowered)


def bound_shardings(operands: Sequence[Any]) -> list[Any] | None:
    """For each operand the sharding that it is bound to, or None; None where no operand is.

    Of one whose axes are not in the default order it is the ``Format``.
    """
    found = [
        None
        if not isinstance(x, Array) or not x.committed
        else (x.sharding if memory_layout_of(x.placement) is None else x.format)
        for x in operands
    ]
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
    """The compiled form of a jaxpr, made once for each backend and options.

    Args:
        jaxpr: the jaxpr.
        backend: the one that compiles it.
        name: its name, for messages and profiles.
        donated: for each operand, whether its memory may be reused for a result.
        keep_unused: whether operands that it does not use are transferred anyway.
        keep: whether it is kept with the jaxpr, among the ``config.compiled_programs`` used
            last; otherwise the caller keeps it.
        operands: those of the first call; a new executable is compiled for where they are.
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


def _forget(jaxpr: weakref.ref[ClosedJaxpr], key: Any) -> None:
    found = jaxpr()
    if found is not None:
        found.cache.pop(key, None)


# ---------------------------------------------------------------------- single operations

_operations: dict[Any, _ExecutableEntry] = {}


def _placements(operands: Sequence[Any]) -> list[Any]:
    """The placements of operands, those first that programs must run at."""
    found = [p for x in operands if (p := getattr(x, "_placement", None)) is not None]
    return sorted(found, key=lambda p: not p.committed) if len(found) > 1 else found


def compiling_backend(operands: Sequence[Any]) -> Backend | None:
    """The backend that compiles an operation; None where none does, or none may."""
    if not runtime.has_compiler_threads:
        return None
    for placement in _placements(operands):
        owner = placement.backend
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
        placed = _placements(operands) if runtime.has_compiler_threads else ()
        backend = placed[0].backend if placed else find_backend()
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


# ------------------------------------------------------------------------------------- forks

_started: list[tuple[Callable[[], None], Callable[[], None]]] = []


def compiler_started(before_fork: Callable[[], None], in_child: Callable[[], None]) -> None:
    """Note that a compiler has started threads, which a forked child would wait for for ever.

    From then on a fork warns, and programs are interpreted in the child.

    Args:
        before_fork: called in the parent before each fork; waits for computations under way.
        in_child: called in the child; makes executables of the parent refuse to run.
    """
    _started.append((before_fork, in_child))


def _before_fork() -> None:
    if not _started or not runtime.has_compiler_threads:
        return
    for wait, _ in _started:
        wait()
    warnings.warn(
        "this process forks after a compiler of bindax has started threads, which the child "
        "lacks: in the child, programs are interpreted by NumPy, which is slower. Start processes "
        'with multiprocessing.get_context("spawn") or "forkserver", or fork before the first '
        "compiled program.",
        RuntimeWarning,
        stacklevel=2,
    )


def _in_child() -> None:
    if not _started or not runtime.has_compiler_threads:
        return
    runtime.has_compiler_threads = False
    executable_cache.clear()
    for _, abandon in _started:
        abandon()


if hasattr(os, "register_at_fork"):
    # Held over the fork, so that no thread that the child lacks holds it there.
    os.register_at_fork(
        before=executable_cache.lock.acquire,
        after_in_parent=executable_cache.lock.release,
        after_in_child=executable_cache.lock.release,
    )
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
