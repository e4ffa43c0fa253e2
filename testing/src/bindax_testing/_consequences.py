"""Consequences: failures that follow from others, as one wrong rule breaks what is built on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core import config
from bindax_core.extend import Jaxpr, Primitive, describe_rule, subjaxprs
from bindax_testing._blame import EVALUATION
from bindax_testing._cases import Case
from bindax_testing._checks._base import with_operands
from bindax_testing._checks._derivatives import tangents_of
from bindax_testing._limits import run_limited
from bindax_testing._results import FAILED
from bindax_transforms import jvp, linearize, make_jaxpr, vmap

_SECONDS = 2.0
_ASIDE = ("weak types", "parameters", "threads")
"""Checks of evaluation whose failure leaves the numbers right."""
_REVERSE = ("reverse", "second order")
_COMPOSITIONS = 4
_AGAINST_IMPL = {
    "jvp": "jvp",
    "compiled": "lowering.stablehlo",
    "compiled special values": "lowering.stablehlo",
    "vmap": "vmap",
    "transpose": "transpose",
}
"""The checks that compare another rule with the numbers of ``impl``."""
_TOGETHER = ({"jvp", "lowering.stablehlo"}, {"vmap", "lowering.stablehlo"})
"""Rules of which it is unlikely that all are wrong."""


def mark_consequences(groups: Iterable[Any]) -> None:
    """Say of failures which failure of a more basic check they follow from."""
    failed = [group for group in groups if group.result.status == FAILED and group.result.rule]
    basic: dict[Primitive, list[Any]] = {}
    for group in failed:
        basic.setdefault(group.primitive, []).append(group)
    for group in failed:
        if group.failed is None:
            continue
        used = {group.primitive}
        if any(other.check.rank < group.check.rank for other in failed):
            used |= primitives_used(group.failed)
        causes = [
            cause
            for primitive in used
            for cause in basic.get(primitive, ())
            if cause is not group and _explains(cause, group)
        ]
        if causes:
            cause = min(
                causes, key=lambda one: (one.check.rank, one.primitive is not group.primitive)
            )
            group.result.follows = (
                f"{cause.primitive.name}, {cause.check.name}: {cause.result.rule}"
            )


def _explains(cause: Any, group: Any) -> bool:
    """Tell whether a failure can follow from another: its check applies the rule that is wrong."""
    if cause.check.rank >= group.check.rank:
        return False
    kind, same = cause.result.kind, cause.result.kind == group.result.kind
    if kind in EVALUATION:
        return same or cause.check.name not in _ASIDE
    if same or cause.primitive is not group.primitive or group.check.rank >= _COMPOSITIONS:
        return True
    return kind == "transpose" and group.check.name in _REVERSE


def suspect_evaluation(groups: Iterable[Any]) -> None:
    """Blame the ``impl`` rule where the compiled program and further rules contradict it."""
    found: dict[Primitive, list[Any]] = {}
    for group in groups:
        result = group.result
        if result.status == FAILED and not result.follows and group.check.name in _AGAINST_IMPL:
            found.setdefault(group.primitive, []).append(group)
    for primitive, against in found.items():
        kinds = {group.result.kind for group in against}
        if not any(kinds >= one for one in _TOGETHER) or kinds & set(EVALUATION):
            continue
        *others, last = sorted(kinds)
        names, all_ = f"{', '.join(others)} and {last}", "both" if len(kinds) == 2 else "all"
        for group in against:
            group.result.reason += (
                f" The rules {names} {all_} disagree with impl, which is therefore suspected."
            )
            group.result.kind, group.result.rule = "impl", describe_rule(primitive, "impl")


def primitives_used(case: Case) -> set[Primitive]:
    """The primitives that a primitive's derivatives and batches are made of, as far as they go."""
    found: set[Primitive] = {case.primitive}
    positions = case.positions
    function, primals = with_operands(case, positions), [case.operands[i] for i in positions]
    tangents = tangents_of(case, positions)

    def forward() -> Any:
        return make_jaxpr(lambda *xs: jvp(function, xs, tangents)[1])(*primals)

    def linear() -> Any:
        return make_jaxpr(linearize(function, *primals)[1])(*tangents)

    def batched() -> Any:
        avals = [aval.update(shape=(2, *aval.shape)) for aval in case.avals]
        return make_jaxpr(vmap(case.call))(*avals)

    for stage in (forward, linear, batched) if positions else (batched,):
        try:
            with config.override(derived_rules="silent"):
                closed = run_limited(stage, _SECONDS)
        except Exception:  # the rule may be broken, which is what led here
            continue
        _gather(closed.jaxpr, found)
    return found


def _gather(jaxpr: Jaxpr, found: set[Primitive]) -> None:
    for eqn in jaxpr.eqns:
        found.add(eqn.primitive)
        for _, inner in subjaxprs(eqn.params):
            _gather(inner.jaxpr, found)
