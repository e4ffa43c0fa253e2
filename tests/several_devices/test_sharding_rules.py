"""The check of the conformance suite that divides operands: of the packages, and of wrong rules."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from bindax.extend import primitive, rules
from bindax_testing import array, check_rules, sample
from bindax_testing._checks import CHECKS
from bindax_testing._plan import Plan, checking, make_plan
from bindax_testing._runner import Group
from bindax_testing._subjects import subject_of

PLUGINS = ("experimental", "lax_basic", "linalg", "parallel", "random", "special", "transforms")
PARTS = 12


@cache
def plan_of(plugin: str) -> Plan:
    return make_plan(subject_of(plugin), time_limit=120.0)


def checked(plugin: str, part: int, parts: int, ran: int) -> list[Group]:
    """The check of each primitive of a part, on so many divisions that the rule accepts."""
    plan = plan_of(plugin)
    found = [Group(plan, one, CHECKS["divided"]) for one in plan.subject.primitives[part::parts]]
    with checking():
        for group in found:
            while not group.done and group.result.ran < ran:
                group.step()
    return found


def failures(groups: list[Group]) -> str:
    return "\n\n".join(str(one.result) for one in groups if one.result.status == "failed")


@pytest.mark.parametrize("plugin", ["lax_basic", "linalg", "random"])
def test_some_rules(plugin: str) -> None:
    found = checked(plugin, 3, PARTS, 1)
    assert not failures(found)
    assert any(group.result.status == "passed" for group in found)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("plugin", PLUGINS)
def test_all_rules_in_many_divisions(plugin: str, part: int) -> None:
    assert not failures(checked(plugin, part, PARTS, 40))


def twice(name: str, *more: Any, on_several: float = 2.0) -> Any:
    def lowering(ctx: Any, x: Any) -> Any:
        (aval,) = ctx.avals_in
        number = ctx.constant(aval.dtype.type(on_several if ctx.device_count > 1 else 2.0))
        factor = ctx.broadcast(number, aval.update(shape=()), aval, ())
        return ctx.op("stablehlo.multiply", [x, factor])[0]

    made = primitive(
        name,
        rules.impl(lambda x: 2 * x),
        rules.abstract_eval(lambda x: x),
        rules.jvp.absent("not needed"),
        rules.vmap(lambda size, operands, dims: (made.bind(*operands), dims[0])),
        rules.transpose.absent("not needed"),
        rules.lowering["stablehlo"](lowering),
        *more,
    )
    return made


def result_of(made: Any, *shape: int) -> Any:
    report = check_rules(made, [sample(made, array(shape))])
    return next(one for one in report.results if one.check == "divided")


def test_a_lowering_that_is_wrong_on_several_devices() -> None:
    elementwise = rules.sharding("elementwise")
    assert result_of(twice("divided.right", elementwise), 4, 2).status == "passed"
    found = result_of(twice("divided.wrong", elementwise, on_several=3.0), 4, 2)
    assert (found.status, found.ran, found.planned) == ("failed", 1, 2)
    assert "lie as P('x', None): result 0 differs from that of whole operands" in found.reason


def test_a_rule_that_raises_is_named() -> None:
    def rule(x: Any) -> Any:
        return x.sharding.spec["first"]

    found = result_of(twice("divided.raises", rules.sharding(rule)), 4, 2)
    assert (found.status, found.kind) == ("failed", "sharding")
    assert "raised TypeError" in found.reason
    assert found.test.startswith(
        'import os\n\nos.environ.setdefault("BINDAX_NUM_CPU_DEVICES", "8")'
    )


def test_why_nothing_was_said() -> None:
    bare, odd = twice("divided.bare"), twice("divided.odd", rules.sharding("elementwise"))
    refusing = twice("divided.refusing", rules.sharding("MN->MN"))
    for made, shape, reason in (
        (bare, (4,), "it has no sharding rule"),
        (odd, (3,), "no operand has an axis of an even size (1 of 1 cases)"),
        (refusing, (4, 2), "the rule refuses the division (2 of 2 cases)"),
    ):
        found = result_of(made, *shape)
        assert (found.status, found.reason) == ("skipped", reason)
