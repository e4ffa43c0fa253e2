"""The setting of exchanges between devices: along which axes of a mesh they are refused."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Setting


def _axes(value: Any) -> frozenset[Any] | str | None:
    if value is None or value == "all" or isinstance(value, frozenset):
        return value  # type: ignore[no-any-return]
    raise TypeError("a frozenset of names of mesh axes, 'all' or None")


no_collectives: Setting = Setting(
    "no_collectives",
    None,
    """the mesh axes along which functions such as ``lax.psum`` are refused, set by
    ``no_collectives``: a frozenset of names, or ``"all"``""",
    check=_axes,
    traced=True,
    variables=(),
)
