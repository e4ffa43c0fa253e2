"""The checks of functions of arrays that are divided among devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from bindax_core import config, device_put, devices
from bindax_core.errors import MissingRuleError
from bindax_core.extend import Array, find_backend, is_extended, typeof
from bindax_core.sharding import NamedSharding, PartitionSpec, make_mesh
from bindax_testing import Case, FunctionCall, FunctionCheck, NotApplicable, function_check
from bindax_testing.extend import require_same
from bindax_transforms import jit, vmap

_EIGHT = 'import os\n\nos.environ.setdefault("BINDAX_NUM_CPU_DEVICES", "8")\n\n'
_LOWERING = "lowering.stablehlo"


def checks_of_sharding() -> Iterator[FunctionCheck]:
    """Compare results of divided arrays with those of whole ones, on two and on eight devices."""
    yield function_check("sharded", partial(_sharded, 2), setup=_EIGHT, rule=_LOWERING)
    eight = partial(_sharded, 8)
    yield function_check("sharded on 8 devices", eight, setup=_EIGHT, rule=_LOWERING)


def _sharded(number: int, call: FunctionCall | Case) -> None:
    """Divide arguments; where no axis can be, divide a batch of them."""
    with config.override(backend=None):
        count = 1 if find_backend().name == "numpy" else len(devices())
        if count < number:
            there = "there is one device" if count == 1 else f"there are {count} devices"
            raise NotApplicable(
                f"{there}; with BINDAX_NUM_CPU_DEVICES=8 the CPU is divided into eight"
            )
        if any(_axis(x, number) is not None for x in call.operands):
            _compare(call.fresh(), list(call.operands), number, "")
        elif "vmap" in call.skip:
            raise NotApplicable(f"no axis can be divided by {number}, and it takes no batches")
        elif any(is_extended(typeof(x).dtype) for x in call.operands):
            raise NotApplicable(f"no axis can be divided by {number}")
        elif call.operands:
            batch = [_batch(rows, number) for rows in zip(*call.draws, strict=True)]
            try:
                _compare(vmap(call.fresh()), batch, number, " of a batch")
            except MissingRuleError as error:
                raise NotApplicable(f"no axis can be divided by {number}, and {error}") from error
        else:
            raise NotApplicable("it has no arguments")


def _compare(function: Callable[..., Any], operands: list[Any], number: int, of: str) -> None:
    wanted = jit(function)(*operands)
    mesh = make_mesh((number,), ("devices",), devices=devices()[:number])
    placed = [_placed(x, mesh, number) for x in operands]
    # What jit remembers of the function is for whole arrays.
    outs = jit(lambda *xs: function(*xs))(*placed)
    for i, (got, one) in enumerate(zip(outs, wanted, strict=True)):
        require_same(f"result {i}{of} on {number} devices", got, one, scale=5.0)


def _batch(rows: tuple[Any, ...], number: int) -> Any:
    """The values of an argument in several calls, repeated along a first axis."""
    aval = typeof(rows[0])
    stacked = np.stack([np.asarray(rows[k % len(rows)]) for k in range(number)])
    made = aval.update(shape=stacked.shape)
    return Array.from_numpy(stacked.astype(aval.dtype), made)


def _axis(x: Any, number: int) -> int | None:
    """The first axis of an argument that can be divided."""
    aval = typeof(x)
    if is_extended(aval.dtype):
        return None
    return next((k for k, n in enumerate(aval.shape) if n and n % number == 0), None)


def _placed(x: Any, mesh: Any, number: int) -> Any:
    """An argument, divided along the first axis that can be."""
    if is_extended(typeof(x).dtype):
        return x
    axis = _axis(x, number)
    names = () if axis is None else (*[None] * axis, "devices")
    return device_put(x, NamedSharding(mesh, PartitionSpec(*names)))
