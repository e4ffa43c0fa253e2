"""What does not fit several devices: an error in time, and programs run on afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
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


@pytest.mark.parametrize("donated", [False, True])
def test_an_array_of_which_a_part_is_gone(donated: bool, on: Any) -> None:
    added = bindax.jit(lambda x: x + 1)
    x = bindax.device_put(ROWS, on("x"))
    added(x)
    part = x.addressable_shards[3].data
    if donated:
        bindax.jit(lambda x: x + 1, donate_argnums=0)(part)
    else:
        part.delete()
    for use in (added, added.lower(x).compile(), np.asarray, lambda x: x + 1):
        with pytest.raises(DeletedArrayError, match="was deleted or donated"):
            use(x)
    again = bindax.device_put(ROWS, on("x"))
    np.testing.assert_array_equal(added(again), ROWS + 1)


MANY_PROGRAMS = """
import bindax
import numpy as np
from bindax import P, lax, pure_callback

mesh = bindax.make_mesh((4, 2), ("x", "y"))
x = bindax.device_put(np.ones((64, 64), np.float32), bindax.NamedSharding(mesh, P("x")))

def on_mesh(part, check=True):
    specs = {"in_specs": P("x"), "out_specs": P(), "check_vma": check}
    return bindax.jit(bindax.shard_map(part, mesh=mesh, **specs))

added = bindax.jit(lambda x: x + 1)

def on_host(part):
    kind = bindax.ShapeDtypeStruct(part.shape, part.dtype)
    return lax.psum(pure_callback(lambda x: np.asarray(added(x)), kind, part), "x")

programs = [on_mesh(lambda x, k=k: lax.psum(k * x, "x")) for k in range(4)]
programs.append(on_mesh(on_host, check=False))
for _ in range(2):
    started = [program(x) for _ in range(20) for program in programs]
    bindax.block_until_ready(started)
    assert [float(y.max()) for y in started[-5:]] == [0, 4, 8, 12, 8]
print("done")
"""


def test_many_programs_at_a_time_whose_devices_exchange_values() -> None:
    environment = {**os.environ, "BINDAX_NUM_CPU_DEVICES": "8"}
    done = subprocess.run(  # XLA aborts the process where they wait for each other
        [sys.executable, "-c", MANY_PROGRAMS],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.stdout == "done\n", done.stderr[-2000:]


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
