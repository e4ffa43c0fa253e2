"""The call of an exported program, as a primitive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.extend import (
    LoweringContext,
    ShapedArray,
    is_extended,
    operations_for,
    primitive,
    rules,
    typeof,
)
from bindax_export._backend import exporting_backend
from bindax_export._errors import ExportError
from bindax_export._shapes import evaluated_shape

if TYPE_CHECKING:
    from bindax_export._exported import Exported


def _impl(*operands: Any, exported: Exported) -> Sequence[Any]:
    return exported.compiled(*operands)  # type: ignore[no-any-return]


def result_avals(*avals: Any, exported: Exported) -> list[ShapedArray]:
    """The types of the results for arguments of these types, which are checked."""
    given = [
        aval if is_extended(expected.dtype) else aval.physical()
        for aval, expected in zip(avals, exported.in_avals, strict=True)
    ]
    values = exported.solver.bound(given)
    return [
        ShapedArray(evaluated_shape(aval.shape, values), aval.dtype) for aval in exported.out_avals
    ]


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], *, exported: Exported
) -> tuple[list[Any], list[int]]:
    """One element after the other: the program is for the ranks that it was exported for."""
    if axis_size == 0:
        avals = [_element(typeof(x), d) for x, d in zip(operands, dims, strict=True)]
        outs = result_avals(*avals, exported=exported)
        types = [aval.with_axis(0, 0) for aval in outs]
        return [operations_for(aval).zeros(aval) for aval in types], [0] * len(types)
    rows = []
    for i in range(axis_size):
        row = [
            x if d is None else operations_for(typeof(x)).index_axis(x, i, d)
            for x, d in zip(operands, dims, strict=True)
        ]
        rows.append(call_exported_p.bind(*row, exported=exported))
    outs = [operations_for(typeof(xs[0])).stack(list(xs), 0) for xs in zip(*rows, strict=True)]
    return outs, [0] * len(outs)


def _element(aval: Any, axis: int | None) -> Any:
    return aval if axis is None else aval.without_axis(axis)


def _physical(avals: Sequence[Any], *operands: Any, exported: Exported) -> Sequence[Any]:
    return call_exported_p.bind(*operands, exported=exported.physical)  # type: ignore[no-any-return]


def _lowering(ctx: LoweringContext, *values: Any, exported: Exported) -> Sequence[Any]:
    index = exported.platform_index(ctx.platform)
    kept = exported.module_kept_var_idx
    if exported.nr_devices not in (1, ctx.device_count):
        raise ExportError(
            f"Function {exported.fun_name} was exported for {exported.nr_devices} devices and is "
            f"called in a context with {ctx.device_count} devices; put its arguments on a mesh of "
            f"as many devices: device_put(x, sharding) with a sharding of "
            f"exported.in_shardings_jax(mesh)."
        )
    given = _placed(ctx, values, ctx.avals_in, exported, exported.in_shardings)
    results = exporting_backend().exporting.call_artifact(
        ctx,
        exported.mlir_module_serialized,
        [given[i] for i in kept],
        name=f"call_exported_{exported.fun_name}",
        operand_avals=[ctx.avals_in[i] for i in kept],
        parameter_avals=[exported.in_avals[i] for i in kept],
        result_avals=list(ctx.avals_out),
        declared_avals=list(exported.out_avals),
        platform_index=index,
    )
    return _placed(ctx, results, ctx.avals_out, exported, exported.out_shardings)


def _placed(
    ctx: LoweringContext,
    values: Sequence[Any],
    avals: Sequence[Any],
    exported: Exported,
    places: Sequence[Any],
) -> list[Any]:
    """Values of a program on several devices where the exported program has them."""
    if exported.nr_devices == 1:
        return list(values)
    return [
        x
        if sharding is None
        else ctx.op(
            "sdy.sharding_constraint",
            [x],
            [aval],
            {"sharding": ctx.sharding(sharding, len(aval.shape))},
        )[0]
        for x, aval, sharding in zip(values, avals, places, strict=True)
    ]


def _sharding(*avals: Any, exported: Exported) -> list[Any]:
    """The results lie as their types say, whose mesh has the axes of the one at work."""
    return [aval.sharding.spec for aval in exported.out_avals]


call_exported_p = primitive(
    "call_exported",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(result_avals),
    rules.sharding(_sharding, linear="own"),
    rules.jvp.absent("an exported program has no forward derivative; it can have a reverse one"),
    rules.vmap(_vmap),
    rules.transpose.absent("an exported program is not known to be linear"),
    rules.physical(_physical),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""A call of an exported program. Parameter: ``exported``, an ``Exported``."""
