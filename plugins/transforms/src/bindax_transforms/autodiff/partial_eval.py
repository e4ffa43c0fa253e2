"""Partial evaluation: compute now what is known, stage out what depends on the unknown.

Two forms: of a Python function while it runs (``PartialEvalTrace``), so that control flow can
depend on known values, and of a jaxpr (``partial_eval_jaxpr``).
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
    SourceInfo,
    Trace,
    ValueTracer,
    Var,
    bind_flat,
    full_lower,
    rules,
    typeof,
    user_source_info,
)
from bindax_transforms._flat import broadcast_flags, cached_on_jaxpr, merge, partition
from bindax_transforms.staging.jaxpr_trace import JaxprBuilder

_rules = rules.partial_eval.functions


class PartialEvalTracer(ValueTracer):
    """A known value (``atom`` is None), or an unknown one (``value`` is None)."""

    __slots__ = ("atom", "aval")

    aval: Any  # a slot, in place of the property of the base

    def __init__(self, trace: Trace, aval: Any, value: Any, atom: Atom | None) -> None:
        self._trace = trace
        self.aval = aval
        self.value = value
        self.atom: Atom | None = atom

    @property
    def is_known(self) -> bool:
        """True if the value can be computed now."""
        return self.atom is None

    is_plain = is_known


class PartialEvalTrace(Trace):
    """Evaluates operations on known values; adds the others to a jaxpr."""

    __slots__ = ()

    @property
    def builder(self) -> JaxprBuilder:
        """The jaxpr that is being built."""
        return self.main.global_data  # type: ignore[no-any-return]

    def new_arg(self, aval: Any) -> PartialEvalTracer:
        """An unknown value that is an argument of the jaxpr."""
        return PartialEvalTracer(self, aval, None, self.builder.new_arg(aval))

    def pure(self, value: Any) -> PartialEvalTracer:
        return PartialEvalTracer(self, typeof(value), value, None)

    def unknown(self, aval: Any) -> PartialEvalTracer:
        """An unknown value that an equation added with ``add_eqn`` will bind."""
        return PartialEvalTracer(self, aval, None, Var(aval))

    def instantiate(self, x: Any) -> Atom:
        """The atom of a tracer or value in the jaxpr; a known value becomes a constant."""
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
        builder, source = self.builder, user_source_info(2)
        if builder.names_around and source is not None:
            stack = source.stack[builder.names_around :]
            source = SourceInfo(source.code, source.instruction, stack)
        builder.eqns.append(JaxprEqn(primitive, invars, outvars, params, source))  # type: ignore[arg-type]

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[PartialEvalTracer], params: dict[str, Any]
    ) -> Sequence[Any]:
        if all(t.atom is None for t in tracers):
            return bind_flat(primitive, [full_lower(t.value) for t in tracers], params)
        rule = _rules.get(primitive)
        if rule is not None:
            return rule(self, tracers, **params)  # type: ignore[no-any-return]
        out_avals = primitive.out_avals(tuple([t.aval for t in tracers]), params)
        outs = [self.unknown(aval) for aval in out_avals]
        self.add_eqn(primitive, tracers, outs, params)
        return outs


def dce_jaxpr(jaxpr: Jaxpr, used_outputs: Sequence[bool]) -> tuple[Jaxpr, list[bool]]:
    """A jaxpr reduced to what the used results and its effects need.

    Args:
        jaxpr: a jaxpr.
        used_outputs: which results are kept.

    Returns:
        The jaxpr (with all of its constants and arguments), and which arguments are used.

    >>> from bindax_transforms import make_jaxpr
    >>> made = make_jaxpr(lambda x, y: (x * 2.0, x + y))(1.0, 1.0)
    >>> dce_jaxpr(made.jaxpr, [True, False])
    ({ lambda a:float64[], b:float64[] .
      let c:float64[] = mul a 2.0
      in ( c ) }, [True, False])
    """
    outvars = partition(used_outputs, jaxpr.outvars)[1]
    eqns, live = _live(outvars, jaxpr.eqns)
    return jaxpr.replace(outvars=outvars, eqns=eqns), [v in live for v in jaxpr.invars]


def dce_closed(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A closed jaxpr with those equations and constants that a result or effect needs."""
    eqns, live = _live(closed.jaxpr.outvars, closed.eqns)
    pairs = zip(closed.jaxpr.constvars, closed.consts, strict=True)
    used = [(v, const) for v, const in pairs if v in live]
    jaxpr = closed.jaxpr.replace(constvars=[v for v, _ in used], eqns=eqns)
    return ClosedJaxpr(jaxpr, [const for _, const in used])


def _live(outvars: Sequence[Atom], eqns: Sequence[JaxprEqn]) -> tuple[list[JaxprEqn], set[Var]]:
    """The equations that results and effects need, and the variables that they read."""
    live = {x for x in outvars if type(x) is Var}
    kept: list[JaxprEqn] = []
    for eqn in reversed(eqns):
        used = [v in live for v in eqn.outvars]
        if not any(used) and not eqn.effects:
            continue
        rule = rules.dce.functions.get(eqn.primitive)
        new_eqn = eqn if rule is None or all(used) else rule(used, eqn)
        kept.append(new_eqn)
        live.update(x for x in new_eqn.invars if type(x) is Var)
    kept.reverse()
    return kept, live


class SplitProgram(NamedTuple):
    """A jaxpr unzipped in two, and what the rules of a primitive that applies it need of that."""

    known: ClosedJaxpr  # from the known arguments to the known results and the residuals
    unknown: ClosedJaxpr  # from the residuals and the unknown arguments to the unknown results
    out_unknowns: list[bool]  # which results of the whole jaxpr are unknown
    residual_avals: list[Any]
    forwarded: list[int | None]  # for each residual, the known argument that it simply is, or None

    def split_equation(
        self,
        eqn: JaxprEqn,
        in_unknowns: Sequence[bool],
        known_params: dict[str, Any],
        unknown_params: dict[str, Any],
    ) -> tuple[JaxprEqn, JaxprEqn, list[Any]]:
        """The two equations for one that applies the jaxpr, and the residuals between them.

        What a ``partial_eval_jaxpr`` rule returns, together with ``out_unknowns``. The parameters
        have the known, or unknown, part in place of the jaxpr.
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

    def saved_results(self) -> list[bool]:
        """For each result, whether it is a known one that is a computed residual.

        The unknown part has all results.
        """
        computed = {
            v
            for v, source in zip(self.unknown.jaxpr.invars, self.forwarded, strict=False)
            if source is None
        }
        flags = zip(self.out_unknowns, self.unknown.jaxpr.outvars, strict=True)
        return [not unknown and x in computed for unknown, x in flags]

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
        """The results of the whole jaxpr, from those of its two parts."""
        return merge(self.out_unknowns, known, unknown)


def partial_eval_jaxpr(
    jaxpr: ClosedJaxpr, in_unknowns: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> SplitProgram:
    """Unzip a jaxpr into a known part that runs first and an unknown part that runs later.

    Args:
        jaxpr: a jaxpr without constants.
        in_unknowns: which arguments are unknown.
        instantiate: which results count as unknown even if they could be known.
    """
    wanted = broadcast_flags(jaxpr, instantiate)

    def make() -> SplitProgram:
        splitting = Splitting(jaxpr.jaxpr, in_unknowns)
        pairs = zip(jaxpr.jaxpr.outvars, wanted, strict=True)
        return splitting.parts([x in splitting.unknown or force for x, force in pairs])

    return cached_on_jaxpr(jaxpr, ("partial_eval", tuple(in_unknowns), wanted), make)


class Splitting:
    """The two parts of a jaxpr, as they are collected; what is in both is computed again.

    ``saved`` are the known variables that may be residuals, in order.
    """

    def __init__(self, jaxpr: Jaxpr, in_unknowns: Sequence[bool]) -> None:
        self.jaxpr = jaxpr
        self.known_ins: list[Var]
        self.unknown_ins: list[Var]
        self.known_ins, self.unknown_ins = partition(in_unknowns, jaxpr.invars)
        self.unknown: set[Any] = set(self.unknown_ins)
        self.saved: dict[Var, None] = dict.fromkeys(self.known_ins)
        self.known_eqns: list[JaxprEqn] = []
        self.unknown_eqns: list[JaxprEqn] = []
        for eqn in jaxpr.eqns:
            self.add(eqn, [x in self.unknown for x in eqn.invars])

    def add(self, eqn: JaxprEqn, unknowns_in: list[bool]) -> None:
        """Add an equation to the part where it belongs, or its own two parts."""
        rule = rules.partial_eval_jaxpr.functions.get(eqn.primitive)
        if not any(unknowns_in):
            self.add_known(eqn)
        elif rule is None:
            self.unknown.update(eqn.outvars)
            self.unknown_eqns.append(eqn)
        else:
            known_eqn, unknown_eqn, unknowns_out, _ = rule(unknowns_in, eqn)
            if known_eqn is not None:
                self.add_known(known_eqn)
            self.unknown.update(partition(unknowns_out, eqn.outvars)[1])
            if unknown_eqn is not None:
                self.unknown_eqns.append(unknown_eqn)

    def add_known(self, eqn: JaxprEqn) -> None:
        """Add an equation whose results are known; all of them may be saved."""
        self.known_eqns.append(eqn)
        self.saved.update(dict.fromkeys(eqn.outvars))

    def parts(
        self, out_unknowns: list[bool], unknown_outs: Sequence[Atom] | None = None
    ) -> SplitProgram:
        """The parts; the unknown one has the unknown results, or those that are given."""
        known_outs, others = partition(out_unknowns, self.jaxpr.outvars)
        unknown_outs = others if unknown_outs is None else unknown_outs
        # What no unknown result needs is no residual either.
        unknown_eqns, live = _live(unknown_outs, self.unknown_eqns)
        residuals = [v for v in self.saved if v in live]
        sources = {v: i for i, v in enumerate(self.known_ins)}
        forwarded = [sources.get(v) for v in residuals]
        known_outs = [*known_outs, *(v for v in residuals if v not in sources)]
        known_eqns, _ = _live(known_outs, self.known_eqns)
        return SplitProgram(
            ClosedJaxpr(Jaxpr((), self.known_ins, known_outs, known_eqns)),
            ClosedJaxpr(Jaxpr((), [*residuals, *self.unknown_ins], unknown_outs, unknown_eqns)),
            out_unknowns,
            [v.aval for v in residuals],
            forwarded,
        )
