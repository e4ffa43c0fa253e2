"""The structure of what rules return, where a look at it is not enough to see that it is right.

Interpreters look themselves at results that are arrays, the common case, and come here with the
rest: traced values, several results, and whatever is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    Array,
    Primitive,
    Tracer,
    UndefPrimal,
    Zero,
    result_aval,
    rule_output_error,
    shown_result,
)

_SEQUENCES = (list, tuple)


def _shape(primitive: Primitive, kind: str, what: str, x: Any) -> Any:
    """The shape of one result; None for a value whose type has none."""
    aval = x.aval if isinstance(x, (Array, Tracer)) else result_aval(x)
    if aval is None:
        raise rule_output_error(
            primitive, kind, f"{what} should be one array, but is {shown_result(x)}"
        )
    return getattr(aval, "shape", None)


def check_counts(
    primitive: Primitive,
    kind: str,
    parts: Sequence[tuple[str, Any]],
    avals: Sequence[Any],
    params: dict[str, Any],
) -> None:
    """Check that each part of what a rule returned is a sequence with an entry for each result.

    Args:
        primitive: the primitive, with several results.
        kind: the name of the rule kind.
        parts: what each part is called, and the part.
        avals: the types of the operands that the rule was applied to.
        params: the parameters.
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


def check_tangent_result(primitive: Primitive, primal: Any, tangent: Any) -> None:
    """Check that a ``jvp`` rule gave a value and a tangent of its shape."""
    shape = _shape(primitive, "jvp", "the primal result", primal)
    found = _shape(primitive, "jvp", "the tangent", tangent)
    if found != shape:
        raise rule_output_error(
            primitive,
            "jvp",
            f"gave a tangent of shape {found} for a result of shape {shape}; they must be the same",
        )


def check_batch_result(primitive: Primitive, size: int, x: Any, d: Any) -> None:
    """Check that a ``vmap`` rule gave a value that has the batch where the rule says."""
    shape = _shape(primitive, "vmap", "the result", x)
    if d is None:
        return
    if isinstance(d, bool) or not hasattr(d, "__index__"):
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
    """Check that a ``transpose`` rule gave a cotangent for each operand, of the operand's shape."""
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
        found = _shape(primitive, "transpose", f"the cotangent of operand {i}", ct)
        shape = getattr(x.aval, "shape", None)
        if found != shape:
            raise rule_output_error(
                primitive,
                "transpose",
                f"gave a cotangent of shape {found} for operand {i}, which has the shape {shape}",
            )
