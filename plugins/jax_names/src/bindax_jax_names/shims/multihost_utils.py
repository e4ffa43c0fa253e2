"""Names of ``jax.experimental.multihost_utils`` that bindax has no meaning for."""

from __future__ import annotations

__all__ = ["reached_preemption_sync_point"]


def reached_preemption_sync_point(step_id: int) -> bool:
    """Raise the error of a process without a service that announces preemptions.

    Raises:
        RuntimeError: always; libraries of checkpoints take it for "no preemption".
    """
    raise RuntimeError(
        f"reached_preemption_sync_point({step_id}): bindax has no service that announces "
        f"preemptions. Save checkpoints by step or time."
    )
