"""``check_function`` finds the mistakes of functions, blames what is wrong, and no right function.

The faulty functions of ``_exam`` were written before the checks, and independently of them.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax_testing import FunctionReport, check_function

for needed in ("bindax_nnx", "bindax_ffi", "bindax_callbacks", "bindax_scipy", "jaxlib"):
    pytest.importorskip(needed, reason="the functions that are checked are made of it")

sys.path.insert(0, str(Path(__file__).parent))
from _exam.faults import Fault, all_faults  # noqa: E402
from _exam.right_functions import right_functions  # noqa: E402

FAMILIES = ("custom_vjp", "custom_jvp", "callbacks", "foreign calls", "modules", "rules")
# By number, since models are made, and programs compiled, where the faults are imported.
FAULTS = [pytest.param(family, i, id=f"{family}-{i}") for family in FAMILIES for i in range(10)]
RIGHT = right_functions()
PLACE = re.compile(r"([^\s()]+\.py):(\d+)")


def causes(report: FunctionReport) -> list[Any]:
    return [one for one in report.failures if not one.follows]


def is_blamed(fault: Fault, rule: str) -> bool:
    """Tell whether a rule names a place inside the culprit."""
    culprit = inspect.unwrap(fault.culprit)
    lines, first = inspect.getsourcelines(culprit)
    return any(
        file == culprit.__code__.co_filename and first <= int(line) < first + len(lines)
        for file, line in PLACE.findall(rule)
    )


def repeat(program: str, directory: Path) -> str:
    """Run the test of a report in another process, where it should fail; what it prints."""
    (name,) = re.findall(r"^def (test_\w+)\(", program, re.MULTILINE)
    file = directory / "repeated.py"
    file.write_text(f"{program}\n\n{name}()\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


def test_there_are_sixty_and_two_hundred() -> None:
    found = {family: len(faults) for family, faults in all_faults().items()}
    assert found == dict.fromkeys(FAMILIES, 10)
    assert len(RIGHT) >= 200


@cache
def report_of(family: str, number: int) -> FunctionReport:
    """The report on a fault; one for all tests, as some faults hide after a few calls."""
    fault = all_faults()[family][number]
    return check_function(fault.function, *fault.args)


@pytest.mark.every(10)
@pytest.mark.parametrize(("family", "number"), FAULTS)
def test_faults_are_found_and_blamed(family: str, number: int) -> None:
    fault, report = all_faults()[family][number], report_of(family, number)

    assert not report.ok
    assert [one.rule for one in causes(report) if not is_blamed(fault, one.rule)] == []


@pytest.mark.nightly
@pytest.mark.parametrize(("family", "number"), FAULTS)
def test_programs_of_faults_repeat_them(family: str, number: int, tmp_path: Path) -> None:
    first = causes(report_of(family, number))[0]

    assert f"failed: {first.primitive}, {first.check}" in repeat(first.test, tmp_path)


def test_a_program_repeats_a_failure_in_another_process(tmp_path: Path) -> None:
    fault = all_faults()["custom_vjp"][0]
    (first, *_) = causes(check_function(fault.function, *fault.args, checks=["reverse"]))

    printed = repeat(first.test, tmp_path)

    assert "failed: cube, reverse: the bwd rule cube_bwd" in printed
    assert "reverse mode and forward mode disagree" in printed


@pytest.mark.every(70)
@pytest.mark.parametrize("name", RIGHT)
def test_right_functions_pass(name: str) -> None:
    require_right(name, 0)


def test_modules_that_change_are_checked_as_copies() -> None:
    norm = RIGHT["nnx.BatchNorm"][0]()
    before = np.asarray(norm.mean.value)
    x = np.random.default_rng(0).normal(size=(4, 3))
    report = check_function(norm, x, checks=["gradients of parameters"])
    assert report.ok, str(report)
    np.testing.assert_array_equal(norm.mean.value, before)


@pytest.mark.nightly
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", RIGHT)
def test_right_functions_pass_with_other_seeds(name: str) -> None:
    for seed in range(1, 20):
        require_right(name, seed)


def require_right(name: str, seed: int) -> None:
    make, draws = RIGHT[name]
    args = [draw(np.random.default_rng(seed)) for draw in draws]
    report = check_function(make(), *args, seed=seed, budget=600.0, time_limit=60.0)
    assert report.ok, str(report)


# ----------------------------------------------------------------------------------- the report


def double(x: Any) -> Any:
    return x + x


def affine(x: Any) -> Any:
    return 2.0 * x + 1.0


SOME = ["purity", "jvp", "linear", "weak types"]


def test_what_was_not_checked_is_said_with_the_reason() -> None:
    report = check_function(double, np.ones(3), checks=SOME)

    assert report.ok
    assert "skipped: weak types: no argument is a real scalar (1 of 1 cases)" in str(report)
    assert "skipped: linear: it was not said to be linear (1 of 1 cases)" in str(report)
    assert "double: 4 checks: 2 passed, 2 skipped; " in str(report)


@pytest.mark.parametrize(("function", "is_linear"), [(double, True), (affine, False)])
def test_what_is_said_to_be_linear_is(function: Any, is_linear: bool) -> None:
    report = check_function(function, np.ones(3), linear=True, checks=SOME)

    assert report.ok == is_linear
    if not is_linear:
        (failure,) = report.failures
        assert failure.reason.startswith("is not linear: result 0 of 2 x - 3 y should be")
        assert "check_function(affine, np.array([" in failure.test
        assert "linear=[0]" in failure.test


def test_checks_without_a_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"there is no check 'inverse'; there are 'purity', "):
        check_function(double, 1.0, checks=["inverse"])
    with pytest.raises(ValueError, match=r"there is no check 'inverse'"):
        check_function(double, 1.0, skip={"inverse": "it has none"})


def test_checks_that_are_left_out() -> None:
    report = check_function(double, np.ones(2), skip={"jvp": "not today"}, checks=SOME)

    assert "skipped: jvp: not today" in str(report)


def test_a_wrong_first_derivative_comes_before_second_ones() -> None:
    @bindax.custom_vjp
    def cube(x: Any) -> Any:
        return x**3

    def forward(x: Any) -> Any:
        return cube(x), (x, cube(x))  # whose derivative is taken by the wrong rule again

    cube.defvjp(forward, lambda kept, ct: (2 * ct * kept[1] / kept[0],))

    report = check_function(cube, 2.0, checks=["second order in reverse mode", "reverse"])

    first, second = sorted(report.failures, key=lambda one: bool(one.follows))
    assert (first.check, second.check) == ("reverse", "second order in reverse mode")
    assert second.follows.startswith("cube, reverse: ")


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (bnp.sort, np.ones(3)),
        (bnp.median, np.ones(4)),
        (lambda x: bnp.linalg.eigvalsh(x + x.T), np.eye(3)),
        (lambda x: bnp.sum(x) ** bnp.sum(1 - x), np.zeros(2)),
        (bnp.sqrt, np.zeros(2)),
    ],
    ids=["sort", "median", "eigvalsh", "power", "sqrt"],
)
def test_functions_pass_where_they_have_no_derivative(function: Any, x: Any) -> None:
    names = ["jvp", "second order", "second order in reverse mode", "symmetry", "inside scan"]

    assert check_function(function, x, checks=names).ok


def test_no_derivative_is_compared_with_values_through_stop_gradient() -> None:
    report = check_function(lambda x: bindax.lax.stop_gradient(x) * x, 2.0)

    assert report.ok
    reasons = {one.check: one.reason for one in report.results if one.status == "skipped"}
    assert "stop_gradient" in reasons["jvp"]
    assert "stop_gradient" in reasons["complex step"]


def test_products_in_lower_precision_are_compared_as_they_are_rounded() -> None:
    def product(x: Any, w: Any) -> Any:
        return (x.astype("bfloat16") @ w.astype("bfloat16")).astype("float32")

    rng = np.random.default_rng(0)
    x, w = (rng.normal(size=shape).astype("float32") for shape in ((3, 4), (4, 2)))

    assert check_function(product, x, w, checks=["linear derivatives", "compiled"]).ok


def test_numbers_of_any_size_are_moved_by_differences() -> None:
    x = np.array([1e30, 1e9, 1e-30, 2.0])

    assert check_function(bnp.square, x, checks=["jvp", "second order"]).ok
    assert not check_function(_wrong_square, x[:2], checks=["jvp"]).ok


@bindax.custom_jvp
def _wrong_square(x: Any) -> Any:
    return x * x


_wrong_square.defjvp(lambda primals, tangents: (primals[0] ** 2, primals[0] * tangents[0]))


def test_a_wrong_rule_is_found_beside_a_kink() -> None:
    @bindax.custom_vjp
    def absolute(x: Any) -> Any:
        return bnp.abs(x)

    absolute.defvjp(lambda x: (absolute(x), x), lambda _, ct: (ct,))

    (failure,) = check_function(absolute, np.zeros(3), checks=["reverse"]).failures

    assert "That is a little off the operands" in failure.reason


def test_arguments_from_strategies() -> None:
    from hypothesis import strategies as st

    def reciprocal(x: Any, n: int) -> Any:
        return n / x

    values = st.floats(1.0, 2.0).map(np.float64)
    report = check_function(reciprocal, values, 3, checks=["purity", "jvp", "reverse"])

    assert report.ok, str(report)
    assert all(one.planned == 5 for one in report.results if one.check == "jvp")


def test_trees_and_arguments_that_are_no_arrays() -> None:
    def loss(params: Any, x: Any, mode: str) -> Any:
        assert mode == "mean"
        return {"loss": bnp.mean((params["w"] * x + params["b"]) ** 2), "none": None}

    params = {"w": np.ones(3), "b": np.float64(0.5)}
    report = check_function(loss, params, np.arange(3.0), "mean", checks=["jvp", "vmap"])

    assert report.ok, str(report)


def test_a_result_that_is_no_array() -> None:
    report = check_function(lambda x: "text", 1.0, checks=["purity"])

    assert "leaf 0 of the result is no array: 'text'" in str(report)


def test_a_check_that_was_not_run_is_not_proved() -> None:
    report = check_function(double, np.ones(3), checks=SOME, budget=0.0)

    assert not report.ok
    assert report.failures == []
    assert "not run: jvp: the budget was used up" in str(report)


def test_a_function_that_does_not_return() -> None:
    def endless(x: Any) -> Any:
        while True:
            time.sleep(0.01)

    report = check_function(endless, 1.0, time_limit=0.2)

    (failure, *_) = report.failures
    assert failure.check == "purity"
    assert failure.reason == "did not end within 0.2 s"
    assert report.seconds < 10.0


def test_a_function_that_cannot_be_traced_in_time() -> None:
    def slow(x: Any) -> Any:
        if not isinstance(x, float):
            while True:
                time.sleep(0.01)
        return x * 2

    report = check_function(slow, 1.0, budget=0.5)

    assert not report.ok
    assert report.seconds < 20.0


def test_a_function_that_needs_its_operands_as_they_were() -> None:
    def centred(x: Any) -> Any:
        x -= x.mean()
        return x

    report = check_function(centred, np.array([1.0, 3.0]), checks=["purity"])

    (failure,) = report.failures
    assert "changes its operand 0 in place, from [1.0] to [0.0]; work on a copy" in failure.reason


# ------------------------------------------------------------- what has no module to import it from

AT_PROMPT = """
import numpy as np
import bindax
from bindax_testing import check_function, check_rules, sample, array
from bindax.extend import primitive, rules

FACTOR = 2.0

@bindax.custom_jvp
def scaled(x):
    return FACTOR * x

@scaled.defjvp
def scaled_jvp(primals, tangents):
    return scaled(*primals), tangents[0]

same_p = primitive(
    "prompt.same",
    rules.impl(lambda x: x * FACTOR),
    rules.abstract_eval(lambda x: x),
    rules.jvp(lambda p, t: (same_p.bind(*p), t[0])),
    rules.vmap(lambda size, xs, dims: (same_p.bind(*xs), dims[0])),
    rules.transpose.absent("a test"),
    rules.lowering["stablehlo"].absent("a test"),
)
"""
REPORTS = {
    "function": 'report = check_function(scaled, np.ones(2), checks=["jvp"])',
    "primitive": 'report = check_rules(same_p, [sample(same_p, array((2,), "float64"))])',
}


@pytest.mark.parametrize("what", ["function", pytest.param("primitive", marks=pytest.mark.nightly)])
def test_a_program_holds_what_was_typed_at_a_prompt(what: str, tmp_path: Path) -> None:
    code = f"{AT_PROMPT}\n{REPORTS[what]}\n"
    code += "print([one for one in report.failures if one.check == 'jvp'][0].test)\n"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr

    assert "FACTOR = 2.0" in done.stdout
    assert "by differences of values" in repeat(done.stdout, tmp_path)


def test_a_function_that_no_program_can_make() -> None:
    factor = bindax.random.key(0)

    def inner(x: Any) -> Any:
        return x + bindax.random.normal(factor) * 0 + len(CALLS)

    CALLS: list[Any] = []

    def growing(x: Any) -> Any:
        CALLS.append(None)
        return inner(x)

    (failure,) = check_function(growing, 1.0, checks=["purity"]).failures

    assert "growing (" in failure.test
    assert "has no name in a module, and the text of" in failure.test
    assert "is not pure: result 0 is " in failure.reason
