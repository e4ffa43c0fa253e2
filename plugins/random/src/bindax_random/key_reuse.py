"""Finding keys that are used twice, and so give the same numbers twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from bindax_callbacks import debug
from bindax_core import config
from bindax_core.errors import KeyReuseError
from bindax_core.extend import Tracer, user_source_info


class _Uses:
    """The keys that were used, by their words, while somebody looks.

    Attributes:
        latest: what ``first`` is in threads of the compiler, which call back from programs.
    """

    def __init__(self) -> None:
        self.latest: dict[bytes, str] | None = None

    def look(self, on: bool) -> None:
        """Begin to look, with no key used so far, or stop."""
        self.latest = ({} if self.latest is None else self.latest) if on else None

    @property
    def first(self) -> dict[bytes, str] | None:
        """For the words of each used key where that was; None where nobody looks."""
        if not config.debug_key_reuse:
            return None
        block = _of_block.get()
        return self.latest if block is None else block

    def add(self, words: Any, place: str) -> None:
        """Note a use of a key.

        Raises:
            KeyReuseError: when it was used before.
        """
        first = self.first
        if first is None:
            return
        found = np.asarray(words)
        earlier = first.setdefault(found.tobytes(), place)
        if earlier is not place:
            raise KeyReuseError(
                f"the random key with the words {found.tolist()} is used by {place}, but it was "
                f"used by {earlier} before: both give numbers that depend on each other. Split the "
                f"key, and use each part once; random.clone(key) says that it is meant."
            )

    def forget(self, words: Any) -> None:
        """Let a key be used once more."""
        first = self.first
        if first is not None and not isinstance(words, Tracer):
            first.pop(np.asarray(words).tobytes(), None)


_of_block: ContextVar[dict[bytes, str] | None] = ContextVar("bindax keys used", default=None)
"""The keys that were used since the block began that this point of the program is in."""

uses: _Uses = _Uses()
"""The uses of keys in this process."""
config.observe("debug_key_reuse", uses.look)


def note_use(name: str, words: Any) -> None:
    """Note that a function uses a key; of a traced key when the program runs."""
    source = user_source_info(1)
    place = f"random.{name}" if source is None else f"random.{name} ({source})"
    # A string of its own for each use, since equal ones may be shared.
    place = "".join([*place])
    if isinstance(words, Tracer):
        debug.callback(lambda x: uses.add(x, "".join([*place])), words)
    else:
        uses.add(words, place)


@contextmanager
def debug_key_reuse(enabled: bool = True) -> Iterator[None]:
    """Raise, inside a ``with`` block, when a key is used twice.

    Drawing numbers and ``split`` use a key; ``fold_in`` does not. A key that is made anew, by
    ``key``, ``PRNGKey``, ``wrap_key_data`` or ``clone``, may be used once more. It is short for
    ``config.override(debug_key_reuse=True)``; the setting or the environment variable
    ``BINDAX_DEBUG_KEY_REUSE`` do the same for a whole process.

    Args:
        enabled: False is for a block inside another one that may use keys as it likes.

    Raises:
        KeyReuseError: a ``ValueError``, when a key is used for the second time.

    >>> from bindax_random import debug_key_reuse, key, normal
    >>> with debug_key_reuse():
    ...     one = key(0)
    ...     x = normal(one) + normal(one)
    Traceback (most recent call last):
    bindax_core.errors.KeyReuseError: the random key with the words [0, 0] is used by ...
    """
    with config.override(debug_key_reuse=enabled):
        outer, outer_latest = _of_block.get(), uses.latest
        used: dict[bytes, str] = {}
        _of_block.set(used)
        uses.latest = used if enabled else uses.latest
        try:
            yield
        finally:
            _of_block.set(outer)
            uses.latest = outer_latest
