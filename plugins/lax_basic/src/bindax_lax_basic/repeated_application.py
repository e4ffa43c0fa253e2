"""Applying a function to elements of an array as often as they are named."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax_transforms
from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    LoweringContext,
    Origin,
    Primitive,
    Region,
    ShapedArray,
    Zero,
    abstract_eval,
    describe_function,
    eval_jaxpr,
    impl,
    instantiate_zeros,
    jvp,
    lowering,
    primitive,
    transpose,
    typeof,
    vmap,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic._batching import batch_first
from bindax_lax_basic._computations import mapped, refuse_traced_consts, scalar_avals
from bindax_lax_basic._linear import zero_tangent
from bindax_lax_basic._numpy import NumPyArray
from bindax_lax_basic._types import describe, shape_argument
from bindax_lax_basic._windows import ScatterDimensionNumbers
from bindax_lax_basic.arithmetic import add_p, mul_p
from bindax_lax_basic.axes import broadcast_to
from bindax_lax_basic.comparison import gt_p, lt_p
from bindax_lax_basic.complex_numbers import imag, real
from bindax_lax_basic.conversion import convert
from bindax_lax_basic.creation import filled
from bindax_lax_basic.gathering import scatter_add
from bindax_lax_basic.reductions import reduce_max_p
from bindax_lax_basic.selection import select_n_p
from bindax_transforms import trace_to_jaxpr

COUNT: np.dtype[Any] = np.dtype(np.int32)
_SCALAR = ShapedArray((), COUNT)


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Any = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Apply a function to the elements of windows of an array.

    Args:
        operand: the array, which is not changed.
        scatter_indices: as for ``scatter_add``.
        func: takes and returns a scalar of the dtype of ``operand``. It is applied to an element
            as often as windows contain it.
        dimension_numbers: as for ``scatter_add``.
        update_shape: the shape that the updates of ``scatter_add`` would have.
        indices_are_sorted: as for ``scatter_add``.
        unique_indices: likewise.
        mode: likewise.

    Raises:
        TypeError: when ``func`` returns another type, or uses traced arrays from outside.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> where = np.array([[2], [0], [2]])
    >>> double = lambda x: 2.0 * x
    >>> scatter_apply(np.ones(3), where, double, numbers, update_shape=(3,))
    Array([2., 1., 4.], dtype=float64)
    """
    ones = filled(ShapedArray(shape_argument("scatter_apply", update_shape), COUNT), 1)
    counts = scatter_add(
        filled(ShapedArray(typeof(operand).shape, COUNT), 0),
        scatter_indices,
        ones,
        dimension_numbers,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )
    return apply_counted("scatter_apply", func, counts, operand)


def apply_counted(name: str, func: Callable[[Any], Any], counts: Any, x: Any) -> Any:
    """Apply a function of scalars to each element of an array as often as ``counts`` says."""
    scalar = ShapedArray((), typeof(x).dtype)
    program = trace_to_jaxpr(lambda v: [func(v)], [scalar], Origin(name, func))
    (returned,) = program.out_avals
    if returned.strip_weak_type() != scalar:
        raise TypeError(
            f"{name}: the function must return the type that it takes, {scalar.str_short()}, but "
            f"{describe_function(func)} returns {returned.str_short()}."
        )
    refuse_traced_consts(name, func, program)
    return iterate_p.bind(counts, x, computation=program)[0]


# ----------------------------------------------------------------------------------- iterate


def _type(counts: ShapedArray, *values: ShapedArray, computation: ClosedJaxpr) -> list[ShapedArray]:
    if counts.dtype != COUNT or any(value.shape != counts.shape for value in values):
        raise TypeError(
            f"iterate takes int32 counts and values of their shape, but got "
            f"{describe((counts, *values))}."
        )
    return [value.strip_weak_type() for value in values]


def _impl(counts: NumPyArray, *values: NumPyArray, computation: ClosedJaxpr) -> list[NumPyArray]:
    step = mapped(computation)
    outs = [value.copy() for value in values]
    for done in range(int(counts.max(initial=0))):
        unfinished = counts > done
        news = step([Array.from_numpy(out[unfinished]) for out in outs])
        for out, new in zip(outs, news, strict=True):
            out[unfinished] = np.asarray(new)
    return outs


def _bind(*operands: Any, computation: ClosedJaxpr) -> list[Any]:
    return iterate_p.bind(*operands, computation=computation)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, computation: ClosedJaxpr) -> Any:
    """The values are carried together with the derivatives along each direction of the first ones.

    A complex value has two directions, since the function need not be holomorphic.
    """
    counts, *values = primals
    if all(type(t) is Zero for t in tangents[1:]):
        outs = _bind(*primals, computation=computation)
        return outs, [zero_tangent(out) for out in outs]
    number, aval = len(values), typeof(values[0])
    units = (1, 1j) if dtypes.is_complex(aval.dtype) else (1,)
    starts = [
        _constant(unit if i == j else 0, aval)
        for j in range(number)
        for unit in units
        for i in range(number)
    ]
    program = _with_derivatives(computation, len(starts) // number)
    found = _bind(counts, *values, *starts, computation=program)
    outs, derivatives = found[:number], found[number:]
    steps = [step for t in tangents[1:] for step in _components(instantiate_zeros(t), units)]
    changes = []
    for i in range(number):
        terms = [mul_p.bind(d, s) for d, s in zip(derivatives[i::number], steps, strict=True)]
        total = terms[0]
        for term in terms[1:]:
            total = add_p.bind(total, term)
        changes.append(total)
    return outs, changes


def _constant(value: complex, aval: ShapedArray) -> Any:
    return broadcast_to(np.asarray(value, aval.dtype), aval.shape)


def _components(t: Any, units: Sequence[complex]) -> list[Any]:
    """The coordinates of a tangent along the directions of a value."""
    if len(units) == 1:
        return [t]
    return [convert(part(t), typeof(t).dtype, False) for part in (real, imag)]


def _with_derivatives(computation: ClosedJaxpr, directions: int) -> ClosedJaxpr:
    """The computation of values, and then of their derivatives along some directions."""
    scalars = scalar_avals(computation.in_avals)
    number = len(scalars)

    def function(*xs: Any) -> list[Any]:
        return eval_jaxpr(computation.jaxpr, computation.consts, *xs)

    def both(*everything: Any) -> list[Any]:
        values, rest = list(everything[:number]), everything[number:]
        outs = function(*values)
        for start in range(0, number * directions, number):
            along = list(rest[start : start + number])
            outs = [*outs, *bindax_transforms.jvp(function, values, along)[1]]
        return outs

    return trace_to_jaxpr(both, scalars * (1 + directions), Origin("iterate", both))


def _vmap(
    size: int, operands: Sequence[Any], dims: Sequence[int | None], *, computation: ClosedJaxpr
) -> tuple[list[Any], list[int]]:
    moved = [batch_first(x, d, size) for x, d in zip(operands, dims, strict=True)]
    return _bind(*moved, computation=computation), [0] * (len(moved) - 1)


def _lowering(
    ctx: LoweringContext, counts: Any, *values: Any, computation: ClosedJaxpr
) -> list[Any]:
    """A loop over the whole arrays, as long as something is left to do."""
    carried = [_SCALAR, *[aval.strip_weak_type() for aval in ctx.avals_in]]
    step = mapped(computation)
    axes = tuple(range(carried[1].ndim))

    def more(done: Any, counts: Any, *_: Any) -> list[Any]:
        return [lt_p.bind(done, reduce_max_p.bind(counts, axes=axes))]

    def following(done: Any, counts: Any, *values: Any) -> list[Any]:
        unfinished = gt_p.bind(counts, broadcast_to(done, carried[1].shape))
        pairs = zip(values, step(values), strict=True)
        kept = [select_n_p.bind(unfinished, value, new) for value, new in pairs]
        return [add_p.bind(done, filled(_SCALAR, 1)), counts, *kept]

    def region(function: Callable[..., list[Any]]) -> Region:
        program = trace_to_jaxpr(function, carried, Origin("iterate", function))
        return Region(carried, lambda inner, *xs: inner.inline(program, list(xs)))

    start = [ctx.constant(np.int32(0)), counts, *values]
    regions = [region(more), region(following)]
    return list(ctx.op("stablehlo.while", start, result_avals=carried, regions=regions))[2:]


iterate_p: Primitive = primitive(
    "iterate",
    impl(_impl, slow=True),
    abstract_eval(_type),
    jvp(_jvp, symbolic_zeros=True),
    vmap(_vmap),
    transpose.absent("its tangents are products, which are transposed"),
    lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Operands: how often to apply the computation, and arrays of that shape that it is applied to."""
