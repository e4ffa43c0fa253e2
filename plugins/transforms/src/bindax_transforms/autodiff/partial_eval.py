"""Partial evaluation: compute now what is known, stage out what depends on the unknown.

Two forms: of a Python function while it runs (``PartialEvalTrace``), so that control flow can
depend on known values, and of a program (``partial_eval_jaxpr``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bindax_core.extend import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    Trace,
    Tracer,
    Var,
    full_lower,
    rules,
    typeof,
    user_source_info,
)
from bindax_transforms._flat import for_results, merge, partition, remembered
from bindax_transforms.staging.trace import JaxprBuilder

_rules = rules.partial_eval.functions


class PartialEvalTracer(Tracer):
    """A known value (``atom`` is None), or an unknown one (``value`` is None)."""

    __slots__ = ("_aval", "atom", "value")

    def __init__(self, trace: Trace, aval: Any, value: Any, atom: Atom | None) -> None:
        self._trace = trace
        self._aval = aval
        self.value = value
        self.atom = atom

    @property
    def aval(self) -> Any:
        return self._aval

    @property
    def is_known(self) -> bool:
        """True if the value can be computed now."""
        return self.atom is None

    def full_lower(self) -> Any:
        return full_lower(self.value) if self.atom is None else self

    def concrete(self) -> Any:
        if self.atom is not None:
            return None
        return self.value.concrete() if isinstance(self.value, Tracer) else self.value


class PartialEvalTrace(Trace):
    """Evaluates operations on known values; adds the others to a program."""

    __slots__ = ()

    @property
    def builder(self) -> JaxprBuilder:
        """The program that is being built."""
        builder: JaxprBuilder = self.main.global_data
        return builder

    def new_arg(self, aval: Any) -> PartialEvalTracer:
        """An unknown value that is an argument of the program."""
        return PartialEvalTracer(self, aval, None, self.builder.new_arg(aval))

    def pure(self, value: Any) -> PartialEvalTracer:
        return PartialEvalTracer(self, typeof(value), value, None)

    def unknown(self, aval: Any) -> PartialEvalTracer:
        """An unknown value that an equation added with ``add_eqn`` will bind."""
        return PartialEvalTracer(self, aval, None, Var(aval))

    def instantiate(self, x: Any) -> Atom:
        """The atom of a tracer or value in the program; a known value becomes a constant."""
        if type(x) is PartialEvalTracer and x._trace is self:
            return self.builder.const(full_lower(x.value)) if x.atom is None else x.atom
        return self.builder.const(x)

    def add_eqn(
        self,
        primitive: Primitive,
        operands: Sequence[Any],
        outs: Sequence[PartialEvalTracer],
        params: dict[str, Any],
    ) -> None:
        """Add an equation that binds unknown values."""
        invars = [self.instantiate(x) for x in operands]
        outvars = [out.atom for out in outs]
        self.builder.eqns.append(
            JaxprEqn(primitive, invars, outvars, params, user_source_info(2))  # type: ignore[arg-type]
        )

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[PartialEvalTracer], params: dict[str, Any]
    ) -> Sequence[Any]:
        if all(t.atom is None for t in tracers):
            out = primitive.bind(*[full_lower(t.value) for t in tracers], **params)
            return out if primitive.multiple_results else [out]
        rule = _rules.get(primitive)
        if rule is not None:
            return rule(self, tracers, **params)  # type: ignore[no-any-return]
        out_avals = primitive.out_avals(tuple([t.aval for t in tracers]), params)
        outs = [self.unknown(aval) for aval in out_avals]
        self.add_eqn(primitive, tracers, outs, params)
        return outs


def dce_jaxpr(jaxpr: Jaxpr, used_outputs: Sequence[bool]) -> tuple[Jaxpr, list[bool]]:
    """A program reduced to what the used results and its effects need.

    Args:
        jaxpr: a program.
        used_outputs: which results are kept.

    Returns:
        The program (with all of its constants and arguments), and which arguments are used.
    """
    kept, live = _live_parts(jaxpr, used_outputs)
    return kept, [v in live for v in jaxpr.invars]


def dce_closed(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A closed program with those equations and constants that a result or effect needs."""
    jaxpr, live = _live_parts(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    pairs = [(v, c) for v, c in zip(jaxpr.constvars, closed.consts, strict=True) if v in live]
    return ClosedJaxpr(jaxpr.replace(constvars=[v for v, _ in pairs]), [c for _, c in pairs])


def _live_parts(jaxpr: Jaxpr, used_outputs: Sequence[bool]) -> tuple[Jaxpr, set[Var]]:
    """The part of a program that its used results and effects need, and the variables there."""
    outvars = partition(used_outputs, jaxpr.outvars)[1]
    live = {x for x in outvars if type(x) is Var}
    kept: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        if not any(used) and not eqn.effects:
            continue
        rule = rules.dce.functions.get(eqn.primitive)
        new_eqn = eqn if rule is None or all(used) else rule(used, eqn)
        kept.append(new_eqn)
        live.update(x for x in new_eqn.invars if type(x) is Var)
    kept.reverse()
    return jaxpr.replace(outvars=outvars, eqns=kept), live


class SplitProgram(NamedTuple):
    """A program unzipped in two, and what the rules of a primitive that applies it need of that.

    Attributes:
        known: from the known arguments to the known results and the residuals.
        unknown: from the residuals and the unknown arguments to the unknown results.
        out_unknowns: which results of the whole program are unknown.
        residual_avals: the types of the residuals.
        forwarded: for each residual, the known argument that it simply is, or None.
    """

    known: ClosedJaxpr
    unknown: ClosedJaxpr
    out_unknowns: list[bool]
    residual_avals: list[Any]
    forwarded: list[int | None]

    def split_equation(
        self,
        eqn: JaxprEqn,
        in_unknowns: Sequence[bool],
        known_params: dict[str, Any],
        unknown_params: dict[str, Any],
    ) -> tuple[JaxprEqn, JaxprEqn, list[Any]]:
        """The two equations for one that applies the program, and the residuals between them.

        What a ``partial_eval_jaxpr`` rule returns, together with ``out_unknowns``. The parameters
        have the known, or unknown, part in place of the program.
        """
        known_ins, unknown_ins = partition(in_unknowns, eqn.invars)
        known_outs, unknown_outs = partition(self.out_unknowns, eqn.outvars)
        residuals: list[Any] = []
        computed: list[Var] = []
        for aval, source in zip(self.residual_avals, self.forwarded, strict=True):
            if source is None:
                computed.append(Var(aval))
                residuals.append(computed[-1])
            else:
                residuals.append(known_ins[source])
        known_outs = [*known_outs, *computed]
        known_eqn = eqn.replace(invars=known_ins, outvars=known_outs, params=known_params)
        unknown_eqn = eqn.replace(
            invars=[*residuals, *unknown_ins], outvars=unknown_outs, params=unknown_params
        )
        return known_eqn, unknown_eqn, residuals

    def residual_values(
        self, known_args: Sequence[Any], outs: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """The known results and the residuals, from arguments and results of the known part."""
        num_known = sum(not unknown for unknown in self.out_unknowns)
        known_outs, computed = list(outs[:num_known]), iter(outs[num_known:])
        residuals = [
            next(computed) if source is None else known_args[source] for source in self.forwarded
        ]
        return known_outs, residuals

    def merge_results(self, known: Sequence[Any], unknown: Sequence[Any]) -> list[Any]:
        """The results of the whole program, from those of its two parts."""
        return merge(self.out_unknowns, known, unknown)


def partial_eval_jaxpr(
    jaxpr: ClosedJaxpr, in_unknowns: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> SplitProgram:
    """Unzip a program into a known part that runs first and an unknown part that runs later.

    Args:
        jaxpr: a program without constants.
        in_unknowns: which arguments are unknown.
        instantiate: which results count as unknown even if they could be known.
    """
    wanted = for_results(jaxpr, instantiate)
    key = ("partial_eval", tuple(in_unknowns), wanted)
    return remembered(jaxpr, key, lambda: _partial_eval_jaxpr(jaxpr.jaxpr, in_unknowns, wanted))


def _partial_eval_jaxpr(
    jaxpr: Jaxpr, in_unknowns: Sequence[bool], instantiate: Sequence[bool]
) -> SplitProgram:
    unknown = set(partition(in_unknowns, jaxpr.invars)[1])
    known_eqns: list[JaxprEqn] = []
    unknown_eqns: list[JaxprEqn] = []
    residuals: dict[Var, None] = {}  # a dict keeps them in order

    def need(x: Any) -> None:
        if type(x) is Var and x not in unknown:
            residuals[x] = None

    for eqn in jaxpr.eqns:
        unknowns_in = [x in unknown for x in eqn.invars]
        rule = rules.partial_eval_jaxpr.functions.get(eqn.primitive)
        if not any(unknowns_in):
            known_eqns.append(eqn)
        elif rule is not None:
            known_eqn, unknown_eqn, unknowns_out, more = rule(unknowns_in, eqn)
            if known_eqn is not None:
                known_eqns.append(known_eqn)
            unknown.update(partition(unknowns_out, eqn.outvars)[1])
            if unknown_eqn is not None:
                unknown_eqns.append(unknown_eqn)
                for x in (*more, *unknown_eqn.invars):
                    need(x)
        else:
            unknown_eqns.append(eqn)
            unknown.update(eqn.outvars)
            for x in eqn.invars:
                need(x)
    out_unknowns = [
        x in unknown or force for x, force in zip(jaxpr.outvars, instantiate, strict=True)
    ]
    for x in partition(out_unknowns, jaxpr.outvars)[1]:
        need(x)
    return build_split(jaxpr, in_unknowns, out_unknowns, known_eqns, unknown_eqns, residuals)


def build_split(
    jaxpr: Jaxpr,
    in_unknowns: Sequence[bool],
    out_unknowns: list[bool],
    known_eqns: list[JaxprEqn],
    unknown_eqns: list[JaxprEqn],
    residuals: dict[Var, None],
    staged_outs: list[Atom] | None = None,
) -> SplitProgram:
    """The two parts of a program from their equations; what is in both is computed again.

    ``residuals`` are the known variables that the unknown part may take, in order; ``staged_outs``
    its results, if not the unknown results alone.
    """
    known_ins, unknown_ins = partition(in_unknowns, jaxpr.invars)
    known_outs, unknown_outs = partition(out_unknowns, jaxpr.outvars)
    unknown_outs = unknown_outs if staged_outs is None else staged_outs
    # What no unknown result needs is no residual either.
    body, _ = dce_jaxpr(
        Jaxpr((), [*residuals, *unknown_ins], unknown_outs, unknown_eqns),
        [True] * len(unknown_outs),
    )
    used = {x for eqn in body.eqns for x in eqn.invars if type(x) is Var}
    used |= {x for x in unknown_outs if type(x) is Var}
    kept = [v for v in residuals if v in used]
    position = {v: i for i, v in enumerate(known_ins)}
    forwarded = [position.get(v) for v in kept]
    computed = [v for v, source in zip(kept, forwarded, strict=True) if source is None]
    known, _ = dce_jaxpr(
        Jaxpr((), known_ins, [*known_outs, *computed], known_eqns),
        [True] * (len(known_outs) + len(computed)),
    )
    unknown = Jaxpr((), [*kept, *unknown_ins], unknown_outs, body.eqns)
    return SplitProgram(
        ClosedJaxpr(known), ClosedJaxpr(unknown), out_unknowns, [v.aval for v in kept], forwarded
    )
