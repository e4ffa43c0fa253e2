"""Programs compiled for devices that do not exist."""

from __future__ import annotations

import numpy as np
import pytest

from bindax_core.extend import find_backend
from bindax_core.sharding import Mesh, NamedSharding, PartitionSpec
from bindax_transforms import make_jaxpr


@pytest.fixture
def virtual() -> object:
    backend = find_backend("xla")
    return backend.virtual  # type: ignore[attr-defined]


def test_a_divided_program(virtual: object) -> None:
    import bindax_lax_basic as lax

    class Device:
        def __init__(self, number: int) -> None:
            self.id = number

    mesh = Mesh(np.array([Device(i) for i in range(4)], object), "x")
    jaxpr = make_jaxpr(lambda x: lax.reduce_sum(lax.sin(x), (0,)))(np.ones((8, 2), np.float32))
    found = virtual.divided(  # type: ignore[attr-defined]
        jaxpr,
        name="f",
        mesh=mesh,
        in_shardings=[NamedSharding(mesh, PartitionSpec("x"))],
        donated=[False],
    )
    assert "f32[2,2]" in found.text
    assert found.text.count(" all-reduce(") == 1
    assert found.memory["argument_size_in_bytes"] == 16
    assert [one.spec for one in found.operands] == [PartitionSpec("x")]
    assert [one.spec for one in found.results] == [PartitionSpec()]


def test_numbers_of_devices(virtual: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual, "_thread_limit", lambda: None)
    assert virtual.refusal(4096) is None  # type: ignore[attr-defined]
    assert virtual.refusal(4097) == (  # type: ignore[attr-defined]
        "XLA compiles for 4,096 devices at most, and the mesh has 4,097."
    )
