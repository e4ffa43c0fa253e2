"""The check of functions of arrays that are divided among devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bindax_core import config, device_put, devices
from bindax_core.extend import find_backend, is_extended, typeof
from bindax_core.sharding import NamedSharding, PartitionSpec, make_mesh
from bindax_testing import FunctionCall, FunctionCheck, NotApplicable, function_check
from bindax_testing.extend import require_same
from bindax_transforms import jit


def checks_of_sharding() -> Iterator[FunctionCheck]:
    """Compare results of divided arrays with those of whole ones."""
    yield function_check("sharded", _sharded)


def _sharded(call: FunctionCall) -> None:
    with config.override(backend=None):
        count = 1 if find_backend().name == "numpy" else len(devices())
        if count < 2:
            raise NotApplicable("there is one device")
        wanted = jit(call.fresh())(*call.operands)
        for number in (2, 8):
            if number <= count:
                _on(call, number, wanted)


def _on(call: FunctionCall, number: int, wanted: list[Any]) -> None:
    mesh = make_mesh((number,), ("devices",), devices=devices()[:number])
    placed = [_placed(x, mesh, number) for x in call.operands]
    for i, (got, one) in enumerate(zip(jit(call.fresh())(*placed), wanted, strict=True)):
        require_same(f"result {i} on {number} devices", got, one, scale=5.0)


def _placed(x: Any, mesh: Any, number: int) -> Any:
    """An operand, divided along the first axis that can be."""
    aval = typeof(x)
    if is_extended(aval.dtype):
        return x
    axis = next((k for k, n in enumerate(aval.shape) if n and n % number == 0), None)
    names = () if axis is None else (*[None] * axis, "devices")
    return device_put(x, NamedSharding(mesh, PartitionSpec(*names)))
