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
    def register(callback: Callable[..., None]) -> None:
        _listeners[kind].append(callback)

    return register


def _removing(kind: str) -> Callable[[Callable[..., None]], None]:
    def remove(callback: Callable[..., None]) -> None:
        _listeners[kind].remove(callback)

    return remove


def _record(kind: str, event: str, *values: Any, **words: Any) -> None:
    for listener in list(_listeners[kind]):
        listener(event, *values, **words)


def record_event(event: str, **words: Any) -> None:
    """Tell the listeners of events that one took place."""
    _record("event", event, **words)


def record_event_duration_secs(event: str, duration: float, **words: Any) -> None:
    """Tell the listeners of durations how long something took."""
    _record("duration", event, duration, **words)


def record_event_time_span(event: str, start_time: float, end_time: float, **words: Any) -> None:
    """Tell the listeners of time spans when something began and ended."""
    _record("span", event, start_time, end_time, **words)


def record_scalar(event: str, value: float, **words: Any) -> None:
    """Tell the listeners of scalars a number."""
    _record("scalar", event, value, **words)


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
