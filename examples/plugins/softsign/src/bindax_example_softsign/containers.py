"""A container type: two ends of an interval, and its name."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import NodeDefinition


class Bounds:
    """A named interval whose ends are arrays, or pytrees of arrays.

    >>> Bounds(-1.0, 1.0, name="unit")
    Bounds(-1.0, 1.0, name='unit')
    """

    def __init__(self, lower: Any, upper: Any, *, name: str = "") -> None:
        self.lower = lower
        self.upper = upper
        self.name = name

    def __repr__(self) -> str:
        return f"Bounds({self.lower}, {self.upper}, name={self.name!r})"


def _flatten(bounds: Bounds) -> tuple[tuple[Any, Any], str]:
    return (bounds.lower, bounds.upper), bounds.name


def _unflatten(name: str, ends: Any) -> Bounds:
    lower, upper = ends
    return Bounds(lower, upper, name=name)


BOUNDS = NodeDefinition(Bounds, _flatten, _unflatten, attributes=("lower", "upper"))
