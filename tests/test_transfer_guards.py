"""Guards of transfers between the host and devices, and the text of what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.errors import TransferError
from bindax_core import Array


@pytest.mark.parametrize("level", ["disallow", "disallow_explicit"])
def test_transfers_that_are_not_allowed(level: str) -> None:
    pytest.importorskip("jaxlib")
    double = bindax.jit(lambda x: x * 2)
    there = bindax.device_put(np.ones(2, np.float32))
    with bindax.transfer_guard(level):
        assert double(there).tolist() == [2.0, 2.0]
        for operand in (np.ones(2, np.float32), 1.5, jnp.ones(2, np.float32)):
            text = f"implicit transfer of float.* to a device, which .*host_to_device = '{level}'"
            with pytest.raises(TransferError, match=text):
                double(operand)
        if level == "disallow":
            assert double(bindax.device_put(np.ones(1))).tolist() == [2.0]
        else:
            with pytest.raises(TransferError, match="explicit transfer of float64"):
                bindax.device_put(np.ones(1))
        # The memory of CPU devices is the host's, and NumPy computes without any.
        assert bindax.device_get(there).tolist() == [1.0, 1.0]
        assert (jnp.ones(2) + 1).tolist() == [2.0, 2.0]


def test_transfers_that_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("jaxlib")
    double = bindax.jit(lambda x: x * 2)
    with bindax.transfer_guard_host_to_device("log"):
        double(np.ones(3))
        double(bindax.device_put(np.ones(4)))
    with bindax.transfer_guard_device_to_host("log"):
        double(np.ones(5))
    assert [record.getMessage() for record in caplog.records] == [
        "implicit transfer of float64[3] to a device"
    ]
    with pytest.raises(ValueError, match="transfer_guard_host_to_device must be one of 'allow'"):
        bindax.config.transfer_guard_host_to_device = "forbid"


def test_memory_of_a_device_that_the_host_does_not_read() -> None:
    class Backend:
        host_accessible = False

        def to_host(self, buffer: Any, aval: Any) -> Any:
            return np.zeros(aval.shape, aval.dtype)

    far = Array.from_buffer(bindax.ShapedArray((2,), np.float32), object(), Backend())
    with bindax.transfer_guard_device_to_host("disallow"):
        with pytest.raises(TransferError, match=r"to the host, .* Ask for it with device_get"):
            far.numpy()
        assert bindax.device_get(far).tolist() == [0.0, 0.0]
    assert far.copy().tolist() == [0.0, 0.0]


def test_traced_values_stay_where_they_are() -> None:
    doubled = bindax.jit(
        lambda x: bindax.device_get({"x": x, "one": bindax.numpy.ones(2)})["x"] * 2
    )
    assert doubled(3.0) == 6.0
