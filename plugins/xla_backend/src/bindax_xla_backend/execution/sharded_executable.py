"""One program on several sets of devices, compiled for each placement of its operands."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.errors import MissingRuleError
from bindax_core.extend import (
    Array,
    CacheEntry,
    PlacedElsewhereError,
    executable_cache,
)
from bindax_xla_backend._errors import LoweringError
from bindax_xla_backend.execution.placement import in_own_memory, place_of
from bindax_xla_backend.lowering.layout import layout_of
from bindax_xla_backend.lowering.program import LoweredProgram, Request, lower_program

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend
    from bindax_xla_backend.execution.executable import Executable

Places = tuple[Any, ...]
"""For each operand its place, or None where it may be anywhere."""


class ShardedExecutable:
    """A program that is compiled for each set of places that its operands come from.

    ``run_unchecked`` and ``run_known`` are calls for operands in a sequence, as ``Executable`` has
    them.
    """

    current: Executable  # the one that was used last
    run_unchecked: Callable[[Sequence[Any]], list[Array]]
    run_known: Callable[[Sequence[Any]], list[Array] | None] | None

    def __init__(self, backend: XlaBackend, request: Request) -> None:
        self.backend = backend
        self.request = request
        self.name: str = request.name
        self.in_avals: tuple[Any, ...] = tuple(request.jaxpr.in_avals)
        self.out_avals: tuple[Any, ...] = tuple(request.jaxpr.out_avals)
        self._known: dict[Places, CacheEntry] = {}
        self.size: int = 0  # of the first executable, in bytes

    def start(self, places: Places) -> ShardedExecutable:
        """Compile it for operands in places; gives the program itself."""
        # The caller keeps the first executable, which is not dropped by itself.
        self.current = self._compiled(places)
        self._first = (places, self.current)
        self.size = self.current.size
        self.run_unchecked = self.current.accelerated(_runner(self))
        self.run_known = self.current.run_known
        self.backend.executables.add(self)
        return self

    def __call__(self, *operands: Any) -> list[Array]:
        """Run the program where its operands are; see ``Executable``."""
        if len(operands) != len(self.in_avals):
            return self.current(*operands)  # raises
        operands = tuple(in_own_memory(operands))
        return self._for(operands)(*operands)

    def __repr__(self) -> str:
        return repr(self.current)

    def abandon(self) -> None:
        """Have every call raise, in a process that has none of the threads that would run it."""
        self.run_unchecked = self.current.abandon()

    def _for(self, operands: Sequence[Any]) -> Executable:
        """The executable for where operands are, compiled at the first request."""
        places = tuple([place_of(x) for x in operands])
        first, executable = self._first
        if places != first:
            kept = self._known.get(places)
            if kept is None:
                made = _Specialization(self, places, self._compiled(places))
                kept = self._known.setdefault(places, made)
                executable_cache.add(kept)
            kept.used = executable_cache.time
            executable = kept.executable  # type: ignore[attr-defined]
        self.current = executable
        return executable

    def _compiled(self, places: Places) -> Executable:
        return self.backend.compile_lowered(self.lower(places))

    def lower(self, places: Places, platform: str | None = None) -> LoweredProgram:
        """The program, lowered for operands in places; for another platform where one is given."""
        try:
            return self._lowered(places, platform or self.backend.platform)
        except MissingRuleError as error:
            error.add_note(
                f"The backend {self.backend.name!r} compiles by lowering.stablehlo rules."
            )
            raise

    def _lowered(self, places: Places, platform: str) -> LoweredProgram:
        backend, request = self.backend, self.request
        bound = [None if place is None else place.sharding for place in places]
        layout = layout_of(backend, request.jaxpr, self.name, bound)
        orders = {i: place.layout for i, place in enumerate(places) if place is not None}
        with contextlib.suppress(LoweringError):
            program = lower_program(request, platform, layout, bound=orders)
            backend.warn_of_unused(program, request.donated)
            return program
        # This raises, and names the rule where it can.
        return lower_program(request, platform, layout, bound=orders, checks_types=True)


class _Specialization(CacheEntry):
    """An executable for some places."""

    __slots__ = ("_places", "_program", "executable")

    def __init__(self, program: ShardedExecutable, places: Places, executable: Executable) -> None:
        super().__init__()
        self.executable = executable
        self.size = executable.size
        self._program = weakref.ref(program)
        self._places = places

    def drop(self) -> None:
        """Forget the executable."""
        program = self._program()
        if program is not None:
            program._known.pop(self._places, None)
            if program.current is self.executable:
                _, program.current = program._first


def _runner(program: ShardedExecutable) -> Callable[[Sequence[Any]], list[Array]]:
    """The shortest way to the executable that was used last, and from there to others."""

    def run(operands: Sequence[Any]) -> list[Array]:
        try:
            return program.current.run_unchecked(operands)
        except PlacedElsewhereError:
            operands = in_own_memory(operands)
            return program._for(operands).run_unchecked(operands)

    return run
