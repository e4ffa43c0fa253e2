"""A program of its own: bindax and JAX each compute with the same processes, at once.

The arguments are the library that is imported first, and the port of JAX's coordinator.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import numpy as np


def _join(name: str, address: str, count: int, me: int) -> Any:
    bx = import_module(name)
    if name == "jax":
        bx.config.update("jax_cpu_collectives_implementation", "gloo")
        bx.config.update("jax_num_cpu_devices", 2)
        bx.distributed.initialize(address, count, me, initialization_timeout=60)
    else:
        bx.distributed.initialize(address, count, me, [0, 1], initialization_timeout=60)
    return bx


def _sums(bx: Any, count: int, me: int) -> None:
    """A sum over all devices: by the compiler, and by a collective."""
    sharding = import_module(f"{bx.__name__}.sharding")
    kinds, P = sharding.AxisType, sharding.PartitionSpec
    assert (bx.device_count(), bx.local_device_count()) == (2 * count, 2)
    mesh = bx.make_mesh((2 * count,), ("i",), axis_types=(kinds.Auto,))
    place = sharding.NamedSharding(mesh, P("i"))
    part = np.arange(2, dtype=np.float32) + 2 * me
    x = bx.make_array_from_process_local_data(place, part)
    total = sum(range(2 * count))
    assert float(bx.jit(lambda x: x.sum())(x)) == total
    summed = bx.shard_map(lambda x: bx.lax.psum(x, "i"), mesh=mesh, in_specs=P("i"), out_specs=P())
    assert float(np.asarray(bx.jit(summed)(x))[0]) == total


def main(first: str, port: str) -> None:
    """Join with both, compute with both in turns, leave with both."""
    count, me = int(os.environ["PROCESSES"]), int(os.environ["PROCESS"])
    addresses = {"bindax": os.environ["COORDINATOR"], "jax": f"127.0.0.1:{port}"}
    names = [first, *(name for name in addresses if name != first)]
    libraries = [_join(name, addresses[name], count, me) for name in names]
    for bx in libraries * 2:
        _sums(bx, count, me)
    for bx in libraries:
        bx.distributed.shutdown()
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
