"""These tests run on the backend with eight devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import NamedSharding, P
from bindax_core import config


@pytest.fixture(autouse=True)
def _on_eight_devices(eight_devices: Any) -> Iterator[None]:
    with config.override(backend=eight_devices.name):
        yield


@pytest.fixture(scope="session")
def mesh(eight_devices: Any) -> Any:
    return bindax.make_mesh((4, 2), ("x", "y"), devices=eight_devices.devices())


@pytest.fixture
def on(mesh: Any) -> Any:
    """``on("x", None)``: the sharding on the mesh with this spec."""
    return lambda *spec: NamedSharding(mesh, P(*spec))


@pytest.fixture(scope="session")
def numbers() -> Any:
    return np.arange(64.0, dtype=np.float32).reshape(8, 8) / 64
