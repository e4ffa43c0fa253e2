"""Undoing what a plugin registers by a call while it is imported.

Hooks return declarations, which the loader installs and removes. A module can also register
something by calling a function; such functions record here how to undo it, in case the plugin fails
later on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

Undo = Callable[[], None]


class _Open(threading.local):
    def __init__(self) -> None:
        self.transactions: list[ExitStack] = []


_open = _Open()


@contextmanager
def transaction() -> Iterator[None]:
    """Undo the registrations of this thread inside the ``with`` block if the block raises."""
    with ExitStack() as recorded:
        _open.transactions.append(recorded)
        try:
            yield
        finally:
            _open.transactions.remove(recorded)
        recorded.pop_all()


def on_rollback(undo: Undo) -> None:
    """Have ``undo`` called if the plugin that this thread is loading fails; else do nothing.

    >>> routes = {}
    >>> def register_route(name, function):
    ...     routes[name] = function
    ...     on_rollback(lambda: routes.pop(name))
    >>> register_route("sine", abs)  # by a plugin that fails afterwards, it would be taken back
    >>> sorted(routes)
    ['sine']
    """
    if _open.transactions:
        _open.transactions[-1].callback(_quietly, undo)


def _quietly(undo: Undo) -> None:
    with suppress(Exception):  # the error that led here is the one to report
        undo()
