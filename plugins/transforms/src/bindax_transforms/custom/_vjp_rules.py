"""Primitives with a ``vjp`` rule and no ``jvp``: reverse mode works, forward mode is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Origin, Primitive, Rule, Zero, rules, typeof
from bindax_transforms.custom._arguments import as_tangents, check_pair, described
from bindax_transforms.custom._linear import (
    LinearMap,
    apply_linear_map,
    run_backward,
    stage_backward,
)


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
    check_pair(pair, name, "(out, vjp_function)")
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
        return as_tangents(
            cts, in_avals, lambda: [f"operand {i}" for i in range(len(primals))], name
        )

    state, residuals = stage_backward(backward_of, in_avals, outs, Origin(f"the {name}"))
    linear = LinearMap(
        f"primitive {primitive.name}, which has a vjp rule and no jvp rule",
        run_backward,
        state,
        len(residuals),
        tuple(type(t) is not Zero for t in tangents),
        tuple(typeof(x).tangent_aval() for x in outs),
        remedy="give it a jvp rule",
    )
    out_tangents = apply_linear_map(linear, residuals, tangents)
    return (outs, out_tangents) if primitive.multiple_results else (outs[0], out_tangents[0])


rules.jvp.derive(_reverse_only)
