"""The exchanges that a program itself asks for, inside of ``shard_map``.

They are read from the equations, without a compiler. Which exchanges the rest of the program needs
is for a compiler to decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bindax_core.sharding import AbstractMesh
from bindax_inspect.cost.kind import size_in_bytes
from bindax_inspect.divided.exchanges import Exchange
from bindax_inspect.divided.groups import Group, group_between, pairs_between
from bindax_inspect.program.equations import Equation, Program

COLLECTIVES = {
    "all_gather": "all-gather",
    "all_to_all": "all-to-all",
    "pmax": "all-reduce",
    "pmin": "all-reduce",
    "ppermute": "collective-permute",
    "psum": "all-reduce",
    "psum_scatter": "reduce-scatter",
}
"""The primitives by which devices exchange values, and XLA's operations for them."""


def exchanges_by_rules(program: Program, mesh: AbstractMesh) -> list[Exchange]:
    """Return the exchanges that a program asks for, in its order."""
    return list(_exchanges(program, mesh))


def _exchanges(program: Program, mesh: AbstractMesh) -> Iterator[Exchange]:
    for one in program.equations:
        kind, params = COLLECTIVES.get(one.eqn.primitive.name), one.eqn.params
        if kind is None or not params.get("mesh") or not one.runs:
            continue
        names, sizes = zip(*params["mesh"], strict=True)
        group = _group(params, mesh if mesh.axis_names == names else AbstractMesh(sizes, names))
        if group.size > 1:
            size = _size(one, kind)
            line = one.origin.line
            yield Exchange(kind, group.axes, group.size, size, one.runs, line, one.number, group)


def _size(one: Equation, kind: str) -> float:
    aval = one.eqn.outvars[0].aval if kind == "all-gather" else one.eqn.invars[0].aval
    return float(size_in_bytes(aval))


def _group(params: dict[str, Any], mesh: AbstractMesh) -> Group:
    """The devices that differ along the axes of a collective alone."""
    given = params["axis_name"]
    names = given if isinstance(given, tuple) else (given,)
    order = list(mesh.axis_names)
    inside = [order.index(name) for name in names]
    others = [axis for axis in range(len(order)) if axis not in inside]
    grid = np.arange(mesh.size).reshape(mesh.axis_sizes).transpose([*others, *inside])
    members = grid.reshape(-1, math.prod(mesh.axis_sizes[axis] for axis in inside))
    if "perm" in params:
        pairs = members[:, np.array(params["perm"], np.int64).reshape(-1, 2)]
        return pairs_between(pairs.reshape(-1, 2).tolist(), mesh)
    parts = params.get("axis_index_groups")
    return group_between(
        members[:, np.array(parts)].reshape(-1, len(parts[0])) if parts else members, mesh
    )
