"""``jax.experimental.layout``: the layout of arrays in memory, which XLA chooses here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

__all__ = ["Format", "Layout", "explicit_layout", "with_layout_constraint"]


@attrs.frozen
class Layout:
    """The order of axes in memory; kept, not used."""

    major_to_minor: tuple[int, ...] = ()
    tiling: Any = None


@attrs.frozen
class Format:
    """A layout and a place; kept, not used."""

    layout: Any = None
    sharding: Any = None


def with_layout_constraint(x: Any, layout: Any) -> Any:
    """The array: its layout is XLA's choice."""
    return x


def explicit_layout(f: Callable[..., Any] | None = None, /, *, in_layouts: Any = None) -> Any:
    """The function, or a decorator that returns it: the layout of operands is XLA's choice."""
    return partial(explicit_layout, in_layouts=in_layouts) if f is None else f
