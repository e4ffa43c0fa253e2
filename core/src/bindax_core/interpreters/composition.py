"""Rules derived from a composition: a primitive made of others needs no rule of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core import extend as kinds
from bindax_core.extend import (
    ClosedJaxpr,
    Origin,
    Rule,
    UndefPrimal,
    as_array,
    is_undef_primal,
    typeof,
)
from bindax_core.interpreters.batching import AxisData, BatchDim, vmap_flat
from bindax_core.interpreters.jvp import jvp_flat
from bindax_core.interpreters.staging import trace_to_jaxpr
from bindax_core.interpreters.transposition import eval_jaxpr_transposed


def composition(function: Callable[..., Any], *, multiple_results: bool = False) -> list[Rule]:
    """All canonical rules of a primitive that is a composition of other primitives.

    The primitive stays one equation in jaxprs, under its own name; evaluated, differentiated,
    batched or compiled it is what it is made of.

    Args:
        function: takes the operands, and the parameters by keyword; returns the result, or with
            ``multiple_results`` the sequence of results.
        multiple_results: as for the primitive.

    >>> from bindax_core import composition, grad
    >>> from bindax_core.extend import primitive
    >>> cube_p = primitive("example.cube", *composition(lambda x: x * x * x))
    >>> float(cube_p.bind(2.0)), float(grad(cube_p.bind)(2.0))
    (8.0, 12.0)
    """
    origin = Origin("composition", function)

    def flat(params: dict[str, Any]) -> Callable[..., Sequence[Any]]:
        if multiple_results:
            return lambda *operands: function(*operands, **params)
        return lambda *operands: [function(*operands, **params)]

    def unflat(results: Sequence[Any]) -> Any:
        return list(results) if multiple_results else results[0]

    def staged(avals: Sequence[Any], params: dict[str, Any]) -> ClosedJaxpr:
        return trace_to_jaxpr(flat(params), avals, origin)

    def impl(*operands: Any, **params: Any) -> Sequence[Any]:
        return [as_array(x) for x in flat(params)(*operands)]

    def abstract_eval(*avals: Any, **params: Any) -> Any:
        return unflat(staged(avals, params).out_avals)

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        outs, out_tangents = jvp_flat(flat(params), primals, tangents, origin)
        return unflat(outs), unflat(out_tangents)

    def vmap(
        axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], **params: Any
    ) -> tuple[Any, Any]:
        outs, out_dims = vmap_flat(flat(params), AxisData(axis_size), operands, dims, origin)
        return unflat(outs), unflat(out_dims)

    def transpose(cotangents: Any, *operands: Any, **params: Any) -> list[Any]:
        avals = [x.aval if is_undef_primal(x) else typeof(x) for x in operands]
        jaxpr = staged(avals, params)
        cts = cotangents if multiple_results else [cotangents]
        found = iter(eval_jaxpr_transposed(jaxpr.jaxpr, jaxpr.consts, operands, cts))
        return [next(found) if type(x) is UndefPrimal else None for x in operands]

    def lowering(ctx: Any, *values: Any, **params: Any) -> Any:
        return unflat(ctx.inline(staged(ctx.avals_in, params), values))

    return [
        kinds.impl(impl, on_values=True),
        kinds.abstract_eval(abstract_eval),
        kinds.jvp(jvp, symbolic_zeros=True),
        kinds.vmap(vmap),
        kinds.transpose(transpose, symbolic_zeros=True),
        kinds.lowering["stablehlo"](lowering),
    ]
