"""Settings for the time of a ``with`` block, under the names that JAX programs use.

A setting holds for the thread, or the asynchronous task, that the block is in, until it ends.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from bindax_core.arrays._settings import config, enable_x64

Context = AbstractContextManager[None]


def disable_x64() -> Context:
    """Have no 64-bit dtype: everything that enters is made 32-bit, as JAX does by default."""
    return enable_x64(False)


def transfer_guard(new_val: str) -> Context:
    """Choose what becomes of arrays that have to move between host and devices.

    Args:
        new_val: ``"allow"``, ``"log"`` or ``"disallow"`` transfers that nobody asked for with
            ``device_put`` or ``device_get``; ``"log_explicit"`` or ``"disallow_explicit"`` all.

    Raises:
        TransferError: inside the block, at a transfer that is not allowed.

    >>> from bindax_core import transfer_guard
    >>> with transfer_guard("disallow"):
    ...     pass
    """
    return config.override(
        transfer_guard_host_to_device=new_val, transfer_guard_device_to_host=new_val
    )
