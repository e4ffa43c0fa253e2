"""A program of its own: programs for eight devices, exported and called by bindax and by JAX."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

A = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
B = np.random.default_rng(1).normal(size=(4, 8)).astype(np.float32)


def _programs(bx: Any, mesh: Any) -> dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]]:
    """Compiled functions, with their operands as numbers and in place."""
    P, lax, jnp = bx.P, bx.lax, bx.numpy

    def on(*spec: Any) -> Any:
        return bx.NamedSharding(mesh, P(*spec))

    def product(a: Any, b: Any) -> Any:
        return jnp.tanh(a @ b), a.sum()

    def everywhere(a: Any) -> Any:
        return a / lax.psum(a.sum(), ("x", "y"))

    mapped = bx.shard_map(everywhere, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
    ends = {"in_shardings": (on("x", "y"), on("y")), "out_shardings": (on("x"), on())}
    a, b = bx.device_put(A, on("x", "y")), bx.device_put(B, on("y"))
    return {
        "ends": (bx.jit(product, **ends), (A, B), (a, b)),
        "operands": (bx.jit(product), (a, b), (a, b)),
        "mapped": (bx.jit(mapped), (a,), (a,)),
    }


def _mesh(bx: Any, sizes: Any = (4, 2), names: Any = ("x", "y")) -> Any:
    kinds = import_module(f"{bx.__name__}.sharding").AxisType
    return bx.make_mesh(sizes, names, axis_types=(kinds.Auto,) * len(sizes))


def _check(call: Any, bx: Any, wanted: Any, placed: tuple[Any, ...]) -> None:
    for run in (call, bx.jit(lambda *args: call(*args))):
        for x, y in zip(bx.tree.leaves(run(*placed)), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(x), y, rtol=2e-5, atol=1e-6)


def _derivatives(one: Any, two: Any, read: Any, function: Any, placed: Any, theirs: Any) -> None:
    def loss(run: Any, bx: Any) -> Any:
        return lambda *args: sum(leaf.sum() for leaf in bx.tree.leaves(run(*args)))

    wanted = one.grad(loss(function, one))(*placed)
    got = two.jit(two.grad(loss(read.call, two)))(*theirs)
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=2e-5, atol=1e-6)


def main() -> None:
    """Export with either, call with both."""
    libraries = [import_module(name) for name in ("bindax", "jax")]
    exports = [import_module(f"{bx.__name__}.export") for bx in libraries]
    every = [_programs(bx, _mesh(bx)) for bx in libraries]
    for i, j in ((0, 0), (0, 1), (1, 0)):
        for name, (function, given, placed) in every[i].items():
            wanted = [np.asarray(x) for x in libraries[i].tree.leaves(function(*placed))]
            exported = exports[i].export(function)(*given)
            assert exported.nr_devices == 8, name
            read = exports[j].deserialize(exported.serialize(vjp_order=1))
            assert read.nr_devices == 8
            own = [str(x) for x in (*exported.in_shardings_hlo, *exported.out_shardings_hlo)]
            theirs = [str(x) for x in (*read.in_shardings_hlo, *read.out_shardings_hlo)]
            if (i, j) == (0, 0):
                assert own == theirs, (name, own, theirs)
            if name == "ends" and j == 0:
                assert theirs[0] == "{devices=[4,2]<=[8]}", theirs
                assert theirs[2] == "{devices=[4,1,2]<=[8] last_tile_dim_replicate}", theirs
            operands = every[j][name][2]
            _check(read.call, libraries[j], wanted, operands)
            _derivatives(libraries[i], libraries[j], read, function, placed, operands)
            print(f"{libraries[i].__name__} to {libraries[j].__name__}: {name}")
    _refusals(libraries[0], exports[0])
    print("done")


def _refusals(bx: Any, export: Any) -> None:
    function, (given, *_), _ = _programs(bx, _mesh(bx))["mapped"]
    read = export.deserialize(export.export(function)(given).serialize())
    # The mesh of the caller has axes of other names and sizes, in symbols that are alike.
    other = bx.NamedSharding(_mesh(bx, (2, 4), ("x", "z")), bx.P("x", "z"))
    laid = bx.jit(lambda a: bx.lax.with_sharding_constraint(read.call(a), other))
    out = laid(bx.device_put(A, other))
    np.testing.assert_allclose(out, A / A.sum(), rtol=2e-5)
    assert read.in_shardings_jax(given.sharding.mesh) == (given.sharding,)
    for wrong in (A, bx.device_put(A, bx.devices()[1])):
        with pytest.raises(export.ExportError, match="8 devices, but is called in a program on 1"):
            read.call(wrong)


if __name__ == "__main__":
    main()
