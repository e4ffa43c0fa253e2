"""Undoing what a plugin registers by a call while it is imported.

Hooks return declarations, which the loader installs and removes. A module can also register
something by calling a function; such functions record here how to undo it, in case the plugin fails
later on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

Undo = Callable[[], None]


class _Open(threading.local):
    def __init__(self) -> None:
        self.transactions: list[Transaction] = []


_open = _Open()


class Transaction:
    """The registrations of this thread inside a ``with`` block, undone if the block raises."""

    def __init__(self) -> None:
        self._undo: list[Undo] = []

    def __enter__(self) -> Transaction:
        _open.transactions.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        _open.transactions.remove(self)
        if kind is not None:
            for undo in reversed(self._undo):
                with suppress(Exception):  # the error that led here is the one to report
                    undo()

    def record(self, undo: Undo) -> None:
        """Add an action that is called if the block raises."""
        self._undo.append(undo)


def record_undo(undo: Undo) -> None:
    """Have ``undo`` called if the plugin that this thread is loading fails; else do nothing."""
    if _open.transactions:
        _open.transactions[-1].record(undo)
