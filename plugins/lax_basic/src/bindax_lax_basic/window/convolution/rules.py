"""The rules of a convolution, except its type.

With ``s`` the stride, ``d`` the dilation of the kernel and ``p`` the padding in front,

    out[n, o, y] = sum over c, k of input[n, c, y s + k d - p] kernel[o, c, k]

where the input has holes if it is dilated. It is linear in either operand; the transposed maps are
convolutions again (Dumoulin and Visin, "A guide to convolution arithmetic for deep learning",
2016, section 4): of the result with the reversed kernel, and of the input with the result.
Batch groups are feature groups of another order, to which the rules reduce them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from bindax_core.extend import LoweringContext, Primitive, ShapedArray, typeof
from bindax_lax_basic.contract.precision import precision_attribute
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.shape.creation import filled
from bindax_lax_basic.shape.reshape import reshape_p
from bindax_lax_basic.shape.rev import rev
from bindax_lax_basic.shape.transpose import moveaxis
from bindax_lax_basic.window.convolution.dimension_numbers import (
    ConvDimensionNumbers,
    Dims,
    conv_type,
    dilated,
    spatial_sizes,
)
from bindax_lax_basic.window.geometry import padding_attribute
from bindax_transforms.zeros import UndefPrimal


def _split(x: Any, axis: int, outer: int, inner: int) -> Any:
    shape = typeof(x).shape
    sizes = (*shape[:axis], outer, inner, *shape[axis + 1 :])
    return reshape_p.bind(x, new_sizes=sizes, dimensions=None)


def _merge(x: Any, source: int, into: int) -> Any:
    """Make an axis the outer part of another, which is counted without the first."""
    x = moveaxis(x, source, into)
    shape = typeof(x).shape
    sizes = (*shape[:into], shape[into] * shape[into + 1], *shape[into + 2 :])
    return reshape_p.bind(x, new_sizes=sizes, dimensions=None)


def _move_groups(x: Any, source: int, target: int, groups: int) -> Any:
    """Move the outer part of one axis to the front of another."""
    x = _split(x, source, groups, typeof(x).shape[source] // groups)
    return _merge(x, source, target)


def conv_vmap(
    conv_p: Primitive, size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, int]:
    """The ``vmap`` rule: the new axis joins the batch, the output features, or the groups."""
    lhs, rhs = (x if d is None else moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True))
    in_lhs, in_rhs = (d is not None for d in dims)
    lhs_spec, rhs_spec, out_spec = params["dimension_numbers"]
    feature = out_spec[1]
    if params["batch_group_count"] > 1:
        groups = params["batch_group_count"]
        lhs = _move_groups(lhs, lhs_spec[0] + in_lhs, lhs_spec[1] + in_lhs, groups)
        params = {**params, "feature_group_count": groups, "batch_group_count": 1}
    groups = params["feature_group_count"]
    if in_lhs and in_rhs:
        if size == 0:
            return _empty_batch(lhs, rhs, params), 0
        params = {**params, "feature_group_count": size * groups}
        out = conv_p.bind(_merge(lhs, 0, lhs_spec[1]), _merge(rhs, 0, rhs_spec[0]), **params)
        return _split(out, feature, size, typeof(out).shape[feature] // size), feature
    if in_lhs:
        batch = typeof(lhs).shape[lhs_spec[0] + 1]
        out = conv_p.bind(_merge(lhs, 0, lhs_spec[0]), rhs, **params)
        return _split(out, out_spec[0], size, batch), out_spec[0]
    # Output features are ordered by group, batch element, and feature of the group.
    axis = rhs_spec[0]
    each = typeof(rhs).shape[axis + 1] // groups
    rhs = _merge(_split(rhs, axis + 1, groups, each), 0, axis + 1)
    out = conv_p.bind(lhs, _merge(rhs, axis, axis), **params)
    out = _split(_split(out, feature, groups, size * each), feature + 1, size, each)
    return _merge(moveaxis(out, feature + 1, 0), feature + 1, feature + 1), 0


def _empty_batch(lhs: Any, rhs: Any, params: Any) -> Any:
    row = [typeof(x).update(shape=typeof(x).shape[1:]) for x in (lhs, rhs)]
    aval = conv_type(*row, **params)
    return filled(aval.update(shape=(0, *aval.shape)), 0)


def conv_transpose_rule(conv_p: Primitive, ct: Any, lhs: Any, rhs: Any, **params: Any) -> list[Any]:
    """The ``transpose`` rule, for either operand."""
    if type(lhs) is UndefPrimal and type(rhs) is UndefPrimal:
        raise TypeError(
            "conv_general_dilated is linear in each operand by itself, not in both at once."
        )
    batch, feature = params["dimension_numbers"].lhs_spec[:2]
    groups = params["batch_group_count"]
    if groups > 1:
        params = {**params, "feature_group_count": groups, "batch_group_count": 1}
    if type(lhs) is UndefPrimal:
        aval = lhs.aval
        if groups > 1:
            shape = list(aval.shape)
            shape[batch] //= groups
            shape[feature] *= groups
            aval = aval.update(shape=tuple(shape))
        out = _transpose_to_lhs(conv_p, ct, aval, rhs, params)
        return [_move_groups(out, feature, batch, groups) if groups > 1 else out, None]
    if groups > 1:
        lhs = _move_groups(lhs, batch, feature, groups)
    return [None, _transpose_to_rhs(conv_p, ct, lhs, rhs.aval, params)]


def _sizes(lhs: Any, rhs: Any, ct: Any, params: Any) -> list[tuple[int, int, int]]:
    """For each spatial axis the sizes, with holes, of input, kernel and result."""
    dilations = params["lhs_dilation"], params["rhs_dilation"], params["window_strides"]
    parts = zip((lhs, rhs, ct), params["dimension_numbers"], dilations, strict=True)
    sizes = [map(dilated, spatial_sizes(x.shape, spec), holes) for x, spec, holes in parts]
    return list(zip(*sizes, strict=True))


def _transpose_to_lhs(conv_p: Primitive, ct: Any, lhs: ShapedArray, rhs: Any, params: Any) -> Any:
    lhs_spec, rhs_spec, out_spec = params["dimension_numbers"]
    sizes = _sizes(lhs, typeof(rhs), typeof(ct), params)
    pads = [
        (k - 1 - low, n - m + low)
        for (low, _), (n, k, m) in zip(params["padding"], sizes, strict=True)
    ]
    rhs = convert(rhs, typeof(ct).dtype, typeof(rhs).weak_type)
    groups = params["feature_group_count"]
    kernel = _move_groups(rev(rhs, rhs_spec[2:]), rhs_spec[0], rhs_spec[1], groups)
    changed = {
        "window_strides": params["lhs_dilation"],
        "padding": tuple(pads),
        "lhs_dilation": params["window_strides"],
        "dimension_numbers": ConvDimensionNumbers(out_spec, _exchanged(rhs_spec), lhs_spec),
        "preferred_element_type": lhs.dtype,
    }
    return conv_p.bind(ct, kernel, **{**params, **changed})


def _exchanged(spec: Dims) -> Dims:
    """The axes of a specification, the two that are not spatial in each other's place."""
    return (spec[1], spec[0], *spec[2:])


def _transpose_to_rhs(conv_p: Primitive, ct: Any, lhs: Any, rhs: ShapedArray, params: Any) -> Any:
    lhs_spec, rhs_spec, out_spec = params["dimension_numbers"]
    sizes = _sizes(typeof(lhs), rhs, typeof(ct), params)
    if any(m == 0 for _, _, m in sizes):
        return filled(rhs, 0)  # a kernel of this size is refused, and nothing is summed
    pads = [
        (low, k + m - 1 - n - low)
        for (low, _), (n, k, m) in zip(params["padding"], sizes, strict=True)
    ]
    lhs = convert(lhs, typeof(ct).dtype, typeof(lhs).weak_type)
    changed = {
        "window_strides": params["rhs_dilation"],
        "padding": tuple(pads),
        "rhs_dilation": params["window_strides"],
        "dimension_numbers": ConvDimensionNumbers(
            _exchanged(lhs_spec), _exchanged(out_spec), _exchanged(rhs_spec)
        ),
        "feature_group_count": 1,
        "batch_group_count": params["feature_group_count"],
        "preferred_element_type": rhs.dtype,
    }
    return conv_p.bind(lhs, ct, **{**params, **changed})


def _labels(spec: Dims, leading: str) -> str:
    names = [""] * len(spec)
    for place, axis in enumerate(spec):
        names[axis] = leading[place] if place < 2 else str(place - 2)
    return f"[{', '.join(names)}]"


def conv_lowering(ctx: LoweringContext, lhs: Any, rhs: Any, **params: Any) -> Any:
    """The ``lowering`` rule: one operation."""
    lhs_spec, rhs_spec, out_spec = params["dimension_numbers"]
    groups = params["batch_group_count"]
    if groups > 1 and ctx.device_count > 1:
        # XLA sums up wrongly over divided features of batch groups, and rightly over these.
        moved = partial(_move_groups, source=lhs_spec[0], target=lhs_spec[1], groups=groups)
        (lhs,) = lower.inlined(ctx, lambda x: [moved(x)], [lhs], ctx.avals_in[:1])
        params = {**params, "feature_group_count": groups, "batch_group_count": 1}
    if ctx.device_count > 1:
        # XLA sums up wrongly where input and kernel are divided along a spatial axis.
        rhs = ctx.whole_along(rhs, ctx.avals_in[1], rhs_spec[2:])
    sizes = ("window_strides", "lhs_dilation", "rhs_dilation")
    counts = ("feature_group_count", "batch_group_count")
    attributes = {
        "dimension_numbers": f"#stablehlo.conv<{_labels(lhs_spec, 'bf')}x"
        f"{_labels(rhs_spec, 'oi')}->{_labels(out_spec, 'bf')}>",
        **{name: lower.integers(params[name]) for name in sizes},
        "padding": padding_attribute(params["padding"]),
        "window_reversal": lower.booleans((False,) * len(params["window_strides"])),
        **{name: f"{params[name]} : i64" for name in counts},
        "precision_config": precision_attribute(params["precision"]),
    }
    return ctx.op("stablehlo.convolution", [lhs, rhs], attributes=attributes)[0]
