"""Checks of the axes of scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.tree_util import tree_flatten_with_path
from bindax_nnx.graph import plain_key
from bindax_nnx.lift.axes import Carry
from bindax_nnx.lift.by_filter import ByFilter
from bindax_nnx.sharing import key_text


def check_scan_axes(in_axes: Any, out_axes: Any) -> None:
    """Check that at most one argument and one result are carried, and that no result is None.

    Raises:
        ValueError: they are not; the message names the place.
    """
    carried = _carried("in_axes", in_axes)
    for path, axis in _entries(out_axes):
        values = axis.values() if isinstance(axis, ByFilter) else [axis]
        if None in values:
            raise ValueError(
                f"scan: Cannot broadcast output state. Got {axis!r} at out_axes{path}; give Carry, "
                f"or the axis along which the results are stacked."
            )
    if carried != _carried("out_axes", out_axes):
        raise ValueError(
            f"scan: If one of in_axes or out_axes has Carry, the other must also have Carry, but "
            f"in_axes={in_axes!r} and out_axes={out_axes!r}."
        )


def check_scan_arguments(axes: Any, args: Sequence[Any]) -> None:
    """Check that there is one argument, where that is carried whole.

    Raises:
        ValueError: there is another number of arguments.
    """
    if axes is Carry and len(args) != 1:
        raise ValueError(
            f"scan: When in_axes=Carry, the function must take exactly one argument, but it was "
            f"called with {len(args)}; write a tuple with an entry for each."
        )


def _entries(axes: Any) -> list[tuple[str, Any]]:
    found, _ = tree_flatten_with_path(axes, is_leaf=lambda x: x is None or isinstance(x, ByFilter))
    return [(key_text(map(plain_key, keys)), axis) for keys, axis in found]


def _carried(what: str, axes: Any) -> bool:
    """Tell whether one entry of some axes, at the top, is ``Carry``."""
    places = [path for path, axis in _entries(axes) if axis is Carry]
    top = axes if isinstance(axes, tuple | list) else (axes,)
    if len(places) > sum(axis is Carry for axis in top):
        raise ValueError(
            f"scan: Carry must be a top-level argument, it cannot be nested. Found Carry at "
            f"{what}{places[0]}."
        )
    if len(places) > 1:
        raise ValueError(
            f"scan: Found multiple Carry definitions at {what}{places[0]} and {what}{places[1]}; "
            f"carry a tuple, as one argument."
        )
    return bool(places)
