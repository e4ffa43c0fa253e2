"""A few operations declared with the public interface, so that the kernel is tested alone.

A package that brings operations looks like this; ``bindax_lax_basic`` is the real one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    ArrayOperations,
    ShapedArray,
    Zero,
    abstract_eval,
    impl,
    is_undef_primal,
    jvp,
    lowering,
    primitive,
    transpose,
    typeof,
    vmap,
)

interpreted = lowering["stablehlo"].absent("the kernel's own tests run without a compiler")


def same_type(*avals: ShapedArray) -> ShapedArray:
    shapes = {aval.shape for aval in avals if aval.shape}
    dtypes = {aval.dtype for aval in avals}
    if len(shapes) > 1 or len(dtypes) > 1:
        raise TypeError(f"operands must agree, got {[aval.str_short() for aval in avals]}")
    shape = shapes.pop() if shapes else ()
    return ShapedArray(shape, dtypes.pop(), all(aval.weak_type for aval in avals))


def unary(bind: Any, derivative: Any) -> list[Any]:
    return [
        abstract_eval(same_type),
        jvp(lambda p, t: (bind(*p), mul(derivative(*p), t[0]))),
        vmap(lambda size, operands, dims: (bind(*operands), dims[0])),
        interpreted,
    ]


def mapped(shape: tuple[int, ...], dim: int | None) -> tuple[int, ...]:
    return shape if dim is None else shape[:dim] + shape[dim + 1 :]


def batch_binary(bind: Any) -> Any:
    def rule(size: int, operands: Any, dims: Any) -> Any:
        shapes = [mapped(typeof(x).shape, d) for x, d in zip(operands, dims, strict=True)]
        shape = max(shapes, key=len)
        full = []
        for x, d, own in zip(operands, dims, shapes, strict=True):
            if d is not None:
                x = move_axis(x, d, 0)
                for axis, length in enumerate(shape if not own else ()):
                    x = broadcast_axis(x, length, axis + 1)
            elif own:
                x = broadcast_axis(x, size, 0)
            full.append(x)
        return bind(*full), 0

    return vmap(rule)


def sin(x: Any) -> Any:
    return sin_p.bind(x)


def cos(x: Any) -> Any:
    return cos_p.bind(x)


def neg(x: Any) -> Any:
    return neg_p.bind(x)


def add(x: Any, y: Any) -> Any:
    return add_p.bind(x, y)


def mul(x: Any, y: Any) -> Any:
    return mul_p.bind(x, y)


def greater(x: Any, y: Any) -> Any:
    return greater_p.bind(x, y)


def reduce_sum(x: Any, axis: int = 0) -> Any:
    return reduce_sum_p.bind(x, axis=axis)


def move_axis(x: Any, source: int, destination: int) -> Any:
    if source == destination:
        return x
    perm = [i for i in range(typeof(x).ndim) if i != source]
    perm.insert(destination, source)
    return permute_p.bind(x, perm=tuple(perm))


def broadcast_axis(x: Any, size: int, axis: int) -> Any:
    return broadcast_p.bind(x, size=size, axis=axis)


def sum_to(ct: Any, aval: Any) -> Any:
    while typeof(ct).ndim > aval.ndim:
        ct = reduce_sum(ct)
    return ct


not_linear = transpose.absent("not linear")
sin_p = primitive("toy.sin", impl(np.sin), *unary(sin, cos), not_linear)
cos_p = primitive("toy.cos", impl(np.cos), *unary(cos, lambda x: neg(sin(x))), not_linear)
neg_p = primitive(
    "toy.neg",
    impl(np.negative),
    abstract_eval(same_type),
    jvp(lambda p, t: (neg(*p), neg(*t))),
    vmap(lambda size, operands, dims: (neg(*operands), dims[0])),
    transpose(lambda ct, x: [neg(ct)]),
    interpreted,
)


def _add_jvp(primals: Any, tangents: Any) -> Any:
    kept = [t for t in tangents if type(t) is not Zero]
    out = add(*primals)
    tangent = kept[0] if len(kept) == 1 else add(*kept)
    missing = typeof(out).ndim - typeof(tangent).ndim
    for _ in range(missing):
        tangent = broadcast_axis(tangent, typeof(out).shape[0], 0)
    return out, tangent


add_p = primitive(
    "toy.add",
    impl(np.add),
    abstract_eval(same_type),
    jvp(_add_jvp, symbolic_zeros=True),
    batch_binary(add),
    transpose(
        lambda ct, x, y: [sum_to(ct, v.aval) if is_undef_primal(v) else None for v in (x, y)]
    ),
    interpreted,
)


def _mul_transpose(ct: Any, x: Any, y: Any) -> Any:
    if is_undef_primal(x):
        return [sum_to(mul(ct, y), x.aval), None]
    return [None, sum_to(mul(x, ct), y.aval)]


mul_p = primitive(
    "toy.mul",
    impl(np.multiply),
    abstract_eval(same_type),
    jvp(lambda p, t: (mul(*p), add(mul(t[0], p[1]), mul(p[0], t[1])))),
    batch_binary(mul),
    transpose(_mul_transpose),
    interpreted,
)


def _compare(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    return ShapedArray(same_type(x, y).shape, np.bool_)


greater_p = primitive(
    "toy.greater",
    impl(np.greater),
    abstract_eval(_compare),
    jvp(lambda p, t: (greater(*p), Zero.like(greater(*p)))),
    batch_binary(greater),
    transpose.absent("its result is boolean"),
    interpreted,
)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def _reduce_sum_vmap(size: int, operands: Any, dims: Any, *, axis: int) -> Any:
    (x,), (d,) = operands, dims
    return reduce_sum(x, axis + (axis >= d)), d - (axis < d)


reduce_sum_p = primitive(
    "toy.reduce_sum",
    impl(lambda x, *, axis: np.sum(x, axis, dtype=x.dtype)),
    abstract_eval(lambda x, *, axis: ShapedArray(_without(x.shape, axis), x.dtype, x.weak_type)),
    jvp(lambda p, t, *, axis: (reduce_sum(p[0], axis), reduce_sum(t[0], axis))),
    vmap(_reduce_sum_vmap),
    transpose(lambda ct, x, *, axis: [broadcast_axis(ct, x.aval.shape[axis], axis)]),
    interpreted,
)


def _inserted(shape: tuple[int, ...], size: int, axis: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis:])


def _broadcast_impl(x: Any, *, size: int, axis: int) -> Any:
    shape = _inserted(x.shape, size, axis)
    return np.broadcast_to(np.expand_dims(x, axis), shape)


def _broadcast_vmap(size_: int, operands: Any, dims: Any, *, size: int, axis: int) -> Any:
    (x,), (d,) = operands, dims
    return broadcast_axis(move_axis(x, d, 0), size, axis + 1), 0


broadcast_p = primitive(
    "toy.broadcast",
    impl(_broadcast_impl),
    abstract_eval(
        lambda x, *, size, axis: ShapedArray(_inserted(x.shape, size, axis), x.dtype, x.weak_type)
    ),
    jvp(lambda p, t, **params: (broadcast_p.bind(*p, **params), broadcast_p.bind(*t, **params))),
    vmap(_broadcast_vmap),
    transpose(lambda ct, x, *, size, axis: [reduce_sum(ct, axis)]),
    interpreted,
)


def _permute_vmap(size: int, operands: Any, dims: Any, *, perm: tuple[int, ...]) -> Any:
    (x,), (d,) = operands, dims
    moved = move_axis(x, d, 0)
    return permute_p.bind(moved, perm=(0, *(i + 1 for i in perm))), 0


permute_p = primitive(
    "toy.permute",
    impl(lambda x, *, perm: np.transpose(x, perm)),
    abstract_eval(
        lambda x, *, perm: ShapedArray(tuple(x.shape[i] for i in perm), x.dtype, x.weak_type)
    ),
    jvp(lambda p, t, *, perm: (permute_p.bind(*p, perm=perm), permute_p.bind(*t, perm=perm))),
    vmap(_permute_vmap),
    transpose(
        lambda ct, x, *, perm: [permute_p.bind(ct, perm=tuple(int(i) for i in np.argsort(perm)))]
    ),
    interpreted,
)


def _value(aval: Any, fill: int) -> Array:
    return Array.from_numpy(np.full(aval.shape, fill, aval.dtype), aval)


operations = ArrayOperations(
    zeros=lambda aval: _value(aval, 0),
    ones=lambda aval: _value(aval, 1),
    add=add,
    broadcast_axis=broadcast_axis,
    move_axis=move_axis,
    index_axis=lambda x, i, axis: _index(x, i, axis),
    stack=lambda xs, axis: _stack(xs, axis),
    convert=lambda x, dtype, weak: Array.from_numpy(
        np.asarray(x, dtype), ShapedArray(np.shape(x), dtype, weak)
    ),
)


def _index(x: Any, i: int, axis: int) -> Any:
    return Array.from_numpy(np.take(np.asarray(x), i, axis))


def _stack(xs: Any, axis: int) -> Any:
    return Array.from_numpy(np.stack([np.asarray(x) for x in xs], axis))


def _floated(f: Any) -> Any:
    def operator(self: Any, other: Any) -> Any:
        if isinstance(other, (int, float)):
            other = operations.convert(float(other), self.dtype, True)
        return f(self, other)

    return operator


attributes = {
    "__add__": _floated(add),
    "__radd__": _floated(lambda x, y: add(y, x)),
    "__mul__": _floated(mul),
    "__rmul__": _floated(lambda x, y: mul(y, x)),
    "__neg__": neg,
    "__gt__": _floated(greater),
}
