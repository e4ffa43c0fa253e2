"""Mistakes in rules are noticed where there are samples, and reported where there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planted import declare

from bindax_core.errors import PluginError
from bindax_mutation import mutate_plugin, mutate_rules
from bindax_testing import EquivalentMutant, array, elementwise, sample
from bindax_testing._limits import TimeLimitExceeded

pytestmark = pytest.mark.usefixtures("toy_operations")


def samples(made: Any) -> list[Any]:
    return [*elementwise(made), sample(made, array((2, 2), "float64"))]


@pytest.mark.nightly
def test_every_mistake_in_a_complete_primitive_is_noticed() -> None:
    made = declare()
    # Without a compiler, nothing but impl says what a linear operation computes.
    definition = "impl is the definition"
    explained = [EquivalentMutant(made.name, "impl", d, definition) for d in ("sign", "factor")]
    report = mutate_rules(made, [*samples(made), *explained])
    assert report.ok, str(report)
    assert len(report.of_status("equivalent")) == 2
    kinds = {mutant.kind for mutant in report.mutants}
    assert {"impl", "abstract_eval", "jvp", "vmap", "transpose"} <= kinds
    assert {"sign", "factor", "lost dtype", "wrong zero"} <= {m.damage for m in report.mutants}
    assert report.share_killed == 1.0
    assert len(report.mutants) >= 25
    assert "mutants" in report.summary
    assert "100.0 %" in report.summary


def test_the_rules_are_as_before_afterwards() -> None:
    made = declare()
    before = made.bind(np.array([1.0, 2.0]))
    mutate_rules(made, samples(made), count=10)
    np.testing.assert_array_equal(np.asarray(made.bind(np.array([1.0, 2.0]))), np.asarray(before))


def test_samples_that_say_too_little_let_mistakes_survive() -> None:
    made = declare()
    report = mutate_rules(made, [sample(made, array((0,), "float32"))])
    assert not report.ok
    assert report.share_killed < 0.9
    assert f"survived: {made.name}" in str(report)


def test_a_check_that_is_slow_on_a_busy_machine_still_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def limited(function: Any, seconds: float) -> Any:
        result = function()
        if seconds < 50.0:  # it took longer than that
            raise TimeLimitExceeded(f"did not end within {seconds:g} s", [])
        return result

    monkeypatch.setattr("bindax_mutation._run.run_limited", limited)
    made = declare()
    report = mutate_rules(made, samples(made), count=3)
    assert len(report.of_status("killed")) == 3, str(report)


def test_an_explained_mistake_counts_as_equivalent() -> None:
    made = declare()
    poor = [sample(made, array((0,), "float32"))]
    explained = EquivalentMutant(made.name, "*", "*", "there are no elements")
    report = mutate_rules(made, [*poor, explained])
    assert report.ok
    assert not report.survivors
    assert report.of_status("equivalent")[0].reason == "there are no elements"


@pytest.mark.nightly
def test_the_same_seed_draws_the_same_mutants() -> None:
    made = declare()
    seen: list[Any] = []
    first = mutate_rules(made, samples(made), count=8, seed=3, progress=seen.append)
    again = mutate_rules(made, samples(made), count=8, seed=3)
    assert [str(m) for m in first.mutants] == [str(m) for m in again.mutants]
    assert seen == list(first.mutants)
    assert len(seen) == 8
    data = first.as_dict()
    assert data["plugin"] == made.name
    assert data["mutants"][0]["status"] == "killed"


def test_unknown_plugins_and_primitives_are_errors() -> None:
    with pytest.raises(PluginError, match="no-such-plugin"):
        mutate_plugin("no-such-plugin")


def test_mutation_of_nothing_says_so() -> None:
    report = mutate_plugin("containers")

    assert not report.mutants
    assert "declares no primitive" in report.summary


def test_the_conformance_suite_forwards_its_former_names() -> None:
    import bindax_mutation
    import bindax_testing

    assert bindax_testing.mutate_plugin is bindax_mutation.mutate_plugin
    assert "mutate_rules" in dir(bindax_testing)
