"""Programs compiled for more devices than there are: to be read, not to be run.

XLA compiles for the devices of a client, so a client of the CPU is made with as many as are asked
for, and dropped with its threads when the program is read.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import attrs

from bindax_core.extend import ClosedJaxpr
from bindax_core.sharding import Mesh, NamedSharding
from bindax_xla_backend import _jaxlib
from bindax_xla_backend.execution.compilation import compile_for
from bindax_xla_backend.lowering import shardings
from bindax_xla_backend.lowering.layout import Layout
from bindax_xla_backend.lowering.program import LoweredProgram, Request, lower_program

MOST_DEVICES = 4096
"""The most devices that programs are compiled for."""

_THREADS_BESIDE = 512
"""The threads that a client has beside one for each device, and some to spare."""

_MANY_THREADS = 256
"""The number of threads above which they are not left to the next collection of garbage."""

_OPTIONS = {
    # Every exchange keeps the name of its equation, and the type that the program gave it.
    "xla_disable_hlo_passes": "cpu-all-reduce-combiner,all-reduce-promotion",
    "xla_backend_optimization_level": "0",  # of the machine code, which nobody runs
}


@attrs.frozen(eq=False)
class DividedProgram:
    """A program as XLA divides it among the devices of a mesh."""

    text: str  # the program of one device, as HLO
    memory: dict[str, int]  # the bytes of one device, by purpose
    operands: tuple[NamedSharding, ...]
    results: tuple[NamedSharding, ...]


def divided(
    jaxpr: ClosedJaxpr,
    *,
    name: str,
    mesh: Mesh,
    in_shardings: Sequence[NamedSharding | None],
    donated: Sequence[bool],
) -> DividedProgram:
    """Compile a program for the devices of a mesh, which need not exist.

    Args:
        jaxpr: the program; meshes and shardings in it are on meshes of the same size.
        name: its name, for messages.
        mesh: the mesh; of its devices only the number matters.
        in_shardings: for each operand its sharding, or None where XLA decides.
        donated: for each operand, whether its memory may be reused for a result.

    Raises:
        CompilationError: when XLA rejects the program.
    """
    layout = Layout(mesh.device_assignment, mesh, tuple(in_shardings), committed=True)
    request = Request(jaxpr, name, tuple(donated), keep_unused=True)
    program = lower_program(request, "cpu", layout)
    if b"lapack_" in program.bytecode:
        _jaxlib.enable_lapack()
    found = _compiled(program, mesh)
    if mesh.size > _MANY_THREADS:
        gc.collect()  # a client and its devices refer to each other
    return found


def _compiled(program: LoweredProgram, mesh: Mesh) -> DividedProgram:
    client = _jaxlib.make_virtual_client(mesh.size)
    loaded = compile_for(client, _jaxlib.all_devices(client), program, _OPTIONS)
    given = [*program.constants, *program.in_avals]
    operands = shardings.chosen(loaded.get_parameter_shardings(), mesh, given)
    results = shardings.chosen(loaded.get_output_shardings(), mesh, program.out_avals)
    return DividedProgram(
        text="\n\n".join(module.to_string() for module in loaded.hlo_modules()),
        memory=_jaxlib.planned_memory(loaded),
        operands=tuple(operands[len(program.constants) :]),
        results=tuple(results),
    )


def refusal(count: int) -> str | None:
    """Return why no program can be compiled for a number of devices; None where it can.

    XLA ends the process when it cannot start a thread, so the system's limits are asked before.
    """
    threads = _thread_limit()
    if count > MOST_DEVICES:
        return f"XLA compiles for {MOST_DEVICES:,} devices at most, and the mesh has {count:,}."
    if threads is not None and count + _THREADS_BESIDE > threads:
        return (
            f"XLA starts a thread for each of the {count:,} devices, but the system allows "
            f"{threads:,} threads. Raise the limit (ulimit -u, or pids.max of the container)."
        )
    return None


def _thread_limit() -> int | None:
    """The number of threads that this process may start, where the system says so."""
    found: list[int] = []
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        found += [limit] if limit != resource.RLIM_INFINITY else []
    except (ImportError, AttributeError):  # on Windows
        pass
    for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/pids"):
        try:
            most = Path(folder, "pids.max").read_text(encoding="ascii").strip()
            used = Path(folder, "pids.current").read_text(encoding="ascii").strip()
        except OSError:
            continue
        found += [int(most) - int(used)] if most.isdigit() else []
    return min(found, default=None)
