"""A program of its own: bindax and JAX in one process, each with eight devices.

The first argument is the one that is imported first. All programs are run by both; values and
collectives must be the same.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from _programs import collectives, placed, programs


def _run(bx: Any, names: list[str]) -> dict[str, Any]:
    kinds = import_module(f"{bx.__name__}.sharding").AxisType
    mesh = bx.make_mesh((4, 2), ("x", "y"), axis_types=(kinds.Auto,) * 2)
    found = {}
    for name, example in programs(bx).items():
        if name in names or not names:
            operands, jitted = placed(bx, mesh, example), bx.jit(example.function)
            text = jitted.lower(*operands).compile().as_text()
            leaves = bx.tree.leaves(jitted(*operands))
            found[name] = collectives(text), leaves
    return found


def _pmapped(bx: Any) -> list[Any]:
    """Calls of ``pmap``: axes, static and keyword arguments, fewer elements than devices."""
    rows = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)

    def part(scale: int, x: Any, *, shift: Any) -> Any:
        return bx.lax.psum(x * scale, "i") - x, {"shifted": x.sum() + shift}

    options = {"static_broadcasted_argnums": 0, "axis_name": "i"}
    runs = [
        bx.pmap(part, in_axes=(None, 0), **options)(3, rows, shift=rows[:, 0]),
        bx.pmap(part, in_axes=(None, 1), out_axes=(1, 0), **options)(2, rows, shift=rows[0]),
        bx.pmap(bx.numpy.sin, devices=bx.devices()[2:4])(rows[:2]),
    ]
    return [(len(x.devices()), np.asarray(x)) for x in bx.tree.leaves(runs)]


def main(first: str, *names: str) -> None:
    """Run the programs with both."""
    other = {"jax": "bindax", "bindax": "jax"}[first]
    one, two = (import_module(name) for name in (first, other))
    assert len(one.devices()) == len(two.devices()) == 8
    ours, theirs = (_run(bx, list(names)) for bx in (one, two))
    for name, (used, leaves) in ours.items():
        print(f"{name}: {used}")
        if used != theirs[name][0]:
            print(f"{name}: {first} has {used}, {other} has {theirs[name][0]}")
        for x, y in zip(leaves, theirs[name][1], strict=True):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-5, atol=1e-6)
    for (count, x), (devices, y) in zip(_pmapped(one), _pmapped(two), strict=True):
        assert count == devices
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)
    assert float(one.numpy.ones(3).sum()) == float(two.numpy.ones(3).sum()) == 3.0
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
