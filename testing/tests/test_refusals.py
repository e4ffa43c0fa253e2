"""Inputs that have to raise: what takes them, or says something else, is named."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import primitive, rules
from bindax_testing import array, check_rules, elementwise, refusal, refused_dtypes, sample


def declare(name: str, of_type: Any) -> Any:
    made = primitive(
        name,
        rules.impl(lambda x: 2 * x),
        rules.abstract_eval(of_type),
        rules.jvp(lambda p, t: (made.bind(*p), made.bind(*t))),
        rules.vmap(lambda size, xs, dims: (made.bind(*xs), dims[0])),
        rules.transpose(lambda ct, x: [made.bind(ct)]),
        rules.lowering["stablehlo"].absent("a test"),
    )
    return made


def of_floats(x: Any) -> Any:
    if x.dtype.kind != "f":
        raise TypeError(f"twice does not accept the dtype {x.dtype}.")
    return x


def of_anything(x: Any) -> Any:
    return x


def of_singles(x: Any) -> Any:
    if x.dtype != np.float32:
        raise KeyError("no such entry")
    return x


ACCEPTS = ("float16", "float32", "float64")


def results(made: Any) -> dict[str, Any]:
    given = [sample(made, array((2,))), *refused_dtypes(made, accepts=ACCEPTS, match="the dtype")]
    report = check_rules(made, given, budget=20)
    return {one.check: one for one in report.results if one.check.startswith("refusal: ")}


def test_dtypes_in_both_directions() -> None:
    made = declare("refusals.right", of_floats)
    given = [*elementwise(made, dtypes=ACCEPTS, shapes=[(2,)])]

    report = check_rules(made, [*given, *refused_dtypes(made, accepts=ACCEPTS)], budget=30)

    refused = [one for one in report.results if one.check.startswith("refusal: ")]
    assert report.ok, str(report)
    assert len(refused) >= 11  # without that of another package
    assert {one.status for one in refused} == {"passed"}


def test_what_is_taken_is_named() -> None:
    one = results(declare("refusals.anything", of_anything))["refusal: refusals.anything-int8[2]"]

    assert one.status == "failed"
    assert one.rule.startswith("the abstract_eval rule of refusals.anything")
    assert one.reason == (
        "takes (int8[2]) with values, which it has to refuse with a text that matches 'the dtype'."
    )


def test_errors_of_other_classes() -> None:
    one = results(declare("refusals.singles", of_singles))["refusal: refusals.singles-bool[2]"]

    assert (
        one.reason == "raises no TypeError or ValueError with values, but KeyError: 'no such entry'"
    )


def test_other_texts() -> None:
    made = declare("refusals.text", of_floats)
    wrong = refusal(made, array((2,), "int32"), match="float32 or float64", errors=TypeError)

    report = check_rules(made, [sample(made, array((2,))), wrong], budget=20)

    (failure,) = report.failures
    assert failure.reason == (
        "raises TypeError: twice does not accept the dtype int32. with values, where nothing "
        "matches 'float32 or float64'."
    )


def test_functions_that_stage_what_they_refuse() -> None:
    def loose(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            raise ValueError("no arrays")
        return x

    made = declare("refusals.function", of_floats)
    given = [sample(made, array((2,))), refusal(loose, array((2,)), match="no arrays")]

    (failure,) = check_rules(made, given, budget=20).failures

    assert failure.reason.startswith("takes (float32[2]) when it is staged, which it has to refuse")
