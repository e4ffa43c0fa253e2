"""The rules of primitives that apply a jaxpr once, as it is: of ``jit`` and ``checkpoint``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    Printer,
    Rule,
    convert_constvars,
    format_application,
    full_lower,
    rules,
)
from bindax_transforms._flat import cached_on_jaxpr, merge, partition, split, with_zeros
from bindax_transforms._rule_checks import program_out_avals
from bindax_transforms.autodiff.jvp import jvp_jaxpr
from bindax_transforms.autodiff.partial_eval import (
    PartialEvalTrace,
    PartialEvalTracer,
    SplitProgram,
    dce_jaxpr,
    partial_eval_jaxpr,
)
from bindax_transforms.autodiff.transposition import transpose_with_references
from bindax_transforms.batching.batched_jaxpr import vmap_jaxpr
from bindax_transforms.batching.mapped_types import BatchDim
from bindax_transforms.staging.staged_program import StagedProgram
from bindax_transforms.zeros import Zero, is_undef_primal

Params = dict[str, Any]


class ClosedCallRules:
    """The rules of a primitive whose parameter ``jaxpr`` is the jaxpr that it applies.

    A subclass may give other parameters to derived jaxprs, and derive them in another way.
    """

    primitive: Primitive

    def usual(self, eqn: JaxprEqn) -> Params:
        """Values of parameters that are not worth printing."""
        return {}

    def params_of(self, params: Params, jaxpr: ClosedJaxpr) -> Params:
        """The parameters with another jaxpr."""
        return {**params, "jaxpr": jaxpr}

    def later_params(self, params: Params, jaxpr: ClosedJaxpr) -> Params:
        """The same for a jaxpr that runs later than the first evaluation."""
        return self.params_of(params, jaxpr)

    def split(self, params: Params, in_unknowns: Sequence[bool]) -> SplitProgram:
        """The jaxpr, unzipped."""
        return partial_eval_jaxpr(params["jaxpr"], in_unknowns)

    def transposed(
        self, jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
    ) -> tuple[StagedProgram, list[bool]]:
        """The transpose of the jaxpr, as of ``transpose_with_references``."""
        return transpose_with_references(jaxpr, linear, nonzero_cts)

    def bind(self, jaxpr: ClosedJaxpr, operands: Sequence[Any], params: Params) -> list[Any]:
        """Bind with a derived jaxpr, whose constants become leading operands."""
        hoisted, consts = convert_constvars(jaxpr)
        params = self.params_of(params, hoisted)
        return self.primitive.bind(*consts, *operands, **params)  # type: ignore[no-any-return]

    def abstract_eval(self, *avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
        return program_out_avals(self.primitive.name, jaxpr, avals)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        program: ClosedJaxpr = params["jaxpr"]
        jaxpr, nonzeros_out = jvp_jaxpr(program, [type(t) is not Zero for t in tangents])
        given = [t for t in tangents if type(t) is not Zero]
        outs = self.bind(jaxpr, [*primals, *given], params)
        primals_out, found = split(outs, len(nonzeros_out))
        return primals_out, with_zeros(nonzeros_out, found, program.out_avals)

    def vmap(
        self, axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], **params: Any
    ) -> tuple[list[Any], list[BatchDim]]:
        jaxpr, out_dims = vmap_jaxpr(params["jaxpr"], axis_size, dims)
        return self.bind(jaxpr, operands, params), out_dims

    def partial_eval(
        self, trace: PartialEvalTrace, tracers: Sequence[PartialEvalTracer], **params: Any
    ) -> list[Any]:
        in_unknowns = [not t.is_known for t in tracers]
        parts = self.split(params, in_unknowns)
        known, unknown = partition(in_unknowns, tracers)
        known_args = [full_lower(t.value) for t in known]
        outs = self.primitive.bind(*known_args, **self.params_of(params, parts.known))
        known_outs, residuals = parts.residual_values(known_args, outs)
        unknown_outs = [trace.unknown(aval) for aval in parts.unknown.out_avals]
        later = self.later_params(params, parts.unknown)
        trace.add_eqn(self.primitive, [*residuals, *unknown], unknown_outs, later)
        return parts.merge_results(known_outs, unknown_outs)

    def partial_eval_jaxpr(
        self, in_unknowns: Sequence[bool], eqn: JaxprEqn
    ) -> tuple[JaxprEqn, JaxprEqn, list[bool], list[Any]]:
        parts = self.split(eqn.params, in_unknowns)
        known = self.params_of(eqn.params, parts.known)
        later = self.later_params(eqn.params, parts.unknown)
        known_eqn, unknown_eqn, residuals = parts.split_equation(eqn, in_unknowns, known, later)
        return known_eqn, unknown_eqn, parts.out_unknowns, residuals

    def remat(
        self, unzip: Callable[..., SplitProgram], in_unknowns: Sequence[bool], eqn: JaxprEqn
    ) -> tuple[JaxprEqn, JaxprEqn, list[bool]]:
        parts = unzip(eqn.params["jaxpr"], in_unknowns)
        known = self.params_of(eqn.params, parts.known)
        again = self.params_of(eqn.params, parts.unknown)
        known_eqn, again_eqn, _ = parts.split_equation(eqn, in_unknowns, known, again)
        again_eqn = again_eqn.replace(outvars=eqn.outvars)
        used = [not saved for saved in parts.saved_results()]
        return known_eqn, self.dce(used, again_eqn), parts.out_unknowns

    def dce(self, used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
        closed: ClosedJaxpr = eqn.params["jaxpr"]

        def make() -> tuple[ClosedJaxpr, list[bool]]:
            jaxpr, used = dce_jaxpr(closed.jaxpr, used_outputs)
            return ClosedJaxpr(jaxpr.replace(invars=partition(used, jaxpr.invars)[1])), used

        pruned, used = cached_on_jaxpr(closed, ("dce", tuple(used_outputs)), make)
        return eqn.replace(
            invars=partition(used, eqn.invars)[1],
            outvars=partition(used_outputs, eqn.outvars)[1],
            params=self.params_of(eqn.params, pruned),
        )

    def transpose(self, cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
        linear = [is_undef_primal(x) for x in operands]
        nonzero_cts = [type(ct) is not Zero for ct in cotangents]
        staged, nonzero_out = self.transposed(params["jaxpr"], linear, nonzero_cts)
        known, undefined = partition(linear, operands)
        given = [*staged.load(), *known, *partition(nonzero_cts, cotangents)[1]]
        later = self.later_params(params, staged.program)
        outs = staged.store(self.bind(staged.program, given, later))
        cts = with_zeros(nonzero_out, outs, [x.aval for x in undefined])
        return merge(linear, [None] * len(known), cts)

    def pretty_print(self, eqn: JaxprEqn, printer: Printer) -> list[str]:
        usual = self.usual(eqn)
        shown = {k: v for k, v in eqn.params.items() if k not in usual or v != usual[k]}
        return format_application(eqn, shown, printer)

    def rules(self) -> list[Rule]:
        """All but those for evaluation and compilation."""
        return [
            rules.abstract_eval(self.abstract_eval),
            rules.jvp(self.jvp, symbolic_zeros=True),
            rules.vmap(self.vmap),
            rules.transpose(self.transpose, symbolic_zeros=True),
            rules.partial_eval(self.partial_eval),
            rules.partial_eval_jaxpr(self.partial_eval_jaxpr),
            rules.remat(self.remat),
            rules.dce(self.dce),
            rules.pretty_print(self.pretty_print),
        ]
