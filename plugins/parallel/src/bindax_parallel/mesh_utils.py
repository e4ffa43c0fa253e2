"""Devices in a grid, for a ``Mesh``.

>>> from bindax_core import devices
>>> from bindax_core.sharding import Mesh
>>> Mesh(create_device_mesh((1, 1), devices()[:1]), ("data", "model")).shape_tuple
(('data', 1), ('model', 1))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core import devices as all_devices
from bindax_core.extend import api_boundary

__all__ = ["create_device_mesh"]


@api_boundary
def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Arrange devices in a grid, in the order in which the runtime gives them.

    Args:
        mesh_shape: the number of devices along each axis.
        devices: the devices; all there are when omitted.
        contiguous_submeshes: accepted for programs that say it; it is about the wiring of TPUs.
        allow_split_physical_axes: likewise.

    Returns:
        An array of devices of the shape.

    Raises:
        ValueError: the shape takes more or fewer devices than there are.

    >>> from bindax_core import devices
    >>> create_device_mesh((1, 1), devices()[:1]).shape
    (1, 1)
    """
    taken = all_devices() if devices is None else devices
    sizes = tuple(map(int, mesh_shape))
    if len(taken) != math.prod(sizes):
        raise ValueError(
            f"create_device_mesh: mesh_shape={sizes} takes {math.prod(sizes)} devices, but there "
            f"are {len(taken)}."
        )
    grid = np.empty(len(taken), dtype=object)
    grid[:] = taken
    return grid.reshape(sizes)
