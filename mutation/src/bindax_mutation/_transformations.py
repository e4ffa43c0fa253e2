"""The mistakes that are made in values, and in derivatives, transposes and batching rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias

import attrs
import numpy as np

from bindax_core.extend import (
    Primitive,
    float0,
    is_differentiable,
    is_value,
    operations_for,
    typeof,
)
from bindax_transforms.rules import transpose as transpose_rules
from bindax_transforms.zeros import Zero, is_undef_primal

MOST_OPERANDS = 3
Rule: TypeAlias = "partial[Any]"
"""A rule with the parameters of a primitive."""


@attrs.frozen
class Damage:
    """One kind of mistake.

    ``apply`` takes the true rule with its parameters, and its arguments; it gives the wrong result,
    or None where the mistake would change nothing.
    """

    name: str
    apply: Callable[[Rule, Sequence[Any]], Any]


def is_number(x: Any) -> bool:
    """Tell whether something is an array that a mistake could change, not a zero known as such."""
    return x is not None and type(x) is not Zero and is_value(x) and typeof(x).dtype != float0


def negated(x: Any) -> Any:
    """The value with the other sign; the opposite of a boolean."""
    return ~x if typeof(x).dtype == np.bool_ else -x


def doubled(x: Any) -> Any:
    """Twice the value; the opposite of a boolean."""
    return ~x if typeof(x).dtype == np.bool_ else x + x


def other_dtype(dtype: Any) -> Any:
    """A dtype of the same kind and another width."""
    other = {"f": "float32", "c": "complex64", "i": "int32", "u": "uint32", "b": "int8"}.get(
        np.dtype(dtype).kind, "float32"
    )
    if np.dtype(other) == dtype:
        other = {"f": "float64", "c": "complex128", "i": "int8", "u": "uint8"}[dtype.kind]
    return np.dtype(other)


def converted(x: Any) -> Any:
    """The value in another width."""
    aval = typeof(x)
    return operations_for(aval).convert(x, other_dtype(aval.dtype), False)


def reversed_along(x: Any, axis: int) -> Any:
    """The value with the order along an axis reversed."""
    aval = typeof(x)
    operations = operations_for(aval)
    slices = [operations.index_axis(x, i, axis) for i in reversed(range(aval.shape[axis]))]
    return operations.stack(slices, axis)


def backwards(x: Any) -> Any:
    """The value with the order along its first axis reversed, if it has more than one entry."""
    return reversed_along(x, 0) if typeof(x).shape and typeof(x).shape[0] > 1 else x


def first_everywhere(x: Any, axis: int) -> Any:
    """The first slice along an axis in the place of all of them."""
    aval = typeof(x)
    operations = operations_for(aval)
    first = operations.index_axis(x, 0, axis)
    return operations.broadcast_axis(first, aval.shape[axis], axis)


def changed(xs: Sequence[Any], change: Callable[[Any], Any]) -> tuple[list[Any], bool]:
    """Values with a change made to those that are numbers, and whether there was one."""
    out = [change(x) if is_number(x) and typeof(x).size else x for x in xs]
    return out, any(x is not y for x, y in zip(xs, out, strict=True))


def results_changed(change: Callable[[Any], Any], rule: Rule, args: Sequence[Any]) -> Any:
    """The result of a rule, or its list of them, with a change."""
    out = rule(*args)
    wrong, touched = changed(list(out) if isinstance(out, list | tuple) else [out], change)
    if not touched:
        return None
    return wrong if isinstance(out, list | tuple) else wrong[0]


def _type(x: Any) -> Any:
    aval = getattr(x, "aval", None)
    return typeof(x) if aval is None else aval


def swapped(
    xs: Sequence[Any],
    usable: Callable[[Any], bool] = is_number,
    type_of: Callable[[Any], Any] = _type,
) -> list[Any] | None:
    """Values with the first two different ones of a type in each other's place; None without."""
    for (i, x), (j, y) in combinations(enumerate(xs), 2):
        if usable(x) and usable(y) and x is not y and type_of(x) == type_of(y):
            out = list(xs)
            out[i], out[j] = y, x
            return out
    return None


# ------------------------------------------------------------------------------ derivatives


def jvp_damages(primitive: Primitive) -> Iterator[Damage]:
    for name, change in (("sign", negated), ("factor", doubled), ("lost dtype", converted)):
        yield Damage(name, partial(_part_changed, 1, change))
    yield Damage("wrong zero", _zero_tangents)
    yield Damage("wrong value", partial(_part_changed, 0, negated))
    yield Damage("swapped tangents", _swapped_tangents)
    yield Damage("swapped primals", _swapped_primals)
    rule = transpose_rules.rule_of(primitive)
    has_transpose = rule is not None and rule.is_present
    yield Damage("tangent in place of the primal", partial(_tangent_for_primal, has_transpose))
    for i in range(MOST_OPERANDS):
        yield Damage(f"dropped term {i}", partial(_dropped_term, i))


def _part_changed(place: int, change: Callable[[Any], Any], rule: Rule, args: Sequence[Any]) -> Any:
    """A change to one of the two lists that a rule gives: values and tangents, or batches."""
    parts = list(rule(*args))
    parts[place], touched = changed(parts[place], change)
    return tuple(parts) if touched else None


def _zero_tangents(rule: Rule, args: Sequence[Any]) -> Any:
    outs, tangents = rule(*args)
    if not any(is_number(t) for t in tangents):
        return None
    return outs, [Zero(typeof(t)) if is_number(t) else t for t in tangents]


def _dropped_term(i: int, rule: Rule, args: Sequence[Any]) -> Any:
    _, tangents = args
    given = [j for j, t in enumerate(tangents) if is_number(t)]
    if i not in given or len(given) < 2:
        return None
    kept = [Zero(typeof(t)) if j == i else t for j, t in enumerate(tangents)]
    return _along(kept, rule, args)


def _swapped_tangents(rule: Rule, args: Sequence[Any]) -> Any:
    wrong = swapped(args[1])
    return None if wrong is None else _along(wrong, rule, args)


def _swapped_primals(rule: Rule, args: Sequence[Any]) -> Any:
    wrong = swapped(args[0])
    return None if wrong is None else _taken_at(wrong, rule, args)


def _along(wrong: Sequence[Any], rule: Rule, args: Sequence[Any]) -> Any:
    """The derivative along other tangents, where there is one."""
    primals, tangents = args
    if not any(is_number(t) for t in rule(primals, tangents)[1]):
        return None
    return rule(primals, wrong)


def _taken_at(wrong: Sequence[Any], rule: Rule, args: Sequence[Any]) -> Any:
    """The right results with the derivative at another point."""
    primals, tangents = args
    outs, out_tangents = rule(primals, tangents)
    if not any(is_number(t) for t in out_tangents):
        return None
    return outs, rule(wrong, tangents)[1]


def _tangent_for_primal(has_transpose: bool, rule: Rule, args: Sequence[Any]) -> Any:
    primals, tangents = args
    if has_transpose and sum(is_differentiable(typeof(x).dtype) for x in primals) == 1:
        return None  # the derivative of a linear map does not depend on where it is taken
    wrong = [
        t if is_number(t) and typeof(t) == typeof(x) else x
        for x, t in zip(primals, tangents, strict=True)
    ]
    if all(x is y for x, y in zip(primals, wrong, strict=True)):
        return None
    return _taken_at(wrong, rule, args)


# -------------------------------------------------------------------------------- transposes


def transpose_damages() -> Iterator[Damage]:
    for name, change in (("sign", negated), ("factor", doubled), ("lost dtype", converted)):
        yield Damage(name, partial(results_changed, change))
    yield Damage("reversed cotangent", partial(results_changed, backwards))
    yield Damage("transposed cotangent", partial(results_changed, _with_axes_swapped))
    yield Damage("swapped cotangents", _swapped_cotangents)
    yield Damage("swapped residuals", _swapped_residuals)
    yield Damage("doubled residual", _doubled_residual)
    for i in range(MOST_OPERANDS):
        yield Damage(f"wrong zero {i}", partial(_dropped_cotangent, i))


def _with_axes_swapped(x: Any) -> Any:
    shape = typeof(x).shape
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 1:
        return x
    return operations_for(typeof(x)).move_axis(x, len(shape) - 2, len(shape) - 1)


def _swapped_cotangents(rule: Rule, args: Sequence[Any]) -> Any:
    return swapped(list(rule(*args)))


def _dropped_cotangent(i: int, rule: Rule, args: Sequence[Any]) -> Any:
    outs = list(rule(*args))
    if i >= len(outs) or not is_number(outs[i]):
        return None
    return [None if j == i else ct for j, ct in enumerate(outs)]


def _is_residual(x: Any) -> bool:
    return not is_undef_primal(x) and is_number(x)


def _swapped_residuals(rule: Rule, args: Sequence[Any]) -> Any:
    cotangents, *operands = args
    wrong = swapped(operands, _is_residual)
    return None if wrong is None else rule(cotangents, *wrong)


def _doubled_residual(rule: Rule, args: Sequence[Any]) -> Any:
    cotangents, *operands = args
    wrong = [x + x if _is_residual(x) and typeof(x).dtype.kind in "fcV" else x for x in operands]
    if all(x is y for x, y in zip(operands, wrong, strict=True)):
        return None
    return rule(cotangents, *wrong)


# ---------------------------------------------------------------------------------- batching


def vmap_damages() -> Iterator[Damage]:
    for name, change in (("sign", negated), ("lost dtype", converted)):
        yield Damage(name, partial(_part_changed, 0, change))
    yield Damage("reversed batch", _reversed_batch)
    yield Damage("off-by-one result axis", _shifted_result)
    yield Damage("forgotten batch of the result", _unmapped_result)
    yield Damage("swapped operands", _swapped_batches)
    for i in range(MOST_OPERANDS):
        yield Damage(f"forgotten batch of operand {i}", partial(_forgotten_batch, i))
        yield Damage(f"wrong axis of operand {i}", partial(_wrong_axis, i))


def _reversed_batch(rule: Rule, args: Sequence[Any]) -> Any:
    axis_size, *_ = args
    outs, dims = rule(*args)
    if axis_size < 2 or all(dim is None for dim in dims):
        return None
    pairs = zip(outs, dims, strict=True)
    return [x if dim is None else reversed_along(x, dim) for x, dim in pairs], dims


def _shifted_result(rule: Rule, args: Sequence[Any]) -> Any:
    outs, dims = rule(*args)
    pairs = list(zip(outs, dims, strict=True))
    wrong = [dim if dim is None else (dim + 1) % typeof(x).ndim for x, dim in pairs]
    return (outs, wrong) if wrong != list(dims) else None


def _unmapped_result(rule: Rule, args: Sequence[Any]) -> Any:
    axis_size, *_ = args
    outs, dims = rule(*args)
    if not axis_size or all(dim is None for dim in dims):
        return None
    pairs = zip(outs, dims, strict=True)
    firsts = [
        x if dim is None else operations_for(typeof(x)).index_axis(x, 0, dim) for x, dim in pairs
    ]
    return firsts, [None] * len(firsts)


def _swapped_batches(rule: Rule, args: Sequence[Any]) -> Any:
    axis_size, operands, dims = args
    wrong = swapped(operands)
    moved = {dim for x, y, dim in zip(operands, wrong or (), dims, strict=False) if x is not y}
    return rule(axis_size, wrong, dims) if len(moved) == 1 else None


def _forgotten_batch(i: int, rule: Rule, args: Sequence[Any]) -> Any:
    axis_size, operands, dims = args
    if i >= len(operands) or dims[i] is None or axis_size < 2:
        return None
    wrong = [first_everywhere(x, dims[i]) if j == i else x for j, x in enumerate(operands)]
    return rule(axis_size, wrong, dims)


def _wrong_axis(i: int, rule: Rule, args: Sequence[Any]) -> Any:
    axis_size, operands, dims = args
    if i >= len(operands) or dims[i] is None or typeof(operands[i]).ndim < 2:
        return None
    wrong = list(dims)
    wrong[i] = (dims[i] + 1) % typeof(operands[i]).ndim
    return rule(axis_size, operands, wrong)
