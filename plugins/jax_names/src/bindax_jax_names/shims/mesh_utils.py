"""``jax.experimental.mesh_utils``: devices as an array of the shape of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax

__all__ = ["create_device_mesh"]


def create_device_mesh(
    mesh_shape: Sequence[int], devices: Sequence[Any] | None = None, **options: Any
) -> np.ndarray[Any, Any]:
    """The devices in their order, as an array ``[*mesh_shape]``.

    Args:
        mesh_shape: the sizes of the axes.
        devices: all devices by default.
        **options: how devices of TPUs are laid; nothing here.

    Raises:
        ValueError: when there are more or fewer devices than places.
    """
    found = np.array(bindax.devices() if devices is None else list(devices), dtype=object)
    if found.size != np.prod(mesh_shape, dtype=int):
        raise ValueError(
            f"create_device_mesh: there are {found.size} devices, but mesh_shape="
            f"{tuple(mesh_shape)} has {np.prod(mesh_shape, dtype=int)} places."
        )
    return found.reshape(tuple(mesh_shape))
