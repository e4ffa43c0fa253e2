"""Lowering of ``shard_map``: a region in which the program is that of one device."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from bindax_core.extend import ClosedJaxpr, DebugInfo, LoweringContext, Region, ShapedArray
from bindax_core.sharding import Mesh, NamedSharding, PartitionSpec
from bindax_parallel.shard_map.blocks import evaluate
from bindax_parallel.shard_map.merging import with_merged_exchanges
from bindax_parallel.shard_map.plain import without_devices
from bindax_parallel.shard_map.specs import INDEX, Sizes, Spec, whole_aval
from bindax_transforms import trace_to_jaxpr

_NUMBER = ShapedArray((), np.uint32)
_ONE = ShapedArray((1,), np.int32)


def shard_map_lowering(
    ctx: LoweringContext,
    *values: Any,
    jaxpr: ClosedJaxpr,
    mesh: Any,
    axis_names: frozenset[Any],
    in_specs: Sequence[Spec],
    out_specs: Sequence[Spec],
    **params: Any,
) -> list[Any]:
    """Lower to ``sdy.manual_computation``; without the devices, to operations on whole arrays."""
    sizes = dict(mesh.shape_tuple)
    manual = {name: size for name, size in sizes.items() if name in axis_names}
    program = with_merged_exchanges(jaxpr if mesh.size > 1 else without_devices(jaxpr))
    if mesh.size == 1:
        return ctx.inline(program, [*[ctx.constant(np.int32(0))] * len(manual), *values])
    if not isinstance(mesh, Mesh) and ctx.device_count != mesh.size:

        def on_one_device(*operands: Any) -> list[Any]:
            return evaluate(jaxpr, manual, in_specs, out_specs, operands)

        together = trace_to_jaxpr(on_one_device, ctx.avals_in, DebugInfo("shard_map"))
        return ctx.inline(together, list(values))
    avals = jaxpr.in_avals[len(manual) :]
    specs = list(in_specs)
    operands = [
        _constrained(ctx, x, aval.plain(), NamedSharding(mesh, spec)) if spec.unreduced else x
        for x, spec, aval in zip(values, in_specs, ctx.avals_in, strict=True)
    ]
    open_axes = len(manual) < len(sizes)
    if open_axes:
        operands = [*_counts(ctx, manual), *operands]
        specs = [*map(PartitionSpec, manual), *in_specs]
        avals = [*[_ONE] * len(manual), *avals]

    def body(inner: LoweringContext, *args: Any) -> Sequence[Any]:
        inner.enter_manual(mesh, list(manual))
        if not open_axes:
            return inner.inline(program, [*_indices(inner, sizes), *args])
        indices = [inner.op("stablehlo.reshape", [x], [INDEX])[0] for x in args[: len(manual)]]
        return inner.inline(program, [*indices, *args[len(manual) :]])

    symbol = ctx.mesh(mesh)
    quoted = ", ".join(f'"{name}"' for name in manual)
    results = [
        whole_aval(spec, aval, {"mesh": mesh, "axis_names": axis_names, **params}).plain()
        for spec, aval in zip(out_specs, jaxpr.out_avals, strict=True)
    ]
    return ctx.op(
        "sdy.manual_computation",
        operands,
        results,
        {
            "in_shardings": _shardings(symbol, specs, avals, open_axes),
            "out_shardings": _shardings(symbol, out_specs, jaxpr.out_avals, open_axes),
            "manual_axes": f"#sdy<manual_axes{{{quoted}}}>",
        },
        [Region(avals, body)],
    )


def _constrained(ctx: LoweringContext, x: Any, aval: Any, sharding: NamedSharding) -> Any:
    """An operand that is a sum of terms, after a constraint that says how it lies already.

    XLA of jaxlib 0.12 refuses a region that adds the terms up where no constraint stands before.
    """
    attributes = {"sharding": ctx.sharding(sharding, aval.ndim)}
    return ctx.op("sdy.sharding_constraint", [x], [aval], attributes)[0]


def _shardings(symbol: str, specs: Sequence[Spec], avals: Sequence[Any], open_axes: bool) -> str:
    """The shardings of operands or results; other mesh axes may divide them further."""
    more = ["?"] if open_axes else []
    texts = []
    for spec, aval in zip(specs, avals, strict=True):
        entries = spec.padded(aval.ndim).axes
        dims = ["{" + ", ".join([*(f'"{n}"' for n in names), *more]) + "}" for names in entries]
        terms = ", ".join(f'"{name}"' for name in sorted(spec.unreduced, key=str))
        sums = f", unreduced={{{terms}}}" if terms else ""
        texts.append(f"<@{symbol}, [{', '.join(dims)}]{sums}>")
    return f"#sdy.sharding_per_value<[{', '.join(texts)}]>"


def _counts(ctx: LoweringContext, axes: Sizes) -> list[Any]:
    """For each axis the numbers of its places, of which each device is to get its own.

    Where the compiler divides along other axes, a device cannot ask for its number.
    """
    avals = [ShapedArray((size,), np.int32) for size in axes.values()]
    dimension = {"iota_dimension": "0 : i64"}
    return [ctx.op("stablehlo.iota", [], [aval], dimension)[0] for aval in avals]


def _indices(ctx: LoweringContext, sizes: Sizes) -> list[Any]:
    """The device's index along each axis, from its number."""
    (number,) = ctx.op("stablehlo.partition_id", [], [_NUMBER])
    found = []
    order = list(sizes)
    for name in order:
        stride = prod(sizes[other] for other in order[order.index(name) + 1 :])
        count = ctx.constant(np.uint32(stride))
        (quotient,) = ctx.op("stablehlo.divide", [number, count], [_NUMBER])
        size = ctx.constant(np.uint32(sizes[name]))
        (place,) = ctx.op("stablehlo.remainder", [quotient, size], [_NUMBER])
        found += ctx.op("stablehlo.convert", [place], [INDEX])
    return found
