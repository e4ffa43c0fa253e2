"""``check_transformation`` finds the mistakes of transformations, and none in right ones."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
from bindax.experimental import checkify
from bindax_testing import (
    TransformationReport,
    check_function_of_file,
    check_transformation,
    transformation,
)
from bindax_testing.extend import subject_of
from bindax_transforms import make_jaxpr

for needed in ("bindax_callbacks", "bindax_control_flow", "bindax_experimental", "jaxlib"):
    pytest.importorskip(needed, reason="the functions that are transformed are made of it")

sys.path.insert(0, str(Path(__file__).parent))
from _exam import transformation_faults as exam  # noqa: E402

ORDERS = ["types", "values", "effects", "programs inside", "jit", "vmap", "jvp"]
OTHERS = ["purity", "tracers", "errors", "nesting", "inside scan", "inside cond"]


def checked(transform: Any, boxes: bool = True, **options: Any) -> TransformationReport:
    meaning = {"lift": exam.lift, "known": exam.known, "value": exam.value} if boxes else {}
    return check_transformation(transform, **meaning, **options)


@pytest.fixture(autouse=True)
def with_rules_of_the_exam() -> Iterator[None]:
    """The rule that is wrong is there while a test runs."""
    with exam.exam_kind.scoped(*exam.PRODUCT):
        yield


@pytest.mark.every(2)
@pytest.mark.parametrize("fault", exam.FAULTS, ids=lambda fault: fault.transform.__name__)
def test_faults_are_found_and_blamed(fault: exam.Fault) -> None:
    report = checked(fault.transform, fault.boxes, checks=fault.checks)
    causes = [one for one in report.failures if not one.follows]
    code = fault.transform.__code__

    assert {one.check for one in causes} <= set(fault.checks)
    place = fault.blamed if "rule of" in fault.blamed else f"{code.co_filename}:"
    assert all(place in one.rule and fault.blamed in one.rule for one in causes), causes
    assert causes
    assert all(f"checks=[{one.check!r}]" in one.test for one in causes)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", exam.FAULTS, ids=lambda fault: fault.transform.__name__)
def test_programs_of_faults_repeat_them(fault: exam.Fault, tmp_path: Path) -> None:
    failure = checked(fault.transform, fault.boxes, checks=fault.checks).failures[0]
    (name,) = re.findall(r"^def (test_\w+)\(", failure.test, re.MULTILINE)
    file = tmp_path / "repeated.py"
    file.write_text(f"{failure.test}\n\n{name}()\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert f"failed: {fault.transform.__name__}, {failure.check}" in done.stderr


def primal_of_jvp(function: Any) -> Any:
    def primal(*xs: Any) -> Any:
        return bindax.jvp(function, xs, [bindax_zero(x) for x in xs])[0]

    return primal


def bindax_zero(x: Any) -> Any:
    aval = bindax.extend.typeof(x)
    return bindax.extend.zeros_like_aval(aval.tangent_aval())


def evaluated(function: Any) -> Any:
    return lambda *xs: bindax.extend.jaxpr_as_fun(make_jaxpr(function)(*xs))(*xs)


def value_of_checkify(function: Any) -> Any:
    run = checkify.checkify(function)
    return lambda *args: run(*args)[1]


RIGHT = {
    "counted": (exam.counted, True),
    "replayed": (exam.replayed, False),
    "jit": (bindax.jit, False),
    "checkpoint": (bindax.checkpoint, False),
    "jvp": (primal_of_jvp, False),
    "evaluated": (evaluated, False),
    "checkify": (value_of_checkify, False),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "replayed" else pytest.mark.nightly) for name in RIGHT],
)
def test_right_transformations_pass(name: str) -> None:
    transform, boxes = RIGHT[name]
    only = {"custom_vjp": "it has no forward mode"} if name == "jvp" else {}
    report = checked(transform, boxes, checks=[*ORDERS, *OTHERS], skip=only)

    assert report.ok, str(report)
    assert not report.missing


@pytest.mark.nightly
def test_right_transformations_pass_on_every_primitive() -> None:
    report = checked(exam.replayed, boxes=False, checks=["primitive"])

    assert report.ok, str(report)
    assert len(report.of_status("passed")) > 150


def without_sums(function: Any) -> Any:
    def operation(rules: Any, primitive: Any, boxes: Any, params: Any) -> Any:
        if primitive.name == "add":
            exam.exam_kind.get(primitive)
        return exam.any_operation(rules, primitive, boxes, params)

    return exam.transformed(function, **{"*": operation})


def test_primitives_without_a_rule_are_named() -> None:
    report = checked(without_sums, checks=["values", "effects"])

    assert report.ok
    assert list(report.missing) == ["add"]
    assert report.missing["add"] == "add has no exam_doubled rule"
    assert "without a rule: add" in str(report)


def test_what_is_left_out_is_said_with_the_reason() -> None:
    skip = {"values": "an example", "scan": "programs, too"}
    report = checked(exam.stays_outside_scan, checks=["values", "programs inside"], skip=skip)

    assert report.ok
    assert "skipped: stays_outside_scan, values: an example" in str(report)


def test_a_transformation_that_takes_nothing_is_not_proved() -> None:
    report = check_transformation(lambda f: f, lift=lambda x: {}[x], checks=["values"])

    assert not report.ok
    assert "lift takes no float64[3]: " in report.results[0].reason


def test_what_is_no_array_is_said() -> None:
    report = check_transformation(lambda f: lambda *xs: [object()], checks=["values"])

    assert "the value of the result has a leaf that is no array: <object" in str(report)


def test_checks_without_a_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^there is no check 'order'; there are 'types', 'val"):
        check_transformation(lambda f: f, checks=["order"])


def test_values_are_compared_on_other_operands_too() -> None:
    kept: dict[Any, Any] = {}

    def by_shapes(function: Any) -> Any:
        def made(*xs: Any) -> Any:
            key = tuple(np.shape(x) for x in xs)
            return kept.setdefault((getattr(function, "__qualname__", ""), key), function(*xs))

        return made

    report = check_transformation(by_shapes, checks=["purity"])
    assert "of a call after others should be" in str(report)


COUNTED = transformation(exam.counted, lift=exam.lift, value=exam.value)


def test_a_transformation_of_a_program_is_checked_by_its_name(monkeypatch: Any) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    options: dict[str, Any] = {"budget": 0.01, "seed": 0, "time_limit": 1.0}
    report = check_function_of_file(f"{__file__}:COUNTED", "", **options)

    assert isinstance(report, TransformationReport)
    assert report.plugin == "counted"
    assert not report.ok  # the budget was too small


def test_transformations_are_among_the_samples_of_a_plugin() -> None:
    made = subject_of("transforms", [COUNTED])

    assert made.transformations == (COUNTED,)
    assert not made.problems
