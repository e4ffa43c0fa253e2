"""Transformations as functions and as decorators with options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def decorator(transformation: F) -> F:
    """Let a transformation be called without the function, to be given it later.

    ``@vmap``, ``@vmap(in_axes=1)`` and ``vmap(function, in_axes=1)`` are all possible then.
    """

    @wraps(transformation)
    def either(*args: Any, **options: Any) -> Any:
        if not args:
            return partial(transformation, **options)
        return transformation(*args, **options)

    return either  # type: ignore[return-value]
