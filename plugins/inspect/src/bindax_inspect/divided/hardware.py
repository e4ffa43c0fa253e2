"""Kinds of devices, with what bounds the time of a program on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

_RATES = ("memory", "bandwidth", "link", "network")


@dataclass(frozen=True)
class DeviceKind:
    """A kind of device, by the rates that its maker states.

    Attributes:
        name: its name.
        memory: the bytes that one device holds.
        bandwidth: the bytes of its memory that it reads or writes in a second.
        operations: the arithmetic operations of a second, by the dtype of the operands. The largest
            is taken for dtypes that are not named.
        link: the bytes that a device sends in a second to others of its domain.
        domain: the number of devices of a domain, which are joined by links.
        network: the bytes that a device sends in a second to other domains.
        source: where the numbers come from.

    Raises:
        ValueError: when a number is not positive, or no rate of operations is given.

    >>> kind = DeviceKind("mine", 16e9, 800e9, {"bfloat16": 200e12}, 50e9, 4, 10e9, "measured")
    >>> kind.rate("float32") == kind.rate("bfloat16")
    True
    """

    name: str
    memory: float
    bandwidth: float
    operations: Mapping[str, float]
    link: float
    domain: int
    network: float
    source: str

    def __post_init__(self) -> None:
        numbers = {name: getattr(self, name) for name in (*_RATES, "domain")}
        rates: Any = self.operations
        if not isinstance(rates, Mapping) or not rates:
            raise ValueError(
                f"DeviceKind: operations must give operations a second by dtype, such as "
                f"{{'float32': 1e12}}, but it is {rates!r:.60}."
            )
        numbers |= {f"operations[{dtype!r}]": rate for dtype, rate in self.operations.items()}
        for name, number in numbers.items():
            if not _is_positive(number):
                raise ValueError(f"DeviceKind: {name} must be positive, but it is {number!r:.60}.")
        object.__setattr__(self, "operations", MappingProxyType(dict(self.operations)))

    def rate(self, dtype: Any) -> float:
        """Return the operations of a second on operands of a dtype."""
        return self.operations.get(str(dtype), max(self.operations.values()))


def _is_positive(number: Any) -> bool:
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return is_number and number > 0 and math.isfinite(number)


_TPU = "https://docs.cloud.google.com/tpu/docs"
_POD_NETWORK = 6.25e9  # 50 Gbit/s a chip, which the page of v5p states

STANDARD: Mapping[str, DeviceKind] = {
    kind.name: kind
    for kind in (
        DeviceKind(
            *("a100", 80e9, 2.039e12),
            {"bfloat16": 312e12, "float16": 312e12, "float32": 156e12, "float64": 19.5e12},
            *(300e9, 8, 25e9),
            "NVIDIA A100 80GB datasheet (SXM; dense; float32 as TF32), DGX A100: 200 Gbit/s a GPU",
        ),
        DeviceKind(
            *("h100", 80e9, 3.35e12),
            {"bfloat16": 989.4e12, "float16": 989.4e12, "float32": 494.7e12, "float64": 66.9e12}
            | dict.fromkeys(("float8_e4m3fn", "float8_e5m2"), 1978.9e12),
            *(450e9, 8, 50e9),
            "NVIDIA H100 datasheet (SXM; dense; float32 as TF32), DGX H100: 400 Gbit/s a GPU",
        ),
        DeviceKind(
            *("h200", 141e9, 4.8e12),
            {"bfloat16": 989.4e12, "float16": 989.4e12, "float32": 494.7e12, "float64": 66.9e12}
            | dict.fromkeys(("float8_e4m3fn", "float8_e5m2"), 1978.9e12),
            *(450e9, 8, 50e9),
            "NVIDIA H200 datasheet (SXM; dense; float32 as TF32), DGX H200: 400 Gbit/s a GPU",
        ),
        DeviceKind(
            *("b200", 180e9, 8e12),
            {"bfloat16": 2.25e15, "float16": 2.25e15, "float32": 1.125e15, "float64": 40e12}
            | dict.fromkeys(("float8_e4m3fn", "float8_e5m2"), 4.5e15),
            *(900e9, 8, 50e9),
            "NVIDIA DGX B200 datasheet, an eighth of the system (dense; float32 as TF32)",
        ),
        DeviceKind(
            *("tpu_v5e", 16e9, 819e9),
            {"bfloat16": 197e12, "int8": 393e12},
            *(200e9, 256, _POD_NETWORK / 2),
            f"{_TPU}/v5e: 400 GB/s both ways, 2 x 100 Gbit/s for 8 chips",
        ),
        DeviceKind(
            *("tpu_v5p", 95e9, 2.765e12),
            {"bfloat16": 459e12, "int8": 918e12},
            *(600e9, 8960, _POD_NETWORK),
            f"{_TPU}/v5p: 1,200 GB/s both ways, 50 Gbit/s a chip",
        ),
        DeviceKind(
            *("tpu_v6e", 32e9, 1.638e12),
            {"bfloat16": 918e12, "int8": 1836e12},
            *(400e9, 256, _POD_NETWORK),
            f"{_TPU}/v6e: 800 GB/s both ways; the network is that of v5p",
        ),
    )
}
"""The kinds that are known from the start."""

_kinds = dict(STANDARD)


def device_kinds() -> dict[str, DeviceKind]:
    """Return the kinds of devices that are known, by name.

    >>> device_kinds()["h100"].domain
    8
    """
    return dict(_kinds)


def register_device_kind(kind: DeviceKind) -> None:
    """Add a kind of device, or replace the one of its name.

    Args:
        kind: the kind of device.

    Raises:
        TypeError: when it is no ``DeviceKind``.

    >>> register_device_kind(device_kinds()["h100"])
    """
    if not isinstance(kind, DeviceKind):
        raise TypeError(f"register_device_kind: kind must be a DeviceKind, but it is {kind!r:.60}.")
    _kinds[kind.name] = kind


def device_kind(given: Any, what: str) -> DeviceKind:
    """Return a kind of device from what users give for one.

    Raises:
        ValueError: when no kind has the name.
        TypeError: when it is neither a name nor a ``DeviceKind``.
    """
    if isinstance(given, DeviceKind):
        return given
    if not isinstance(given, str):
        raise TypeError(
            f"{what} must be the name of a kind of device or a DeviceKind, but it is {given!r:.60}."
        )
    if given not in _kinds:
        raise ValueError(
            f"{what}={given!r} is no kind of device that is known; there are "
            f"{', '.join(sorted(_kinds))}. register_device_kind(DeviceKind(...)) adds one."
        )
    return _kinds[given]
