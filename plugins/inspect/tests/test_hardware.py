"""The table of kinds of devices, which users extend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bindax_inspect import DeviceKind, device_kinds, register_device_kind
from bindax_inspect.divided import hardware

MINE: dict[str, Any] = {
    "name": "mine",
    "memory": 16e9,
    "bandwidth": 1e12,
    "operations": {"bfloat16": 2e14, "float32": 1e14},
    "link": 1e11,
    "domain": 4,
    "network": 1e10,
    "source": "a benchmark of ours",
}


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = dict(hardware._kinds)
    yield
    hardware._kinds.clear()
    hardware._kinds.update(known)


def test_a_kind_of_the_user() -> None:
    kind = DeviceKind(**MINE)
    register_device_kind(kind)
    assert device_kinds()["mine"] is kind
    assert hardware.device_kind("mine", "device") is kind
    assert (kind.rate("float32"), kind.rate("int8"), kind.rate(None)) == (1e14, 2e14, 2e14)


def test_each_kind_has_a_source() -> None:
    for name, kind in hardware.STANDARD.items():
        assert kind.name == name
        assert "NVIDIA" in kind.source or kind.source.startswith("https://")
        assert kind.network < kind.link < kind.bandwidth
        assert kind.domain > 1


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"link": 0}, "DeviceKind: link must be positive, but it is 0."),
        ({"network": -1.0}, "DeviceKind: network must be positive, but it is -1.0."),
        ({"memory": "80 GB"}, "DeviceKind: memory must be positive, but it is '80 GB'."),
        ({"bandwidth": float("nan")}, "DeviceKind: bandwidth must be positive, but it is nan."),
        ({"domain": True}, "DeviceKind: domain must be positive, but it is True."),
        ({"operations": {}}, "DeviceKind: operations must give operations a second by dtype"),
        ({"operations": 1e12}, "such as {'float32': 1e12}, but it is 1000000000000.0."),
        ({"operations": {"int8": 0}}, "operations['int8'] must be positive, but it is 0."),
    ],
)
def test_a_kind_that_cannot_be(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        DeviceKind(**{**MINE, **changes})
    assert text in str(caught.value)


def test_what_is_no_kind() -> None:
    with pytest.raises(TypeError, match="kind must be a DeviceKind, but it is 'h100'"):
        register_device_kind("h100")  # type: ignore[arg-type]
