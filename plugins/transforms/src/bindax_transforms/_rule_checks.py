"""Slow-path validation of rule results.

Interpreters check results that are arrays themselves, the common case. The rest comes here: traced
values, several results, and whatever is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    Primitive,
    Tracer,
    result_aval,
    rule_output_error,
    shown_result,
)
from bindax_transforms.manual_axes import (
    same_on_devices,
    varying_beyond,
    with_varying,
)
from bindax_transforms.zeros import UndefPrimal, Zero

_SEQUENCES = (list, tuple)


def _aval(primitive: Primitive, kind: str, what: str, x: Any) -> Any:
    """The type of one result, which must be a value that the interpreter can use."""
    if isinstance(x, Tracer):
        owner = x._trace.main
        if not owner.alive:
            problem = f"{what} is a traced value that was made in {owner.origin} and has escaped"
            raise rule_output_error(primitive, kind, f"{problem} from it; a rule keeps none")
        return x.aval
    aval = x.aval if isinstance(x, Array) else result_aval(x)
    if aval is None:
        raise rule_output_error(
            primitive, kind, f"{what} should be one array, but is {shown_result(x)}"
        )
    return aval


def _shape(aval: Any) -> Any:
    """The shape of a type; None for one that has none."""
    return getattr(aval, "shape", None)


def check_counts(
    primitive: Primitive,
    kind: str,
    parts: Sequence[tuple[str, Any]],
    avals: Sequence[Any],
    params: dict[str, Any],
) -> None:
    """Check that each part of what a rule of a ``kind`` returned has an entry for each result.

    ``parts`` are pairs of what messages call a part, and the part; ``avals`` are the types of the
    operands.
    """
    for what, part in parts:
        if not isinstance(part, _SEQUENCES):
            raise rule_output_error(
                primitive,
                kind,
                f"{what} should be a list or tuple with an entry for each result, but is "
                f"{shown_result(part)}",
            )
    count = primitive.count_results(tuple(avals), params)
    wanted = len(parts[0][1]) if count is None else count
    for what, part in parts:
        if len(part) != wanted:
            counted = f"the primitive has {wanted} results"
            if count is None:
                counted = f"{parts[0][0]} are {wanted}"
            raise rule_output_error(
                primitive, kind, f"{what} are {len(part)} values, but {counted}"
            )


def _compared(aval: Any) -> Any:
    return same_on_devices(aval.strip_weak_type())


def program_out_avals(name: str, jaxpr: ClosedJaxpr, given: Sequence[Any]) -> list[Any]:
    """The types of the results of a primitive that applies a jaxpr, for those of operands."""
    expected = jaxpr.in_avals
    if [_compared(a) for a in given] != [_compared(a) for a in expected]:
        raise TypeError(
            f"{name} of a program that takes ({', '.join(a.str_short() for a in expected)}) was "
            f"applied to ({', '.join(a.str_short() for a in given)})."
        )
    more = varying_beyond(given, expected)
    return [with_varying(aval, more) for aval in jaxpr.out_avals] if more else jaxpr.out_avals


def check_tangent_result(primitive: Primitive, primal: Any, tangent: Any) -> None:
    """Check that a ``jvp`` rule gave a value and a tangent of its type."""
    aval = _aval(primitive, "jvp", "the primal result", primal)
    found = _aval(primitive, "jvp", "the tangent", tangent)
    if found is aval:
        return
    if _shape(found) != _shape(aval):
        problem = f"gave a tangent of shape {_shape(found)} for a result of shape {_shape(aval)}"
    elif not _is_of_dtype(found, aval):
        problem = (
            f"gave a tangent of type {found.str_short()} for a result of type {aval.str_short()}, "
            f"whose tangents have the type {aval.tangent_aval().str_short()}"
        )
    else:
        return
    raise rule_output_error(primitive, "jvp", problem)


def _is_of_dtype(found: Any, aval: Any) -> bool:
    """Tell whether a type has the dtype of tangents of another one."""
    dtype = getattr(found, "dtype", None)
    if dtype is getattr(aval, "dtype", None):
        return True
    return bool(dtype == getattr(aval.tangent_aval(), "dtype", None))


def check_batch_result(
    primitive: Primitive, size: int, result: int, x: Any, d: Any, tracers: Any, params: Any
) -> None:
    """Check that ``x``, of which a ``vmap`` rule gave the batch dimension ``d``, has it there."""
    aval = _aval(primitive, "vmap", "the result", x)
    shape = _shape(aval)
    if d is None:
        avals = tuple([t.aval for t in tracers])
        if primitive.count_results(avals, params) is None:
            return
        wanted = _shape(primitive.out_avals(avals, params)[result])
        if shape == wanted:
            return
        problem = (
            f"gave a result of shape {shape} without a batch dimension, where each element has "
            f"the shape {wanted}"
        )
    elif isinstance(d, bool) or not isinstance(d, (int, np.integer)):
        problem = f"gave {d!r} as the batch dimension of a result; it must be an integer or None"
    elif not 0 <= d < len(shape):
        problem = (
            f"gave {d} as the batch dimension of a result of shape {shape}, which has no such axis"
        )
    elif shape[d] != size:
        problem = (
            f"gave a result of shape {shape} with the batch at axis {d}, which has the size "
            f"{shape[d]}; the batch has the size {size}"
        )
    else:
        return
    raise rule_output_error(primitive, "vmap", problem)


def check_cotangents(primitive: Primitive, operands: Sequence[Any], result: Any) -> None:
    """Check that a ``transpose`` rule gave a cotangent for each operand, of the operand's type."""
    if not isinstance(result, _SEQUENCES) or len(result) != len(operands):
        raise rule_output_error(
            primitive,
            "transpose",
            f"must return a sequence with one entry for each of its {len(operands)} operands "
            f"(None where it is not linear), but returned {shown_result(result)}",
        )
    for i, (x, ct) in enumerate(zip(operands, result, strict=True)):
        if ct is None or type(x) is not UndefPrimal or type(ct) is Zero:
            continue
        if type(ct) is Array and ct.aval is x.aval:
            continue
        found = _aval(primitive, "transpose", f"the cotangent of operand {i}", ct)
        if _shape(found) != _shape(x.aval):
            problem = (
                f"gave a cotangent of shape {_shape(found)} for operand {i}, which has the shape "
                f"{_shape(x.aval)}"
            )
        elif not _is_of_dtype(found, x.aval):
            problem = (
                f"gave a cotangent of type {found.str_short()} for operand {i}, which has the type "
                f"{x.aval.str_short()}"
            )
        else:
            continue
        raise rule_output_error(primitive, "transpose", problem)
