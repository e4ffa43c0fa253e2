"""``jit`` gives what eager evaluation gives: interpreted, and compiled where a compiler is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core import config
from bindax_core.extend import Primitive, lowering, typeof
from bindax_testing._cases import Call, Case
from bindax_testing._checks._base import Run, check
from bindax_testing._checks._purity import special_case
from bindax_testing._compare import Mismatch, host, require_same, type_of_result
from bindax_transforms import jit
from bindax_transforms.rules import physical

stablehlo = lowering["stablehlo"]


def computed_on(backend: str, function: Callable[..., Any], operands: Sequence[Any]) -> list[Any]:
    """The results of a function on a backend, when they are there."""
    with config.override(backend=backend):
        outs = list(function(*operands))
        for out in outs:
            host(out)
    return outs


def _blaming(run: Run) -> Run:
    """A check that blames the rule for physical arrays where it stands in for a lowering."""

    def checked(case: Call, compiler: str | None) -> None:
        try:
            run(case, compiler)
        except Mismatch as error:
            is_physical = isinstance(case, Case) and stablehlo.find(case.primitive) is None
            kind = "physical" if is_physical else error.kind
            raise Mismatch(str(error), kind) from error.__cause__

    return checked


def _why_not(primitive: Primitive, compiler: str | None) -> str | None:
    if compiler is None:
        return "no compiling backend is installed"
    rule = stablehlo.rule_of(primitive)
    if physical.find(primitive) is not None:
        return None  # compilers are given what the rule makes of it
    if rule is not None and rule.reason is not None:
        return f"it has no lowering: {rule.reason}"
    return None if stablehlo.find(primitive) is not None else "it has no lowering"


@check("interpreted jit", "impl")
def _interpreted(case: Call, compiler: str | None) -> None:
    wanted = case.call(*case.operands)
    outs = computed_on("numpy", jit(case.fresh()), case.operands)
    for i, (got, expected) in enumerate(zip(outs, wanted, strict=True)):
        require_same(f"result {i} under jit, interpreted", got, expected)


@check("compiled", stablehlo.name, rank=2, why_not=_why_not)
@_blaming
def _compiled(case: Call, compiler: str | None) -> None:
    wanted = case.call(*case.operands)
    outs = computed_on(compiler or "", jit(case.fresh()), case.operands)
    for i, (got, expected) in enumerate(zip(outs, wanted, strict=True)):
        require_same(f"result {i} compiled by {compiler}", got, expected, scale=5.0)
        require_same(
            f"the bytes of result {i} compiled by {compiler}",
            type_of_result(host(got)).str_short() == typeof(expected).str_short(),
            True,
        )


@check("compiled special values", stablehlo.name, rank=2, why_not=_why_not)
def _compiled_special(case: Call, compiler: str | None) -> None:
    special = special_case(case)
    compiled = jit(special.fresh())
    for row in special.draws:
        outs = computed_on(compiler or "", compiled, row)
        for i, (got, expected) in enumerate(zip(outs, special.call(*row), strict=True)):
            what = f"result {i} for special values compiled by {compiler}"
            require_same(what, got, expected, scale=5.0)
