"""Containers of a plugin: the checks of their definitions as results beside those of rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bindax_testing._pytrees._nodes import nodes_of, qualified
from bindax_testing._pytrees._report import PyTreeCheck
from bindax_testing._pytrees._run import check_pytree
from bindax_testing._results import EXPECTED, FAILED, PASSED, SKIPPED, RuleResult
from bindax_testing._samples import ContainerSample

_ORDER = (FAILED, EXPECTED, PASSED, SKIPPED)


def without_sample(types: Iterable[type], samples: Iterable[ContainerSample]) -> Iterator[str]:
    """Sentences about container types that no sample holds an instance of."""
    reached = {type(node.value) for sample in samples for node in nodes_of(sample.value)}
    for kind in types:
        if kind not in reached:
            yield (
                f"no sample holds an instance of the container {qualified(kind)}, so it was not "
                f"checked; yield bindax_testing.container({kind.__name__}(...)) from the hook "
                f"bindax_samples of the plugin."
            )


def container_results(
    types: Iterable[type], samples: Iterable[ContainerSample]
) -> list[RuleResult]:
    """One result for each check of each container type; the samples may hold others, too."""
    names = {qualified(kind) for kind in types}
    found: dict[tuple[str, str], list[tuple[str, PyTreeCheck]]] = {}
    for sample in samples:
        report = check_pytree(sample.value, expected_failures=sample.expected_failures)
        for one in report.results:
            if one.type in names:
                found.setdefault((one.type, one.check), []).append((sample.label, one))
    return [_result(name, check, outcomes) for (name, check), outcomes in found.items()]


def _result(name: str, check: str, outcomes: list[tuple[str, PyTreeCheck]]) -> RuleResult:
    label, worst = min(outcomes, key=lambda pair: _ORDER.index(pair[1].status))
    ran = sum(one.status != SKIPPED for _, one in outcomes)
    reason = f"at {worst.path}: {worst.reason}" if worst.reason and worst.path else worst.reason
    return RuleResult(
        name,
        "pytree",
        check,
        worst.status,
        planned=len(outcomes),
        ran=ran,
        inapplicable=len(outcomes) - ran,
        reason=reason,
        sample=label,
    )
