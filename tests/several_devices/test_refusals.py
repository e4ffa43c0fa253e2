"""What does not fit several devices: an error in time, and programs run on afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
from bindax import P, lax
from bindax.errors import DeletedArrayError
from bindax.sharding import Mesh

ROWS = np.arange(16, dtype=np.float32).reshape(8, 2)


def test_meshes() -> None:
    with pytest.raises(TypeError, match="devices has 0, which is no device"):
        Mesh(np.array([0, 1]), ("x",))
    for size in (0, -4):
        with pytest.raises(ValueError, match="must be whole numbers from 1 on"):
            bindax.make_mesh((size,), ("x",))


def test_a_part_of_an_array_that_is_gone(on: Any) -> None:
    x = bindax.device_put(ROWS, on("x"))
    shard = x.addressable_shards[0]
    bindax.jit(lambda x: x + 1, donate_argnums=0)(x)
    with pytest.raises(DeletedArrayError, match="was used after it was deleted or donated"):
        _ = shard.data


@pytest.mark.parametrize("summed", [False, True])
def test_a_host_function_that_raises_on_one_device(mesh: Any, summed: bool) -> None:
    fail = [True]

    def host(x: Any) -> Any:
        if fail[0] and x.max() > 14:
            raise KeyError("here")
        return x

    def part(x: Any) -> Any:
        y = bindax.pure_callback(host, bindax.ShapeDtypeStruct(x.shape, x.dtype), x)
        return lax.psum(y, "x") if summed else y

    out = P() if summed else P("x")
    run = bindax.jit(bindax.shard_map(part, mesh=mesh, in_specs=P("x"), out_specs=out))
    with pytest.raises(bindax.errors.BackendError, match="callback host raised KeyError: 'here'"):
        run(ROWS)
    fail[0] = False
    np.testing.assert_array_equal(run(ROWS), ROWS.reshape(4, 2, 2).sum(0) if summed else ROWS)
