"""Failures of programs that run while this process computes with others."""

from __future__ import annotations

from types import SimpleNamespace

from bindax_xla_backend._errors import ExecutionError, ProcessLostError, excerpt

joined = SimpleNamespace(connection=None)
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
