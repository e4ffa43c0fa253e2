"""Watching what happens behind the user's back: transfers of bytes, and values that leak."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from bindax_core._extension_points import runtime
from bindax_core.errors import TransferError, UnexpectedTracerError
from bindax_core.kernel._config import config
from bindax_core.kernel._rule_keeps import keeper_of
from bindax_core.kernel._source_info import is_internal

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


def leak(what: str, x: Any) -> UnexpectedTracerError:
    """The error about a traced value that is still kept when its trace has ended."""
    history, main = x.history(), x._trace.main
    return UnexpectedTracerError(
        f"{what} {x.aval.str_short()} in {main.origin}"
        f"{'; ' + history if history else ''}.{keeper_of(main)} Return it "
        f"from the function instead of keeping it in a variable, attribute or container outside."
    )


def check_leaks(main: Any) -> None:
    """Raise when a traced value of a trace that has ended is still kept somewhere."""
    if not config.check_tracer_leaks:  # but in another thread
        return
    gc.collect()
    values = [x for x in gc.get_objects() if _trace_of(x) is main]
    own = {id(values), *map(id, values), *_locals_of_interpreters()}
    for x in values:
        if any(id(r) not in own and not isinstance(r, FrameType) for r in gc.get_referrers(x)):
            raise leak("a traced value outlived its trace:", x)


def watch_traces(enabled: bool) -> None:
    """Look at what is left of each trace when it ends, or no longer."""
    runtime.trace_ended = check_leaks if enabled else None


def _trace_of(x: Any) -> Any:
    trace = getattr(type(x), "_trace", None) and getattr(x, "_trace", None)
    return getattr(trace, "main", None)


def _locals_of_interpreters() -> Iterator[int]:
    """Names of what running functions of bindax hold, and of its parts: they are about to end."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_internal(frame.f_code):
            for value in list(frame.f_locals.values()):
                yield id(value)
                if isinstance(value, list | tuple):
                    yield from map(id, value)
        frame = frame.f_back
