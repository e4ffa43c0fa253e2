"""Primitives with a ``vjp`` rule and no ``jvp``: reverse mode works, forward mode is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    Jaxpr,
    Origin,
    Primitive,
    Rule,
    Zero,
    eval_jaxpr,
    instantiate_zeros,
    is_differentiable,
    rules,
    typeof,
)
from bindax_transforms.custom._arguments import as_tangent, described, is_pair
from bindax_transforms.custom._linear import LinearMap, apply_linear_map
from bindax_transforms.staging.trace import trace_to_jaxpr


def _reverse_only(primitive: Primitive) -> Rule | None:
    """The derived ``jvp`` rule: a linear map that is known by its transpose."""
    if rules.vjp.find(primitive) is None:
        return None
    made = rules.jvp(
        lambda *args, **params: _apply(primitive, *args, **params), symbolic_zeros=True
    )
    return made.replace(derived="the vjp rule, for reverse mode alone")


def _apply(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    name = f"vjp rule of the primitive {primitive.name}"
    pair = rules.vjp.get(primitive)(*primals, **params)
    if not is_pair(pair):
        raise TypeError(
            f"the {name} must return a pair (out, vjp_function), but it returned {described(pair)}."
        )
    out, vjp_function = pair
    outs = list(out) if primitive.multiple_results else [out]
    in_avals = [typeof(x) for x in primals]

    def backward_of(*cotangents: Any) -> list[Any]:
        cts = vjp_function(*cotangents)
        if not isinstance(cts, (tuple, list)) or len(cts) != len(primals):
            raise TypeError(
                f"the vjp function of the {name} must return one cotangent for each of the "
                f"{len(primals)} operands, but it returned {described(cts)}."
            )
        checked = [
            as_tangent(ct, aval, (lambda: _operands(len(primals)), i), name, "cotangent")
            for i, (ct, aval) in enumerate(zip(cts, in_avals, strict=True))
        ]
        pairs = zip(checked, in_avals, strict=True)
        return [instantiate_zeros(ct) for ct, aval in pairs if is_differentiable(aval.dtype)]

    out_avals = tuple(typeof(x).tangent_aval() for x in outs)
    program = trace_to_jaxpr(backward_of, out_avals, Origin(f"the {name}"))

    def backward(jaxpr: Jaxpr, residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        cts = [instantiate_zeros(ct) for ct in cotangents]
        found = iter(eval_jaxpr(jaxpr, residuals, *cts))
        return [
            next(found) if is_differentiable(aval.dtype) else Zero(aval.tangent_aval())
            for aval in in_avals
        ]

    linear = LinearMap(
        f"primitive {primitive.name}, which has a vjp rule and no jvp rule",
        backward,
        program.jaxpr,
        len(program.consts),
        tuple(type(t) is not Zero for t in tangents),
        out_avals,
        remedy="give it a jvp rule",
    )
    out_tangents = apply_linear_map(linear, program.consts, tangents)
    return (outs, out_tangents) if primitive.multiple_results else (outs[0], out_tangents[0])


def _operands(count: int) -> list[str]:
    return [f"operand {i}" for i in range(count)]


rules.jvp.derive(_reverse_only)
