"""Containers and rule kinds of third parties are checked beside the rules of primitives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from planted import declare

from bindax_core.extend import RuleKind, rule_kinds
from bindax_core.tree_util import register_pytree_node, scoped_registration
from bindax_testing import (
    NotApplicable,
    array,
    check_pytree,
    check_rules,
    container,
    rule_check,
    sample,
)

pytestmark = pytest.mark.usefixtures("toy_operations")


@pytest.fixture
def cost() -> Iterator[RuleKind]:
    kind = RuleKind("own_kinds.cost")
    yield kind
    del rule_kinds[kind.name]


def counts_elements(case: Any) -> None:
    (aval,) = case.avals
    if not aval.shape:
        raise NotApplicable("a scalar costs nothing")
    found = rule_kinds["own_kinds.cost"].get(case.primitive)(aval)
    assert found == aval.size, f"it costs {aval.size}, not {found}."


def test_the_check_of_a_rule_kind_finds_a_wrong_rule(cost: RuleKind) -> None:
    made = declare("own_kinds.triple", cost=cost(lambda aval: aval.size + (aval.size > 4)))
    samples = [sample(made, array(shape, "float64")) for shape in ((), (2,), (2, 4))]
    report = check_rules(made, [*samples, rule_check(cost, counts_elements)])

    (failure,) = report.failures
    assert (failure.check, failure.kind) == (cost.name, cost.name)
    assert "it costs 6, not 7" in failure.reason  # the smallest that shows it
    assert "the own_kinds.cost rule of own_kinds.triple" in failure.rule
    assert "Call check_rules again, with the sample 'own_kinds.triple-float64[2,4]'" in failure.test


def test_a_right_rule_passes_and_says_where_there_was_nothing_to_say(cost: RuleKind) -> None:
    made = declare("own_kinds.right", cost=cost(lambda aval: aval.size))
    other = declare("own_kinds.without")
    samples = [sample(one, array((2,), "float64")) for one in (made, other)]
    samples.append(sample(made, array((), "float64")))
    report = check_rules([made, other], [*samples, rule_check(cost, counts_elements, name="size")])

    assert report.ok, str(report)
    (result,) = [one for one in report.results if one.check == "size"]
    assert (result.primitive, result.ran, result.inapplicable) == (made.name, 1, 1)


class Named:
    """A container whose definition each test plants."""

    def __init__(self, value: Any, unit: str = "", _private: int = 0) -> None:
        self.value, self.unit, self._private = value, unit, _private


@dataclasses.dataclass
class Fields:
    """A dataclass with a private field."""

    value: Any
    _unit: str = ""


class Compared:
    """A class whose ``==`` knows more than its attributes say in public."""

    def __init__(self, value: Any, unit: str = "") -> None:
        self.value, self._unit = value, unit

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared) and self._unit == other._unit

    def __hash__(self) -> int:
        return hash(self._unit)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Named, "The attribute 'unit' was 'm', and is '' after a round trip"),
        (Fields, "The attribute '_unit' was 'm', and is '' after a round trip"),
        (Compared, "which is not equal to it; all that == compares has to be in the children"),
    ],
)
def test_a_field_that_flatten_drops(kind: Any, text: str) -> None:
    with scoped_registration():
        register_pytree_node(kind, lambda x: ((x.value,), None), lambda _, xs: kind(*xs))
        report = check_rules([], [container(kind(1.0, "m"))])
        (failure,) = [one for one in report.failures if one.check == "round trip"]
        assert text in failure.reason
        assert failure.sample == kind.__name__
        assert not check_pytree(kind(1.0, "m")).ok
        # What equals its default says nothing, and what is private may be a cache.
        assert check_rules([], [container(kind(1.0))]).ok


def test_a_container_may_be_expected_to_fail() -> None:
    with scoped_registration():
        register_pytree_node(Named, lambda x: ((x.value,), None), lambda _, xs: Named(*xs))
        known = container(Named(1.0, "m"), expected_failures={"round trip": "units are dropped"})
        report = check_rules([], [known])
    assert report.ok
    assert [one.check for one in report.of_status("expected failure")] == ["round trip"]
