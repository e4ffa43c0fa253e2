"""One program on several sets of devices: compiled anew for each place that its operands are in.

How an executable learns of its devices: the first of these that says something decides, and the
others must agree with it.

1. The places of operands that are bound to devices (``Array.place``, ``committed``).
2. The meshes and shardings among the parameters of the program's equations, at any depth: a
   primitive that brings one places its program. (``jit``'s own shardings are such equations.)
3. ``config.default_device``, or the first device.

Operands that are bound to nothing are moved there; of several devices XLA decides which part goes
where. Shardings of results are read from the compiled program.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bindax_core.errors import PlacementError
from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    HostDevice,
    Jaxpr,
    Kept,
    PlacedElsewhereError,
    config,
    recent_programs,
)
from bindax_core.sharding import AbstractMesh, Mesh, NamedSharding, Sharding
from bindax_xla_backend._errors import LoweringError
from bindax_xla_backend._layout import Layout, in_own_memory, place_of
from bindax_xla_backend._program import LoweredProgram, lower_program

if TYPE_CHECKING:
    from bindax_xla_backend._backend import XlaBackend
    from bindax_xla_backend._executable import Executable

Places = tuple[Any, ...]
"""For each operand its place, or None where it may be anywhere."""


class Program:
    """A program that is compiled for each set of places that its operands come from.

    ``run_unchecked`` is a call for operands in a sequence that are known to have the right types:
    XLA would reinterpret the bytes of others.
    """

    def __init__(
        self,
        backend: XlaBackend,
        jaxpr: ClosedJaxpr,
        name: str,
        donated: Sequence[bool],
        keep_unused: bool,
    ) -> None:
        self.backend = backend
        # Not the same object: its cache may hold the executables, which refer to this one.
        self.jaxpr = ClosedJaxpr(jaxpr.jaxpr, jaxpr.consts)
        self.name = name
        self.donated = donated
        self.keep_unused = keep_unused
        self.in_avals = tuple(jaxpr.in_avals)
        self.out_avals = tuple(jaxpr.out_avals)
        self.current: Executable  # the one that was used last
        self._known: dict[Places, Kept] = {}
        self.size = 0  # of the first executable, in bytes

    def start(self, places: Places) -> Program:
        """Compile it for operands in places; gives the program itself."""
        # Whoever asked for the program keeps the first executable, which is not dropped by itself.
        self.current = self._compiled(places)
        self._first = (places, self.current)
        self.size = self.current.size
        self.run_unchecked = _runner(self)
        self.backend.executables.add(self)
        return self

    def __call__(self, *operands: Any) -> list[Array]:
        """Run the program where its operands are; see ``Executable``."""
        operands = tuple(in_own_memory(operands))
        places = tuple([place_of(x) for x in operands])
        if len(places) != len(self.in_avals):
            return self.current(*operands)  # raises
        return self.of(places)(*operands)

    def __repr__(self) -> str:
        return repr(self.current)

    def abandon(self) -> None:
        """Have every call raise, in a process that has none of the threads that would run it."""
        self.run_unchecked = self.current.abandon()

    def of(self, places: Places) -> Executable:
        """The executable for operands in places, compiled at the first request."""
        first, executable = self._first
        if places != first:
            kept = self._known.get(places)
            if kept is None:
                made = _Variant(self, places, self._compiled(places))
                kept = self._known.setdefault(places, made)
                recent_programs.add(kept)
            kept.used = recent_programs.time
            executable = kept.executable  # type: ignore[attr-defined]
        self.current = executable
        return executable

    def _compiled(self, places: Places) -> Executable:
        return self.backend.compile_lowered(self.lower(places))

    def lower(self, places: Places) -> LoweredProgram:
        """The program, lowered for operands in places."""
        bound = [None if place is None else place.sharding for place in places]
        lowered = partial(
            lower_program,
            self.jaxpr,
            name=self.name,
            donated=self.donated,
            keep_unused=self.keep_unused,
            platform=self.backend.platform,
            layout=self.layout_for(bound),
        )
        program: LoweredProgram | None = None
        with contextlib.suppress(LoweringError):
            program = lowered()
        if program is None:
            program = lowered(checks_types=True)  # raises, and names the rule where it can
        self.backend.warn_of_unused(program, self.donated)
        return program

    def layout_for(self, bound: Sequence[Sharding | None]) -> Layout | None:
        """Where the program runs; None for the first device without anything that says so."""
        said: list[tuple[str, Any]] = [
            (f"operand {i} ({aval.str_short()})", sharding)
            for i, (sharding, aval) in enumerate(zip(bound, self.jaxpr.in_avals, strict=True))
            if sharding is not None
        ]
        said += [(f"an operation {name}", given) for name, given in _placing(self.jaxpr.jaxpr)]
        devices: Sequence[Any] = ()
        first, mesh = "", None
        for what, given in said:
            on_mesh = given.mesh if isinstance(given, NamedSharding) else given
            if isinstance(on_mesh, AbstractMesh) and not isinstance(on_mesh, Mesh):
                continue  # it says nothing of devices
            own = on_mesh.device_assignment
            if all(isinstance(device, HostDevice) for device in own):
                continue  # made where nothing compiles: a program for one device, whichever
            if devices and own != devices:
                raise PlacementError(_disagreement(self.name, first, devices, what, own))
            devices, first = own, first or what
            mesh = mesh or (on_mesh if isinstance(on_mesh, Mesh) else None)
        if devices:
            self.backend.check_devices(devices, self.name)
            return Layout(devices, mesh, tuple(bound), committed=True)
        device = config.default_device
        if device is None or device is self.backend.device():
            return None
        return Layout((device,), None, tuple(bound), committed=False)


class _Variant(Kept):
    """An executable for some places."""

    __slots__ = ("_places", "_program", "executable")

    def __init__(self, program: Program, places: Places, executable: Executable) -> None:
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


def _runner(program: Program) -> Callable[[Sequence[Any]], list[Array]]:
    """The shortest way to the executable that was used last, and from there to others."""

    def run(operands: Sequence[Any]) -> list[Array]:
        try:
            return program.current.run_unchecked(operands)
        except PlacedElsewhereError:
            operands = in_own_memory(operands)
            places = tuple([place_of(x) for x in operands])
            return program.of(places).run_unchecked(operands)

    return run


def _placing(jaxpr: Jaxpr) -> Iterator[tuple[str, Any]]:
    """The meshes and shardings that equations name, with the name of the primitive."""
    for eqn in jaxpr.eqns:
        for value in eqn.params.values():
            if isinstance(value, (Sharding, AbstractMesh)):
                yield eqn.primitive.name, value
    for program in jaxpr.programs:
        yield from _placing(program.jaxpr)


def _disagreement(
    name: str, first: str, devices: Sequence[Any], other: str, own: Sequence[Any]
) -> str:
    if set(devices) == set(own):
        return (
            f"{name}: {first} and {other} are on the same devices in another order: "
            f"{_listed(devices)} and {_listed(own)}. Make their meshes of the devices in one order."
        )
    return (
        f"{name}: {first} is on {_listed(devices)}, but {other} is on {_listed(own)}. Put both on "
        f"the same devices with device_put."
    )


def _listed(devices: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, devices[:8]))
    return f"[{shown}, …]" if len(devices) > 8 else f"[{shown}]"
