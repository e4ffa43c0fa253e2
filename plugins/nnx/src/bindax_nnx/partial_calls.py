"""Functions of objects with their first arguments given."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


def cached_partial(
    f: Callable[..., T],
    *cached_args: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., T]:
    """A function with its first arguments given.

    A compiled function keeps what it knows of an object with the object, so this is
    ``functools.partial``, under the name that programs written for Flax have for it.

    Args:
        f: most often a compiled function.
        cached_args: objects and arrays, the first arguments.
        graph: accepted for such programs; the function knows its mode.
        graph_updates: likewise.

    >>> cached_partial(divmod, 7)(2)
    (3, 1)
    """
    return partial(f, *cached_args)
