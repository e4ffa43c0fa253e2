"""Rules derived from a composition: a primitive made of others needs no rule of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Rule,
    api_boundary,
    as_array,
    describe_function,
    rules,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms.autodiff.jvp import jvp_flat
from bindax_transforms.autodiff.transposition import eval_jaxpr_transposed
from bindax_transforms.batching.mapped_types import BatchDim
from bindax_transforms.batching.vmap import AxisData, vmap_flat
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr
from bindax_transforms.zeros import is_undef_primal


class _Composition:
    """The rules of a composition, each from the transformation of the function."""

    def __init__(self, function: Callable[..., Any], multiple_results: bool) -> None:
        self.function = function
        self.multiple_results = multiple_results
        # Its equations have the line where the primitive is applied, not those of the function.
        self.origin = DebugInfo(f"composition of {describe_function(function)}")

    def flat(self, params: dict[str, Any]) -> Callable[..., Sequence[Any]]:
        """The function of the operands alone, which returns a sequence."""
        if self.multiple_results:
            return lambda *operands: self.function(*operands, **params)
        return lambda *operands: [self.function(*operands, **params)]

    def unflat(self, results: Sequence[Any]) -> Any:
        """Return a sequence of results as a rule in the definition returns it."""
        return list(results) if self.multiple_results else results[0]

    def staged(self, avals: Sequence[Any], params: dict[str, Any]) -> ClosedJaxpr:
        """The jaxpr that the primitive stands for."""
        return trace_to_jaxpr(self.flat(params), avals, self.origin)

    def impl(self, *operands: Any, **params: Any) -> Sequence[Any]:
        return [as_array(x) for x in self.flat(params)(*operands)]

    def abstract_eval(self, *avals: Any, **params: Any) -> Any:
        return self.unflat(self.staged(avals, params).out_avals)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        outs, out_tangents = jvp_flat(self.flat(params), primals, tangents, self.origin)
        return self.unflat(outs), self.unflat(out_tangents)

    def vmap(
        self, axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], **params: Any
    ) -> Any:
        axis = AxisData(axis_size)
        outs, out_dims = vmap_flat(self.flat(params), axis, operands, dims, self.origin)
        return self.unflat(outs), self.unflat(out_dims)

    def transpose(self, cotangents: Any, *operands: Any, **params: Any) -> list[Any]:
        avals = [x.aval if is_undef_primal(x) else typeof(x) for x in operands]
        jaxpr = self.staged(avals, params)
        cts = cotangents if self.multiple_results else [cotangents]
        found = iter(eval_jaxpr_transposed(jaxpr.jaxpr, jaxpr.consts, operands, cts))
        return [next(found) if is_undef_primal(x) else None for x in operands]

    def expansion(self, *avals: Any, **params: Any) -> ClosedJaxpr:
        return self.staged(avals, params)

    def lowering(self, ctx: Any, *values: Any, **params: Any) -> Any:
        return self.unflat(ctx.inline(self.staged(ctx.avals_in, params), values))


@api_boundary
def composition(function: Callable[..., Any], *, multiple_results: bool = False) -> list[Rule]:
    """All canonical rules of a primitive that is a composition of other primitives.

    The primitive stays one equation in jaxprs, under its own name; evaluated, differentiated,
    batched or compiled it is what it is made of.

    Args:
        function: takes the operands, and the parameters by keyword; returns the result, or with
            ``multiple_results`` the sequence of results.
        multiple_results: as for the primitive.

    >>> from bindax_transforms import composition, grad
    >>> from bindax_core.extend import primitive
    >>> cube_p = primitive("example.cube", *composition(lambda x: x * x * x))
    >>> float(cube_p.bind(2.0)), float(grad(cube_p.bind)(2.0))
    (8.0, 12.0)
    """
    check_function("composition", "function", function)
    made = _Composition(function, multiple_results)
    return [
        rules.impl(made.impl, on_values=True),
        rules.abstract_eval(made.abstract_eval),
        rules.jvp(made.jvp, symbolic_zeros=True),
        rules.vmap(made.vmap),
        rules.transpose(made.transpose, symbolic_zeros=True),
        rules.expansion(made.expansion),
        rules.lowering["stablehlo"](made.lowering),
    ]
