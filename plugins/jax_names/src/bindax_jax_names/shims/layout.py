"""``jax.experimental.layout``: a name for the insides of programs, where the compiler decides."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["explicit_layout"]


def explicit_layout(f: Callable[..., Any] | None = None, /, *, in_layouts: Any = None) -> Any:
    """The function, or a decorator that returns it: the compiler orders the axes of operands."""
    return partial(explicit_layout, in_layouts=in_layouts) if f is None else f
