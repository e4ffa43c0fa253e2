"""``jax.experimental.overlap``: the order in which a compiler runs operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["program_order"]


def program_order(f: Callable[..., Any] | None = None, *, enforce: bool, **options: Any) -> Any:
    """The function, or a decorator that returns it: results do not depend on the order."""
    return partial(program_order, enforce=enforce, **options) if f is None else f
