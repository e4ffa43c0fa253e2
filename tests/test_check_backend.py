"""``check_backend`` finds the mistakes of backends, and none in right ones."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindax_core.errors import BackendError, MissingRuleError
from bindax_core.extend import as_array, register_backend, typeof, unregister_backend
from bindax_testing import BackendCall, BackendReport, NotApplicable, check_backend

for needed in ("bindax_callbacks", "bindax_lax_basic", "bindax_random"):
    pytest.importorskip(needed, reason="what backends are checked on is made of it")

sys.path.insert(0, str(Path(__file__).parent))
from _exam import backend_faults as exam  # noqa: E402


@contextmanager
def registered(backend: Any) -> Iterator[Any]:
    register_backend(backend)
    try:
        yield backend
    finally:
        unregister_backend(backend)


def checked(backend: Any, **options: Any) -> BackendReport:
    with registered(backend):
        return check_backend(backend.name, **options)


@pytest.mark.every(2)
@pytest.mark.parametrize("fault", exam.FAULTS, ids=lambda fault: fault.backend.__name__)
def test_faults_are_found_and_blamed(fault: exam.Fault) -> None:
    programs = 100 if "generated programs" in fault.checks else 0
    report = checked(
        fault.backend(), primitives=fault.primitives, checks=fault.checks, programs=programs
    )
    causes = [one for one in report.failures if not one.follows]

    assert not report.ok
    assert {one.check for one in causes} <= set(fault.checks)
    place = f"the backend 'plain' (_exam.backend_faults.{fault.backend.__name__})"
    wanted = f"{place}, at {fault.blamed}" if fault.blamed else place
    assert causes
    assert {one.rule for one in causes} == {wanted}
    assert all(fault.text in one.reason for one in causes), report


def test_failures_come_with_a_program_that_repeats_them() -> None:
    with registered(exam.WrongValue()) as backend:
        report = check_backend("plain", primitives=exam.SOME, checks=["float32"])
        (failure,) = report.failures
        assert failure.test.startswith(
            "from bindax_testing import check_backend\n\n"
            "# No package offers 'plain': register it here, before the test.\n\n\n"
            "def test_plain_sin_float32():\n"
        )
        names: dict[str, Any] = {}
        exec(failure.test, names)
        with pytest.raises(AssertionError, match=r"failed: sin, float32: the backend 'plain'"):
            names["test_plain_sin_float32"]()
    assert re.fullmatch(
        r"result 0 should be np.float32\(\S+\)( at \(0, 0\))? for \S+, but is np.float32\(\S+\): "
        r"\S+ units in the last place away, and at most 8 are allowed \(elementwise\)\.",
        failure.reason,
    )
    assert backend.name == "plain"


def test_a_right_backend_passes_and_what_was_skipped_has_a_reason() -> None:
    checks = ["bfloat16", "float32", "float64", "int32", "special values", "no fallback"]
    report = checked(exam.Plain(), primitives=exam.SOME, checks=checks)

    assert report.ok, str(report)
    assert not report.unsupported
    assert {one.dtype for one in report.measured} > {"float32", "float64", "int32"}
    assert all(one.units == 0.0 for one in report.measured)
    assert all(one.reason for one in report.of_status("skipped"))


def test_the_interface_of_a_right_backend_passes() -> None:
    checks = ["buffers", "lowered", "layouts", "aliases", "donation", "errors", "threads"]
    checks += ["results", "programs", "effects", "callbacks", "errors of callbacks"]
    report = checked(exam.Plain(), checks=[*checks, "random bits", "collectives"])

    assert report.ok, str(report)
    skipped = {one.check: one.reason for one in report.of_status("skipped")}
    assert skipped == {
        "donation": "it ignores donation: donated operands keep their values (1 of 1 cases)",
        "collectives": "the backend has one device (1 of 1 cases)",
    }
    assert "skipped: plain, donation: it ignores donation" in str(report)


class Small(exam.Plain):
    """Neither sines nor tangents are supported, and the errors say so."""

    def apply(self, primitive: Any, operands: Any, params: Any) -> list[Any]:
        if primitive.name in ("sin", "tan"):
            raise MissingRuleError(f"the backend 'plain' has no rule for {primitive.name}.")
        return super().apply(primitive, operands, params)


def test_what_is_not_supported_is_named() -> None:
    report = checked(Small(), primitives=exam.SOME, checks=["float32", "special values"])

    assert report.ok, str(report)
    said = "not supported: the backend 'plain' has no rule for"
    assert dict(report.unsupported) == {"sin": f"{said} sin.", "tan": f"{said} tan."}
    assert "\nnot supported: sin, tan\n" in f"\n{report}\n"
    cell = report.matrix["sin"]["float32"]
    assert cell["status"] == "skipped"
    assert cell["reason"].startswith(f"{said} sin.")


def test_what_is_stated_not_to_be_supported_has_to_be_that() -> None:
    said = "not supported: the backend 'plain' has no rule for"
    options: dict[str, Any] = {"primitives": exam.SOME, "checks": ["float32"]}
    assert checked(Small(), unsupported=["sin", "tan"], **options).ok
    report = checked(Small(), unsupported=["tan", "cos"], **options)

    assert {(one.primitive, one.reason) for one in report.failures} == {
        (
            "sin",
            f"it should be supported, but is {said} sin.",
        ),
        ("cos", "it is stated not to be supported, but is; remove it from `unsupported`."),
    }


def test_a_backend_may_state_other_units() -> None:
    class Stating(exam.WrongValue):
        units: Mapping[str, float] = {"sin": 10000.0}

    options: dict[str, Any] = {"primitives": exam.SOME, "checks": ["float32"]}
    report = checked(Stating(), **options)
    assert report.ok, str(report)
    assert report.matrix["sin"]["float32"]["allowed"] == 10000.0
    assert report.matrix["sin"]["float32"]["units"] > 500
    assert not checked(Stating(), units={"sin float32": 2.0}, **options).ok


class Unusual(exam.Plain):
    """The hyperbolic tangent of infinities is not a number, and there are no negative sines."""

    differences: Mapping[str, str] = {
        "tanh float32: special values": "of infinities it is nan",
        "sin": "it is not negative",
    }

    def apply(self, primitive: Any, operands: Any, params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        if primitive.name == "sin" and typeof(outs[0]).dtype.kind == "f":
            return [exam.changed(x, abs) for x in outs]
        if primitive.name == "tanh" and typeof(outs[0]).dtype == np.float32:
            infinite = np.isinf(np.asarray(operands[0]))
            return [exam.changed(x, lambda a: np.where(infinite, np.nan, a)) for x in outs]
        return outs


def test_a_backend_may_state_what_it_computes_differently() -> None:
    checks = ["float32", "float64", "special values", "generated programs"]
    options: dict[str, Any] = {"checks": checks, "programs": 3}
    stated = {**Unusual.differences, "sin: special values": "it is not negative"}
    report = checked(Unusual(), primitives=exam.SOME, differences=stated, **options)

    assert report.ok, str(report)
    assert report.differences == stated
    shown = [line for line in str(report).splitlines() if line.startswith("stated: ")]
    assert shown == [f"stated: {name}: {stated[name]}" for name in sorted(stated)]
    assert report.matrix["sin"]["float64"]["reason"].startswith("stated: it is not negative")
    assert report.as_dict()["differences"] == stated
    # What is stated of special values is no excuse for others, nor of a dtype for another one.
    for name in ("sin", "tanh float32: special values"):
        fewer = {key: how for key, how in stated.items() if key != name}
        other = {"tanh float64: special values": "of infinities it is nan"} if "32" in name else {}

        class Less(Unusual):
            differences: Mapping[str, str] = {**fewer, **other}

        wrong = checked(Less(), primitives=["sin", "tanh"], **options).failures
        assert name.partition(" ")[0] in {one.primitive for one in wrong}


def test_a_stated_difference_that_there_is_not_is_a_failure() -> None:
    stated = {
        "cos float32: special values": "of infinities it is 0",
        "exp float64": "it is rounded to even numbers",
        "tan": "it is periodic",
        "unknown float32": "nothing computes it",
    }
    checks = ["float32", "float64", "special values"]
    options: dict[str, Any] = {"primitives": ["cos", "exp", "tan"], "checks": checks}
    report = checked(exam.Plain(), differences=stated, **options)

    said = {(one.primitive, one.check): one.reason for one in report.failures}
    assert said == {
        ("cos", "special values"): (
            "cos float32 is stated to differ (of infinities it is 0), but does not; remove "
            "'cos float32: special values' from `differences`."
        ),
        ("exp", "float64"): (
            "exp float64 is stated to differ (it is rounded to even numbers), but does not; remove "
            "'exp float64' from `differences`."
        ),
        **dict.fromkeys(
            [("tan", "float32"), ("tan", "float64")],
            "tan is stated to differ (it is periodic), but does not; remove 'tan' from "
            "`differences`.",
        ),
    }
    assert not report.differences


class OtherQuotients(exam.Plain):
    """Quotients of complex numbers are computed in another way, as exactly, and then changed."""

    off = 0.0

    def apply(self, primitive: Any, operands: Any, params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        if primitive.name != "div" or typeof(outs[0]).dtype.kind != "c":
            return outs
        x, y = (np.asarray(z) for z in operands)
        y, size = y / np.abs(y), np.abs(y)
        return [as_array(np.asarray(x * y.conj() / size * (1 + self.off)).astype(x.dtype))]


def test_quotients_of_complex_numbers_cancel_to_rounding() -> None:
    programs = [4, 22, 24]
    options: dict[str, Any] = {"primitives": ["div"], "checks": ["generated programs"]}
    report = checked(OtherQuotients(), programs=programs, **options)
    assert report.ok, str(report)

    class Off(OtherQuotients):
        off = 1e-4j

    report = checked(Off(), programs=programs, **options)
    (failure,) = report.failures
    assert failure.rule.endswith("Off), at div")
    assert failure.reason.startswith("div alone is wrong")


class OtherSums(exam.Plain):
    """Sums are added up from the other end."""

    def apply(self, primitive: Any, operands: Any, params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        if primitive.name != "reduce_sum" or typeof(outs[0]).dtype != np.float32:
            return outs
        backwards = [slice(None, None, -1)] * typeof(operands[0]).ndim
        x = np.asarray(operands[0])[tuple(backwards)]
        for axis in sorted(params["axes"], reverse=True):
            x = np.add.accumulate(x, axis).take(-1, axis)
        return [as_array(x[tuple(backwards[: x.ndim])])]


def test_sums_that_cancel_are_compared_with_what_they_add_up() -> None:
    options: dict[str, Any] = {"primitives": ["reduce_sum"], "checks": ["generated programs"]}
    report = checked(OtherSums(), programs=range(4), seed=1, **options)
    assert report.ok, str(report)


class WrongTogether(exam.Plain):
    """Operations are right, and programs of several are not."""

    def evaluate(self, closed: Any, operands: Any) -> list[Any]:
        outs = super().evaluate(closed, operands)
        return outs if len(closed.jaxpr.eqns) < 4 else [as_array(np.asarray(x) + 1) for x in outs]


def test_programs_are_wrong_of_which_no_step_is() -> None:
    # One of these has no operand that vmap maps, which is around the program.
    some = ["neg", "population_count"]
    report = checked(WrongTogether(), primitives=some, checks=["generated programs"], programs=[12])
    assert "No step alone is wrong, of " in str(report)


class RoundedSums(exam.Plain):
    """Sums of exponentials are rounded in another way."""

    def apply(self, primitive: Any, operands: Any, params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        if primitive.name != "cumlogsumexp" or typeof(outs[0]).dtype != np.float32:
            return outs
        y = np.asarray(outs[0])
        is_chosen = np.isin(y, np.asarray(operands[0])) | ~np.isfinite(y)
        return [as_array(np.where(is_chosen, y, np.nextafter(y, np.float32(-9))))]


def test_special_values_may_be_rounded_where_others_are_chosen() -> None:
    # In one sample each sum is its greatest number.
    checks = ["special values"]
    report = checked(RoundedSums(), primitives=["cumlogsumexp"], checks=checks, budget=100)
    assert report.ok, str(report)


def test_names_that_do_not_exist_are_named() -> None:
    with pytest.raises(BackendError, match="there is no backend named 'none'"):
        check_backend("none")
    with pytest.raises(ValueError, match="no installed package has a primitive 'sine'"):
        check_backend("numpy", primitives=["sine"])
    with pytest.raises(ValueError, match="there is no check 'float'; there are 'bfloat16', "):
        check_backend("numpy", primitives=["sin"], checks=["float"])


def test_without_time_nothing_is_right() -> None:
    report = check_backend("numpy", primitives=exam.SOME, budget=0.0)

    assert not report.ok
    assert {one.reason for one in report.results} == {"not run: the budget was used up"}
    assert report.summary.endswith(" cases were not run; a greater budget runs them.")


def test_json_has_the_matrix_and_the_table() -> None:
    report = check_backend("numpy", primitives=exam.SOME, checks=["float32", "int32"])
    data = json.loads(json.dumps(report.as_dict()))

    assert data["matrix"]["add"]["float32"]["units"] == 0.0
    assert data["matrix"]["add"]["int32"]["kind"] == "exact"
    assert data["allowed units"]["elementwise"] == {"8": 64.0, "4": 8.0, "2": 2.0, "1": 1.0}
    assert "add" in report.as_html()


def test_the_backend_of_the_guide_passes() -> None:
    page = Path(__file__).resolve().parent.parent / "docs/guides/backend.md"
    found = re.search(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(found[1], str(page), "exec"), names)
    backend = names["ScriptBackend"]()
    report = checked(backend, primitives=exam.SOME, checks=["float32", "int32", "no fallback"])
    assert report.ok, str(report)
    assert not report.unsupported
    checks = ["buffers", "layouts", "donation", "errors", "results", "programs", "callbacks"]
    report = checked(backend, checks=checks)
    assert report.ok, str(report)


def test_checks_of_packages_can_say_that_they_do_not_apply() -> None:
    call = BackendCall("numpy")
    with pytest.raises(NotApplicable, match="not supported: "):
        call.results(lambda x: [unknown().bind(x)], np.ones(3))
    call.require_error("it", "no", refusing, np.ones(3))
    with pytest.raises(AssertionError, match=r"it: raised ValueError.*, without 'other'"):
        call.require_error("it", "other", refusing, np.ones(3))


def unknown() -> Any:
    from bindax_testing._backends._interface import _unknown

    return _unknown()


def refusing(x: Any) -> list[Any]:
    raise ValueError("no")


def test_a_compiler_passes() -> None:
    pytest.importorskip("jaxlib", reason="the compiler")
    report = check_backend("xla", checks=["callbacks", "donation", "errors of callbacks", "errors"])
    assert report.ok, str(report)
    assert not report.of_status("skipped")
