"""Counts of the numbers that variables hold, and of their bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import tree_leaves
from bindax_nnx._counted import count_with
from bindax_nnx.array_attributes import ArrayAttribute
from bindax_nnx.graph import traverse
from bindax_nnx.rngs import RngState
from bindax_nnx.variables import Variable

Size = tuple[int, int]
"""A count of numbers, and of their bytes."""


def kind_of(variable: Variable[Any]) -> str:
    """The name under which a variable is counted: one for all that random streams have."""
    return "RngState" if isinstance(variable, RngState) else type(variable).__name__


def size_of(variable: Variable[Any]) -> Size:
    """The size of the arrays, or types of arrays, in a variable."""
    leaves = tree_leaves(variable.raw_value)
    arrays = [x for x in leaves if isinstance(getattr(x, "size", None), int)]
    return sum(x.size for x in arrays), sum(x.size * x.dtype.itemsize for x in arrays)


def total(sizes: Iterable[Size]) -> Size:
    """The sum of sizes."""
    numbers, size = map(sum, zip((0, 0), *sizes, strict=True))
    return numbers, size


def size_text(size: Size) -> str:
    """A size as text.

    >>> size_text((1234, 4936))
    '1,234 (4.9 KB)'
    """
    return f"{size[0]:,} ({_bytes(size[1])})"


def _bytes(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} B"


def counts_text(node: Any) -> str:
    """The size of a variable; of the variables of an object by kind, and in total.

    It is empty where there are no arrays.
    """
    if isinstance(node, Variable):
        size = size_of(node)
        return size_text(size) if size[0] else ""
    sizes: dict[str, Size] = {}
    for variable in traverse([node], whole=True).variables:
        size = size_of(variable)
        if size[0] and type(variable) is not ArrayAttribute:
            kind = kind_of(variable)
            sizes[kind] = total([sizes.get(kind, (0, 0)), size])
    if len(sizes) > 1:
        sizes["Total"] = total(sizes.values())
    return ", ".join(f"{kind}: {size_text(size)}" for kind, size in sizes.items())


count_with(counts_text)
