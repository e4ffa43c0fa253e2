"""``jax.monitoring``: events that packages record, and those who listen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = [
    "clear_event_listeners",
    "record_event",
    "record_event_duration_secs",
    "record_event_time_span",
    "record_scalar",
    "register_event_duration_secs_listener",
    "register_event_listener",
    "register_event_time_span_listener",
    "register_scalar_listener",
    "unregister_event_duration_listener",
    "unregister_event_listener",
    "unregister_event_time_span_listener",
    "unregister_scalar_listener",
]

_listeners: dict[str, list[Callable[..., None]]] = {
    kind: [] for kind in ("event", "duration", "span", "scalar")
}


def _registering(kind: str) -> Callable[[Callable[..., None]], None]:
    return lambda listener: _listeners[kind].append(listener)


def _removing(kind: str) -> Callable[[Callable[..., None]], None]:
    return lambda listener: _listeners[kind].remove(listener)


def _recording(kind: str) -> Callable[..., None]:
    def record(event: str, *values: Any, **words: Any) -> None:
        for listener in list(_listeners[kind]):
            listener(event, *values, **words)

    return record


record_event: Final = _recording("event")
record_event_duration_secs: Final = _recording("duration")
record_event_time_span: Final = _recording("span")
record_scalar: Final = _recording("scalar")
register_event_listener: Final = _registering("event")
register_event_duration_secs_listener: Final = _registering("duration")
register_event_time_span_listener: Final = _registering("span")
register_scalar_listener: Final = _registering("scalar")
unregister_event_listener: Final = _removing("event")
unregister_event_duration_listener: Final = _removing("duration")
unregister_event_time_span_listener: Final = _removing("span")
unregister_scalar_listener: Final = _removing("scalar")


def clear_event_listeners() -> None:
    """Forget all listeners."""
    for listeners in _listeners.values():
        listeners.clear()
