"""Primitives are checked in texts, pickles, exports, with variables for sizes, and on devices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import bindax_core
from bindax import lax, make_jaxpr
from bindax_core import devices
from bindax_core.extend import eval_jaxpr, primitive, rules
from bindax_testing import RuleReport, array, check_rules, sample

for needed in ("bindax_text", "bindax_export", "bindax_parallel", "jaxlib"):
    pytest.importorskip(needed, reason="checks of these packages are among those that are tried")

NAMES = ("text", "parameters in a pickle", "export", "symbolic dimensions", "sharded")


class Factor:
    """A number that is lost in a pickle, in a text, or nowhere."""

    def __init__(self, value: float, lost: str = "") -> None:
        self.value, self.lost = value, lost

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factor) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> Any:
        return Factor, (1.0 if self.lost == "pickle" else self.value, self.lost)


def declare(name: str, lowering: Any) -> Any:
    def batched(size: Any, operands: Any, dims: Any, **params: Any) -> Any:
        return made.bind(*operands, **params), dims[0]

    made = primitive(
        name,
        rules.impl(lambda x, *, factor: x * np.asarray(factor.value, x.dtype)),
        rules.abstract_eval(lambda x, *, factor: x),
        rules.jvp(lambda p, t, *, factor: tuple(made.bind(*z, factor=factor) for z in (p, t))),
        rules.vmap(batched),
        rules.transpose(lambda ct, x, *, factor: [made.bind(ct, factor=factor)]),
        rules.lowering["stablehlo"](lowering),
    )
    return made


def doubled(ctx: Any, x: Any, *, factor: Factor) -> Any:
    return ctx.op("stablehlo.add", [x, x])[0]


def doubled_where_sizes_are_known(ctx: Any, x: Any, *, factor: Factor) -> Any:
    known = all(type(n) is int for n in ctx.avals_in[0].shape)
    return ctx.op("stablehlo.add" if known else "stablehlo.multiply", [x, x])[0]


def results(made: Any, factor: Factor) -> dict[str, Any]:
    report: RuleReport = check_rules(made, [sample(made, array((3,), "float64"), factor=factor)])
    return {one.check: one for one in report.results}


def failed(found: dict[str, Any]) -> list[str]:
    return [name for name, one in found.items() if one.status == "failed"]


def test_parameters_are_kept_in_pickles_and_texts_say_why_there_is_none() -> None:
    made = declare("outside.right", doubled)

    found = results(made, Factor(2.0))

    assert failed(found) == []
    assert {name: found[name].status for name in NAMES} == {
        "text": "skipped",
        "parameters in a pickle": "passed",
        "export": "passed",
        "symbolic dimensions": "passed",
        "sharded": "skipped" if len(devices()) < 2 else "passed",
    }
    assert "it has no text: " in found["text"].reason


def test_a_parameter_that_a_pickle_loses() -> None:
    found = results(declare("outside.pickle", doubled), Factor(2.0, "pickle"))

    assert failed(found) == ["parameters in a pickle"]
    reason = found["parameters in a pickle"].reason
    assert reason.startswith("result 0 for the parameters out of a pickle should be ")


def test_a_text_that_is_read_as_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    read = bindax_core.jaxpr_from_text

    def wrong(text: str) -> Any:
        program = read(text)
        run = partial(eval_jaxpr, program.jaxpr, program.consts)
        return make_jaxpr(lambda *xs: [2.0 * y for y in run(*xs)])(*program.in_avals)

    monkeypatch.setattr(bindax_core, "jaxpr_from_text", wrong)

    report = check_rules(lax.sin_p, [sample(lax.sin_p, array((3,)))])

    assert [one.check for one in report.failures] == ["text"]
    assert "result 0 of the program read from its text should be " in str(report)


def test_a_lowering_that_is_wrong_for_variables() -> None:
    found = results(declare("outside.symbolic", doubled_where_sizes_are_known), Factor(2.0))

    assert failed(found) == ["symbolic dimensions"]
    one = found["symbolic dimensions"]
    assert one.reason.startswith("result 0 of the program exported for all sizes should be ")
    assert one.rule.startswith("the lowering.stablehlo rule of outside.symbolic")
