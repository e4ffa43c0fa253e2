"""References with bounds in units in the last place, and smaller cases inside of domains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planted import declare

from bindax_core.extend import abstract_eval, impl, jvp, lowering, primitive, transpose, vmap
from bindax_testing import Domain, array, between, check_rules, elementwise, sample
from bindax_testing._units import units_apart

pytestmark = pytest.mark.usefixtures("toy_operations")


def declared_log(**rules: Any) -> Any:
    def bind(x: Any) -> Any:
        return made.bind(x)

    made = primitive(
        "planted.log",
        rules.get("impl", impl(np.log)),
        abstract_eval(lambda x: x),
        rules.get("jvp", jvp(lambda p, t: (bind(*p), t[0] / p[0]))),
        vmap(lambda size, xs, dims: (bind(*xs), dims[0])),
        transpose.absent("not linear"),
        lowering["stablehlo"].absent("tested without a compiler"),
    )
    return made


def test_values_within_the_bound_of_a_reference() -> None:
    made = declared_log()
    samples = [sample(made, array((3,), domain=between(0.5, 2.0)), reference=np.log, ulps=4)]

    report = check_rules(made, samples, budget=20.0)

    assert [one.status for one in report.results if one.check == "reference"] == ["passed"]


def test_values_beyond_the_bound_of_a_reference() -> None:
    made = declared_log(impl=impl(lambda x: np.log(x) * np.float32(1 + 1e-6)))
    samples = [sample(made, array((3,), domain=between(1.5, 2.0)), reference=np.log, ulps=2)]

    report = check_rules(made, samples, budget=20.0)

    (failure,) = [one for one in report.failures if one.check == "reference"]
    assert "units in the last place from" in failure.reason
    assert "by its reference; at most 2 are stated." in failure.reason


def test_without_a_reference_there_is_no_such_check() -> None:
    report = check_rules(declare(), elementwise(declare()), budget=1.0)

    assert "reference" not in {one.check for one in report.results}


@pytest.mark.parametrize(
    ("got", "wanted", "units"),
    [(1.0, 1.0, 0), (np.nan, np.nan, 0), (np.inf, np.inf, 0), (1.0, np.nan, np.inf)],
)
def test_units_apart(got: float, wanted: float, units: float) -> None:
    assert units_apart(np.array([got], np.float32), np.array([wanted])).tolist() == [units]


def test_smaller_cases_stay_in_the_domain() -> None:
    made = declared_log(jvp=jvp(lambda p, t: (made.bind(*p), t[0])))
    domain = between(0.2, 0.45)  # rounded to whole numbers it would be 0

    report = check_rules(made, [sample(made, array((3,), "float64", domain))], budget=20.0)

    (failure,) = [one for one in report.failures if one.check == "jvp"]
    (value,) = [line for line in failure.test.splitlines() if "np.array" in line]
    assert 0.2 <= float(value.partition("([")[2].partition("]")[0]) <= 0.45


@pytest.mark.parametrize(
    ("domain", "values", "inside"),
    [
        (Domain(0.0, 1.0), [0.0, 1.0], True),
        (Domain(0.0, 1.0), [0.0, 1.1], False),
        (Domain(avoid=(0.0,)), [0.05], False),
        (Domain(0.0, 1.0), [0.5 + 2.0j], False),
    ],
)
def test_what_a_domain_contains(domain: Domain, values: Any, inside: bool) -> None:
    assert domain.contains(np.array(values)) == inside
