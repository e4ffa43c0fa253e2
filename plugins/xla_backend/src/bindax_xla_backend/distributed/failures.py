"""Agreement with other processes on what programs run and on their failures.

It is asked for by every program, so that what speaks with the others is imported only where there
are some.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bindax_xla_backend._errors import ExecutionError, ProcessLostError, excerpt

if TYPE_CHECKING:
    from bindax_xla_backend.lowering.layout import Layout
    from bindax_xla_backend.lowering.program import LoweredProgram

FAILED = "failed: "
"""The beginning of what a process says of a program that failed in it."""

joined: SimpleNamespace = SimpleNamespace(connection=None)
"""The connection to other processes, while there is one."""


def execution_error(what: str, error: Exception) -> ExecutionError:
    """The error for what XLA raised when something, which ``what`` names, ran."""
    text = excerpt(str(error))
    if joined.connection is None or "Gloo" not in text:
        return ExecutionError(f"{what}: {text}")
    control = joined.connection.control
    control.wait_for_news(1.0)  # the data connection breaks a moment before it is known why
    why = control.describe() or "the connection to another process broke"
    return ProcessLostError(
        f"{what}, because {why}. End this process, and start all processes again from the last "
        f"checkpoint. XLA says: {text}"
    )


def agreed(run: Callable[..., Any], program: LoweredProgram) -> Callable[..., Any]:
    """The same function, which asks at its first call whether the other processes call it too."""
    members = _members(program.layout)
    if joined.connection is None or len(members) < 2:
        return run
    import hashlib

    connection = joined.connection
    digest = hashlib.sha256(program.text().encode()).hexdigest()

    def ask_first(*operands: Any) -> Any:
        if digest not in connection.agreed:
            problem = connection.control.agree(members, digest, program.name)
            if problem:
                raise ProcessLostError(
                    f"the compiled program {program.name} cannot run: {problem}. End this process, "
                    f"and start all processes again."
                )
            connection.agreed.add(digest)
        return run(*operands)

    return ask_first


def failure_elsewhere(layout: Layout | None, own: str) -> str:
    """The failure of another process when all had run a program; ``own`` is for the others."""
    members = _members(layout)
    if joined.connection is None or len(members) < 2:
        return ""
    problem: str = joined.connection.control.agree(members, f"{FAILED}{own}" if own else "", own)
    return "" if own else problem


def _members(layout: Layout | None) -> list[int]:
    devices = () if layout is None else layout.devices
    return sorted({device.process_index for device in devices})
