"""The rule kinds of the transformations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bindax_core.extend import RuleKind, rule_output_error, shown_result
from bindax_transforms.zeros import Zero, instantiate_zeros

if TYPE_CHECKING:
    from bindax_core.extend import Primitive

Function = Callable[..., Any]


def pair_of(primitive: Primitive, kind: str, result: Any) -> tuple[Any, Any]:
    """Return the two parts of what a ``jvp`` or ``vmap`` rule returned.

    >>> from bindax_lax_basic import sin_p
    >>> pair_of(sin_p, "jvp", [0.5, 0.1])
    (0.5, 0.1)
    >>> pair_of(sin_p, "jvp", 0.5)
    Traceback (most recent call last):
    bindax_core.errors.RuleOutputError: the jvp rule of sin, from ...: returned one value,
    float64[], where a pair is due. ...
    """
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        problem = f"returned {shown_result(result)}, where a pair is due"
        raise rule_output_error(primitive, kind, problem)
    return result[0], result[1]


def _adapt_jvp(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    takes_zeros = options.get("symbolic_zeros", False)
    single = not primitive.multiple_results

    def rule(primals: Any, tangents: Any, **params: Any) -> Any:
        if not takes_zeros:
            tangents = [instantiate_zeros(t) if type(t) is Zero else t for t in tangents]
        result = function(primals, tangents, **params)
        if type(result) is not tuple or len(result) != 2:
            result = pair_of(primitive, "jvp", result)
        return ([result[0]], [result[1]]) if single else result

    return rule


def _adapt_vmap(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    single = not primitive.multiple_results

    def rule(axis_size: Any, operands: Any, batch_dims: Any, **params: Any) -> Any:
        result = function(axis_size, operands, batch_dims, **params)
        if type(result) is not tuple or len(result) != 2:
            result = pair_of(primitive, "vmap", result)
        return ([result[0]], [result[1]]) if single else result

    return rule


def _adapt_transpose(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    takes_zeros = options.get("symbolic_zeros", False)
    single = not primitive.multiple_results

    def rule(cotangents: Any, *operands: Any, **params: Any) -> Any:
        if not takes_zeros:
            cotangents = [instantiate_zeros(ct) for ct in cotangents]
        return function(cotangents[0] if single else cotangents, *operands, **params)

    return rule


jvp: RuleKind = RuleKind(
    "jvp",
    adapt=_adapt_jvp,
    canonical=True,
    signature="(primals, tangents, **params) -> (primal_out, tangent_out)",
)
"""The derivative along a tangent; ``symbolic_zeros=True`` lets tangents be ``Zero``."""

vjp: RuleKind = RuleKind("vjp", signature="(*operands, **params) -> (out, vjp_function)")
"""The derivative backwards; ``vjp_function`` takes the cotangent of each result and gives that of
each operand, None for zero. A primitive with ``jvp``, too, is differentiated forwards by that. With
``takes_perturbed=True`` the rule is given a keyword ``perturbed``: for each operand, whether it is
differentiated, so that nothing is kept or computed for the others."""

vmap: RuleKind = RuleKind(
    "vmap",
    adapt=_adapt_vmap,
    canonical=True,
    signature="(axis_size, operands, batch_dims, **params) -> (out, out_dim)",
)
"""The same operation on operands with one more axis; an operand's dim is None if it has none."""

transpose: RuleKind = RuleKind(
    "transpose",
    adapt=_adapt_transpose,
    canonical=True,
    signature="(cotangent, *operands_or_UndefPrimal, **params) -> sequence of cotangent or None",
)
"""The transpose of the linear map from the ``UndefPrimal`` operands to the result."""

physical: RuleKind = RuleKind(
    "physical", signature="(avals, *physical_operands, **params) -> sequence of physical results"
)
"""The operation on the arrays that represent operands of extended dtypes; ``avals`` are
the types of the operands. Where it is missing, it is derived: what a structural operation does to
elements it does along each axis of the arrays that represent them, and a primitive whose parameters
are jaxprs is applied to what represents those."""

partial_eval: RuleKind = RuleKind(
    "partial_eval", signature="(trace, tracers, **params) -> sequence of tracer or value"
)
"""Partial evaluation at trace time, for higher-order primitives."""

stage: RuleKind = RuleKind("stage", signature="(trace, tracers, **params) -> sequence of tracer")
"""The record that staging makes of an application with functions among its parameters."""

partial_eval_jaxpr: RuleKind = RuleKind(
    "partial_eval_jaxpr",
    signature="(unknowns_in, eqn) -> (known_eqn, unknown_eqn, unknowns_out, residuals)",
)
"""Partial evaluation of an equation, for higher-order primitives."""

remat: RuleKind = RuleKind(
    "remat", signature="(unzip, unknowns_in, eqn) -> (known_eqn, again_eqn, unknowns_out)"
)
"""Partial evaluation under a policy of ``checkpoint``, for higher-order primitives. ``unzip`` does
to a program in the parameters what ``partial_eval_jaxpr`` does, but its unknown part computes all
results again that the policy does not save. So does ``again_eqn``: of the results of ``known_eqn``,
those are saved that it lacks."""

dce: RuleKind = RuleKind("dce", signature="(used_outputs, eqn) -> eqn")
"""Dead code elimination inside an equation, for higher-order primitives."""
