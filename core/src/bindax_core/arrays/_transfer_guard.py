"""Checks of transfers between host and devices."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bindax_core.arrays._settings import config
from bindax_core.errors import TransferError

_ways = {"host_to_device": "to a device", "device_to_host": "to the host"}


class _State(threading.local):
    explicit = False


_state = _State()


@contextmanager
def explicit_transfers() -> Iterator[None]:
    """Mark the transfers inside the block as ones that the user asked for."""
    before, _state.explicit = _state.explicit, True
    try:
        yield
    finally:
        _state.explicit = before


def check_transfer(direction: str, aval: Any) -> None:
    """Log or refuse the transfer of an array, as the settings say.

    Args:
        direction: ``"host_to_device"`` or ``"device_to_host"``.
        aval: the type of the array.

    Raises:
        TransferError: when the setting does not allow it.
    """
    level = getattr(config, f"transfer_guard_{direction}")
    if level == "allow" or (_state.explicit and not level.endswith("explicit")):
        return
    how = "explicit" if _state.explicit else "implicit"
    what = f"{how} transfer of {aval.str_short()} {_ways[direction]}"
    if level.startswith("log"):
        import logging  # what few processes need, and takes a tenth of the import of bindax

        logging.getLogger("bindax").warning("%s", what)
        return
    remedy = "device_put" if direction == "host_to_device" else "device_get"
    advice = f"Ask for it with {remedy}, or change the setting."
    raise TransferError(
        f"{what}, which config.transfer_guard_{direction} = {level!r} does not allow. "
        f"{'Change the setting.' if _state.explicit else advice}"
    )
