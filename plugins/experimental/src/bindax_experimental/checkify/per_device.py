"""The rule of ``shard_map``: each device has a state of its own, and the first failure counts."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import ClosedJaxpr, DebugInfo, Extension, extend, jaxpr_as_fun
from bindax_core.sharding import P
from bindax_experimental.checkify.errors import Slot, slot_avals
from bindax_experimental.checkify.interpreter import Checks, checked
from bindax_experimental.checkify.programs import places, with_state
from bindax_parallel import shard_map_p
from bindax_parallel.extend import bind_program, manual_axes
from bindax_transforms import cached_on_jaxpr, trace_to_jaxpr


def extension() -> Extension:
    """The rule for programs of each device."""
    return extend(shard_map_p, checked(_shard_map))


def _shard_map(checks: Checks, *operands: Any, **params: Any) -> list[Any]:
    slots = places([params["jaxpr"]], checks)
    if slots is None:
        return shard_map_p.bind(*operands, **params)  # type: ignore[no-any-return]
    names, state = tuple(manual_axes(params)), slot_avals(slots)
    specs = [P(names)] * (1 + len(state))
    outs = bind_program(
        _with_own_state(params["jaxpr"], checks, slots),
        operands,
        params,
        params["in_specs"],
        (*specs, *params["out_specs"]),
    )
    count = len(specs)
    checks.merge(outs[0], slots, outs[1:count], batch=1)
    return outs[count:]


def _with_own_state(jaxpr: ClosedJaxpr, checks: Checks, slots: tuple[Slot, ...]) -> ClosedJaxpr:
    """The program that begins without a failure, and gives its state with one more axis first."""
    program, avals = with_state(jaxpr, checks, slots), slot_avals(slots)

    def function(*parts: Any) -> list[Any]:
        start = [np.int32(0), *(lax.full(aval.shape, 0, aval.dtype) for aval in avals)]
        outs = jaxpr_as_fun(program)(*start, *parts)
        count = len(start)
        return [*(lax.expand_dims(x, (0,)) for x in outs[:count]), *outs[count:]]

    def make() -> ClosedJaxpr:
        return trace_to_jaxpr(function, jaxpr.in_avals, DebugInfo("checkify"))

    return cached_on_jaxpr(program, "checkify on each device", make)
