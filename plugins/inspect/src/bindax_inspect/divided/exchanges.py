"""The exchanges of a program between devices."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bindax_core.sharding import AbstractMesh
from bindax_inspect.compiled.hlo import Instruction, Module
from bindax_inspect.divided.groups import Group, group_of
from bindax_inspect.divided.hardware import DeviceKind
from bindax_inspect.program.equations import Program
from bindax_inspect.program.origins import NOWHERE, Line

KINDS = (
    *("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"),
    *("collective-broadcast", "ragged-all-to-all"),
)
_PART = re.compile(r"([a-z]\w*)\[([\d,]*)\]")
_ITEMSIZE = {"pred": 1.0, "c64": 8.0, "c128": 16.0}


@dataclass(frozen=True)
class Exchange:
    """Values that devices exchange, at one place of the program.

    Attributes:
        kind: ``"all-reduce"``, ``"all-gather"``, ``"reduce-scatter"``, ``"all-to-all"``,
            ``"collective-permute"`` or another operation of XLA.
        axes: the axes of the mesh along which devices exchange.
        devices: the number of devices that exchange with each other.
        bytes: the bytes of the whole value, as one device has it: before a reduction, after a
            gather.
        times: how often it runs in one call of the program.
        line: the user's line.
        equation: the number of the equation, or None.
        group: the devices of one group, by their numbers in the mesh.
    """

    kind: str
    axes: tuple[str, ...]
    devices: int
    bytes: float
    times: float
    line: Line
    equation: int | None
    group: Group

    @property
    def sent(self) -> float:
        """The bytes that a device sends at least, in one call of the program."""
        return self.times * _sent(self.kind, self.bytes, self.devices)

    @property
    def shown(self) -> str:
        """The kind and the axes, as they are printed."""
        return f"{self.kind} {' and '.join(self.axes)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the exchange as JSON can hold it."""
        return {
            "kind": self.kind,
            "axes": list(self.axes),
            "devices": self.devices,
            "bytes": self.bytes,
            "times": self.times,
            "sent": self.sent,
            **self.line._asdict(),
        }

    def parts(self, device: DeviceKind) -> tuple[float, float]:
        """Return the least seconds on links and on the network, in one call of the program.

        Devices of one domain reduce among each other first, so that each sends a part alone to
        other domains.
        """
        domains = self.group.domains(device.domain)
        inside = max(self.devices // domains, 1)
        if self.kind == "collective-permute":
            linked, across = (0.0, self.bytes) if domains > 1 else (self.bytes, 0.0)
        elif self.kind in ("all-to-all", "ragged-all-to-all"):
            each = self.bytes / self.devices  # to each device something else
            linked, across = each * (inside - 1), each * (self.devices - inside)
        else:
            linked = _sent(self.kind, self.bytes, inside)
            across = _sent(self.kind, self.bytes / inside, domains)
        return self.times * linked / device.link, self.times * across / device.network

    def seconds(self, device: DeviceKind) -> float:
        """Return the least time in one call of the program; links and network work together."""
        return max(self.parts(device))


def _sent(kind: str, size: float, devices: int) -> float:
    """The bytes that each of some devices sends at least, to exchange a value of a size."""
    if devices < 2:
        return 0.0
    if kind in ("collective-permute", "collective-broadcast"):
        return size
    return size * (devices - 1) / devices * (2 if kind == "all-reduce" else 1)


def exchanges_of(program: Program, module: Module, mesh: AbstractMesh) -> list[Exchange]:
    """Return the exchanges of a compiled program, in its order."""
    found = []
    runs, users = _runs_of(program, module), _users_of(module)
    for one in module.instructions():
        kind = one.opcode.removesuffix("-start")
        if kind not in KINDS:
            continue
        group = group_of(one.text, mesh)
        if group.size < 2:
            continue
        size = _size(one, program)
        if size <= _CHOICE and _is_checkpoint(one, program):
            continue
        if kind == "all-reduce" and _is_sliced(one, one.elements, group.size, module, users):
            kind = "reduce-scatter"  # compilers for accelerators make one operation of both
        elif kind == "reduce-scatter":
            size *= group.size  # the text has the part that is left
        equation = next(iter(one.equations), None)
        line = NOWHERE if equation is None else program.equations[equation].origin.line
        times = runs.get(one.computation, 1.0)
        found.append(Exchange(kind, group.axes, group.size, size, times, line, equation, group))
    return found


def has_unknown_loops(module: Module) -> bool:
    """Tell whether there are exchanges, or anything else, in a loop of unknown length."""
    return any(one.opcode == "while" and one.trips is None for one in module.instructions())


def _runs_of(program: Program, module: Module) -> dict[str, float]:
    """The number of times that each computation runs in one call of the program.

    The branches of a condition run equally often, as far as is known before. A loop of unknown
    length runs once.
    """
    callers: dict[str, list[tuple[str, float]]] = {}
    for one in module.instructions():
        times = [float(one.trips or 1)] * len(one.calls)
        if one.opcode == "conditional":
            times = [1.0 / len(one.calls)] * len(one.calls)
            if _is_checkpoint(one, program):  # what is computed again is in the first branch
                times = [1.0, *[0.0] * (len(one.calls) - 1)]
        for name, number in zip(one.calls, times, strict=True):
            callers.setdefault(name, []).append((one.computation, number))
    known: dict[str, float] = {module.entry: 1.0}

    def runs(name: str) -> float:
        if name not in known:
            known[name] = 0.0  # of one that calls itself, which there are none of
            known[name] = sum(runs(caller) * times for caller, times in callers.get(name, ()))
        return known[name]

    return {name: runs(name) for name in module.computations}


_CHOICE = 4.0
"""The bytes of the number by which programs for the CPU choose the branch of a checkpoint."""


def _is_checkpoint(one: Instruction, program: Program) -> bool:
    """Tell whether an instruction is of ``checkpoint`` itself, not of what is inside of it."""
    if one.equation is None:
        return False
    return program.equations[one.equation].eqn.primitive.name == "checkpoint"


def element_types(text: str) -> Iterator[tuple[str, int]]:
    """Yield the element type and the number of elements of each array that is named in a text."""
    for name, shape in _PART.findall(text):
        yield name, math.prod(map(int, filter(None, shape.split(","))))


def itemsize(name: str) -> float:
    """Return the bytes of an element of one of XLA's types.

    >>> itemsize("f32"), itemsize("bf16"), itemsize("f8e4m3fn"), itemsize("s4")
    (4.0, 2.0, 1.0, 0.5)
    """
    digits = re.search(r"\d+", name)
    return _ITEMSIZE.get(name) or (int(digits[0]) / 8 if digits else 1.0)


def _size(one: Instruction, program: Program) -> float:
    """The bytes of what an instruction returns, in the types that the program has for it."""
    result = one.text.partition(" = ")[2].partition(f" {one.opcode}(")[0]
    narrow = [_narrow(program.equations[number].eqn.outvars) for number in one.equations[:1]]
    most = next(iter(narrow), None)
    total = 0.0
    for name, elements in element_types(result):
        own = itemsize(name)
        # The CPU computes with numbers of 16 bits as with those of 32.
        total += elements * (min(own, most) if most and name == "f32" else own)
    return total


def _narrow(results: Any) -> float | None:
    """The bytes of a floating-point number of the results, where it has fewer than four."""
    for x in results:
        dtype = getattr(x.aval, "dtype", None)
        if dtype is not None and dtype.name in ("float16", "bfloat16"):
            return 2.0
    return None


Users = dict[tuple[str, str], list[Instruction]]


def _users_of(module: Module) -> Users:
    """Those that use each instruction, by its computation and its name."""
    found: Users = {}
    for one in module.instructions():
        for name in dict.fromkeys(one.operands):
            found.setdefault((one.computation, name), []).append(one)
    return found


def _is_sliced(value: Instruction, whole: int, devices: int, module: Module, users: Users) -> bool:
    """Tell whether each device uses its part alone of a value, which it gets as a whole."""
    found = users.get((value.computation, value.name), [])
    for user in found:
        inner = user
        if user.opcode == "fusion":
            position = f"parameter({user.operands.index(value.name)})"
            inside = module.computations.get(next(iter(user.calls), ""), [])
            inner = next((x for x in inside if x.text.endswith(f" {position}")), user)
        is_part = user.opcode == "dynamic-slice" and user.elements * devices <= whole
        passes = inner is not user or user.opcode in ("bitcast", "copy", "convert")
        if not is_part and not (passes and _is_sliced(inner, whole, devices, module, users)):
            return False
    return bool(found)
