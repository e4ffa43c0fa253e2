"""``jax.experimental.mesh_utils``: devices in a grid, in the order that the runtime gives them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax

__all__ = ["create_device_mesh"]


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> Any:
    """A NumPy array of devices of a shape.

    The last two arguments are about the wiring of TPUs, and say nothing here.

    Raises:
        ValueError: when the shape takes more or fewer devices than there are.
    """
    taken = bindax.devices() if devices is None else devices
    sizes = tuple(map(int, mesh_shape))
    if len(taken) != math.prod(sizes):
        raise ValueError(
            f"create_device_mesh: mesh_shape={sizes} takes {math.prod(sizes)} devices, but there "
            f"are {len(taken)}."
        )
    return np.array(taken, dtype=object).reshape(sizes)
