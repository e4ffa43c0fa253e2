"""The program of one device in two parts: what is known first, and what follows.

What the first part leaves for the second may be different on each device: it passes as an array
with one more axis, which those axes of the mesh divide along which it may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import ClosedJaxpr, DebugInfo, eval_jaxpr
from bindax_core.sharding import ManualAxisType, PartitionSpec
from bindax_parallel.shard_map.specs import (
    Params,
    chosen,
    differing_axes,
    manual_axes,
)
from bindax_parallel.shard_map.staging import stage
from bindax_parallel.varying import varying_axes
from bindax_transforms import find_named_axis, partial_eval_jaxpr, trace_to_jaxpr
from bindax_transforms.extend import varying_as


def unzip(params: Params, in_unknowns: Sequence[bool]) -> tuple[Any, Params, Params]:
    """The two parts of the program, and the parameters of the two calls."""
    axes = manual_axes(params)
    count = len(axes)
    parts = partial_eval_jaxpr(params["jaxpr"], [*[False] * count, *in_unknowns])
    known_specs = chosen(params["in_specs"], [not flag for flag in in_unknowns])
    num_known = sum(not flag for flag in parts.out_unknowns)
    differing = varying_axes(parts.known, differing_axes(axes, known_specs))[num_known:]
    new = [PartitionSpec(tuple(name for name in axes if name in along)) for along in differing]
    known = _with_front_axes(parts.known, num_known)
    known_out = chosen(params["out_specs"], [not flag for flag in parts.out_unknowns])
    known_params = {
        **params,
        "jaxpr": known,
        "in_specs": tuple(known_specs),
        "out_specs": (*known_out, *new),
    }
    specs = residuals_of(parts, count, known_specs, new)
    unknown_params = {
        **params,
        "jaxpr": _second_part(parts, params),
        "in_specs": (*specs, *chosen(params["in_specs"], in_unknowns)),
        "out_specs": tuple(chosen(params["out_specs"], parts.out_unknowns)),
    }
    return parts, known_params, unknown_params


def residuals_of(
    parts: Any, count: int, known: Sequence[Any], computed: Sequence[Any]
) -> list[Any]:
    """The residuals, the indices aside: known operands, and what was computed."""
    rest = iter(computed)
    return [
        next(rest) if source is None else known[source - count]
        for source in parts.forwarded
        if source is None or source >= count
    ]


def _with_front_axes(known: ClosedJaxpr, num_known: int) -> ClosedJaxpr:
    """The first part, with one more axis in front of each residual."""
    if "front_axes" not in known.cache:

        def program(*args: Any) -> list[Any]:
            outs = eval_jaxpr(known.jaxpr, known.consts, *args)
            return [*outs[:num_known], *(lax.expand_dims(x, (0,)) for x in outs[num_known:])]

        known.cache["front_axes"] = trace_to_jaxpr(program, known.in_avals, DebugInfo("shard_map"))
    return known.cache["front_axes"]  # type: ignore[no-any-return]


def _second_part(parts: Any, params: Params) -> ClosedJaxpr:
    """The second part, from the indices, the residuals with their front axes, and the rest."""
    unknown, count = parts.unknown, len(manual_axes(params))
    key = ("second_part", count, params["mesh"].shape_tuple, params["axis_names"])
    if key not in unknown.cache:
        sources, own = list(parts.forwarded), list(parts.residual_avals)
        avals = [
            aval if source is not None else _passed(aval.update(shape=(1, *aval.shape)))
            for aval, source in zip(own, sources, strict=True)
            if source is None or source >= count
        ]
        avals += unknown.in_avals[len(sources) :]

        def program(*args: Any) -> list[Any]:
            indices = [find_named_axis(name, "shard_map").index for name in manual_axes(params)]
            rest = iter(args)
            residuals = []
            for source, aval in zip(sources, own, strict=True):
                if source is None:
                    residuals.append(varying_as(lax.squeeze(next(rest), (0,)), aval))
                else:
                    residuals.append(indices[source] if source < count else next(rest))
            return eval_jaxpr(unknown.jaxpr, unknown.consts, *residuals, *rest)

        unknown.cache[key] = stage(program, avals, params, DebugInfo("shard_map"))
    return unknown.cache[key]  # type: ignore[no-any-return]


def _passed(aval: Any) -> Any:
    """The type of a residual between the parts: terms of a sum vary, copies are the same."""
    mat = aval.mat
    return aval.update(mat=ManualAxisType(mat.varying | mat.unreduced)) if mat else aval
