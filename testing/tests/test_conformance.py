"""Planted wrong rules are caught, and blamed on the right rule."""

from __future__ import annotations

import itertools
import sys
import time
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from planted import declare

from bindax_core.extend import (
    abstract_eval,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    typeof,
    vmap,
)
from bindax_testing import (
    ExpectedFailure,
    array,
    between,
    check_primitive,
    check_rules,
    elementwise,
    sample,
)
from bindax_transforms import jvp as jvp_of

pytestmark = pytest.mark.usefixtures("toy_operations")


def check(made: Any, **options: Any) -> Any:
    samples = [*elementwise(made), sample(made, array((2, 2), "float64"))]
    return check_rules(made, samples, budget=30.0, **{"time_limit": 5.0, **options})


def causes(report: Any) -> set[tuple[str, str]]:
    return {(one.primitive, one.kind) for one in report.failures if not one.follows}


def forever(*args: Any, **params: Any) -> Any:
    while True:
        pass


def in_place(x: Any) -> Any:
    x *= 3
    return x


COUNTER = itertools.count()

WRONG = {
    "abstract_eval disagrees": (
        "abstract_eval",
        lambda bind: abstract_eval(lambda x: x.update(shape=x.shape[::-1])),
    ),
    "impl loses the dtype": ("impl", lambda bind: impl(lambda x: 3.0 * x.astype(np.float64))),
    "impl changes its input": ("impl", lambda bind: impl(in_place)),
    "impl is not deterministic": (
        "impl",
        lambda bind: impl(lambda x: (3 * x + next(COUNTER)).astype(x.dtype)),
    ),
    "impl has another arity": ("impl", lambda bind: impl(lambda x, y: x)),
    "jvp has the wrong sign": (
        "jvp",
        lambda bind: jvp(lambda p, t: (bind(*p), bind(bind(t[0])))),
    ),
    "jvp forgets the tangent": ("jvp", lambda bind: jvp(lambda p, t: (bind(*p), t[0]))),
    "jvp has another arity": ("jvp", lambda bind: jvp(lambda p: (bind(*p), bind(*p)))),
    "jvp changes the primal": ("jvp", lambda bind: jvp(lambda p, t: (p[0], bind(*t)))),
    "transpose has the wrong factor": (
        "transpose",
        lambda bind: transpose(lambda ct, x: [bind(bind(ct))]),
    ),
    "transpose returns too much": ("transpose", lambda bind: transpose(lambda ct, x: [ct, ct])),
    "transpose returns no sequence": ("transpose", lambda bind: transpose(lambda ct, x: bind(ct))),
    "vmap has the wrong axis": (
        "vmap",
        lambda bind: vmap(lambda size, operands, dims: (bind(*operands), 0)),
    ),
    "vmap applies nothing": (
        "vmap",
        lambda bind: vmap(lambda size, operands, dims: (operands[0], dims[0])),
    ),
    "vmap has another arity": (
        "vmap",
        lambda bind: vmap(lambda size, operands: (bind(*operands), 0)),
    ),
}


def test_right_rules_pass() -> None:
    report = check(declare())

    assert report.ok, str(report)
    assert not report.failures
    kinds = {one.kind for one in report.of_status("passed")}
    assert kinds == {"impl", "abstract_eval", "jvp", "vmap", "transpose"}
    skipped = {one.check: one.reason for one in report.of_status("skipped")}
    assert skipped["compiled"] == "no compiling backend is installed"
    assert report.counts["cases run"] > 60


@pytest.mark.every(2)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_rule_is_blamed(name: str) -> None:
    kind, rule = WRONG[name]

    report = check(declare(**{kind: rule}))

    assert causes(report) == {("planted.triple", kind)}, str(report)
    first = report.failures[0]
    assert f"the {kind} rule of planted.triple" in first.rule
    assert __file__ in first.rule
    assert "planted.triple" in first.case


@pytest.mark.parametrize("kind", ["impl", "abstract_eval", "jvp", "vmap", "transpose"])
def test_infinite_loop_is_ended_and_blamed(kind: str) -> None:
    made_of = {"impl": impl, "abstract_eval": abstract_eval, "jvp": jvp, "vmap": vmap}
    rule = made_of.get(kind, transpose)(forever)
    started = time.process_time()

    report = check(declare(**{kind: rule}), time_limit=0.5)

    assert time.process_time() - started < 20.0
    assert causes(report) == {("planted.triple", kind)}, str(report)
    assert "did not end within 0.5 s" in report.failures[0].reason
    others = {one.check for one in report.of_status("passed")}
    assert kind in ("impl", "abstract_eval") or "types" in others


def test_samples_of_one_type_and_other_values_are_all_checked() -> None:
    """A mistake that shows above 5 alone, with values below 2 in the first sample."""
    made = declare(impl=impl(lambda x: np.where(x > 5, 2 * x, 3 * x).astype(x.dtype)))
    samples = [
        sample(lambda x: made.bind(x), array((2,), "float64", domain), label=label)
        for label, domain in [("small", between(0.0, 1.0)), ("large", between(6.0, 7.0))]
    ]

    report = check_rules(made, samples, budget=30.0)

    assert any("large" in str(failure) for failure in report.failures), str(report)


def test_primitive_without_samples_fails() -> None:
    report = check_rules(declare(), [])

    assert not report.ok
    assert "no sample reaches planted.triple" in report.failures[0].reason


def test_rule_that_no_sample_exercises_fails() -> None:
    made = declare()
    integers = [sample(made, array((3,), "int32"))]

    report = check_rules(made, integers)

    found = {one.check: one for one in report.failures}
    assert set(found) == {"coverage of jvp", "coverage of transpose"}
    assert "no sample exercises the rule" in found["coverage of transpose"].reason


def test_sample_that_raises_is_reported_and_the_rest_goes_on() -> None:
    made = declare()

    def broken(x: Any) -> Any:
        raise ValueError("no such thing")

    def draw(rng: Any, shape: Any, dtype: Any) -> Any:
        raise ValueError("no values")

    bad = [sample(broken, array()), sample(made, array((9,), domain=draw)), "nonsense"]
    report = check_rules(made, [*elementwise(made), *bad])

    reasons = [one.reason for one in report.failures]
    assert len(reasons) == 3
    assert any("no such thing" in reason for reason in reasons)
    assert any("no values" in reason for reason in reasons)
    assert any("is no Sample, ExpectedFailure, EquivalentMutant" in reason for reason in reasons)
    assert len(report.of_status("passed")) > 10


def test_expected_failure_is_strict() -> None:
    kind, rule = WRONG["vmap applies nothing"]
    known = [
        ExpectedFailure("planted.triple", name, "issue 1")
        for name in (
            "vmap",
            "nested vmap",
            "batch sizes",
            "vmap special values",
            "derivatives of vmap",
        )
    ]
    wrong, right = declare(**{kind: rule}), declare()

    report = check_rules(wrong, [*elementwise(wrong), *known])
    assert report.ok, str(report)
    assert all("issue 1" in one.reason for one in report.of_status("expected failure"))

    report = check_rules(right, [*elementwise(right), *known])
    assert {one.check for one in report.failures} == {one.check for one in known}
    assert all("remove the ExpectedFailure" in one.reason for one in report.failures)


def test_unhashable_parameter_is_named() -> None:
    same = abstract_eval(lambda x, *, table: x)
    made = declare(impl=impl(lambda x, *, table: 3 * x), abstract_eval=same)

    report = check_rules(made, [sample(made, array((2,)), table=[1])])

    found = {one.check: one for one in report.failures}
    assert "table=[1] cannot be hashed" in found["parameters"].reason


def test_failure_prints_a_small_test_that_fails_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, rule = WRONG["jvp has the wrong sign"]
    made = declare(**{kind: rule})
    big = [sample(made, array((4, 5, 6), "float64"))]

    first = check_rules(made, big).failures[0]

    assert "[1,1,1]" in first.case
    monkeypatch.setattr(sys, "path", list(sys.path))  # the test adds the directory of this file
    namespace: dict[str, Any] = {}
    exec(first.test, namespace)
    with pytest.raises(AssertionError, match="the jvp rule of planted"):
        namespace["test_planted_triple_jvp"]()


def test_one_check_on_given_operands() -> None:
    draws = [[np.array([1.0, 2.0])], [np.array([3.0, 4.0])]]
    check_primitive(declare(), "vmap", draws)

    with pytest.raises(ValueError, match="there is no check 'vmaps'"):
        check_primitive(declare(), "vmaps", draws)
    with pytest.raises(AssertionError, match="the vmap rule of planted"):
        check_primitive(declare(vmap=WRONG["vmap applies nothing"][1]), "vmap", draws)


def test_small_budget_says_what_was_left_out() -> None:
    made = declare()
    report = check_rules(made, elementwise(made), budget=0.0)

    assert report.of_status("not run")
    assert "a greater budget runs more" in report.summary


def test_same_seed_gives_the_same_report() -> None:
    made = declare(transpose=WRONG["transpose has the wrong factor"][1])
    one, other = [[str(f) for f in check(made, seed=7).failures] for _ in range(2)]

    assert one == other


def test_consequences_of_a_wrong_rule_are_not_blamed_on_others(toy_operations: None) -> None:
    inner = declare(transpose=WRONG["transpose has the wrong factor"][1])
    outer = primitive(
        "planted.user",
        impl(lambda x: (3 * x).astype(x.dtype)),
        abstract_eval(lambda x: x),
        jvp(lambda p, t: (outer.bind(*p), inner.bind(*t))),
        vmap(lambda size, operands, dims: (outer.bind(*operands), dims[0])),
        transpose.absent("not tested"),
        lowering["stablehlo"].absent("not tested"),
    )

    report = check_rules([inner, outer], [*elementwise(inner), *elementwise(outer)])

    assert causes(report) == {("planted.triple", "transpose")}
    assert {one.primitive for one in report.failures} == {"planted.triple", "planted.user"}


def test_reports_for_machines() -> None:
    report = check(declare(vmap=WRONG["vmap applies nothing"][1]))

    suite = ET.fromstring(report.as_junit()).find("testsuite")
    assert suite is not None
    assert int(suite.attrib["failures"]) == len(report.failures)
    assert len(suite) == len(report.results)
    assert report.as_dict()["counts"]["failed"] == len(report.failures)
    page = report.as_html()
    assert page.count('class="failed"') == len(report.failures) + 1  # and the legend
    assert "planted.triple" in page


def test_operands_of_samples() -> None:
    from bindax_testing import POSITIVE, UNIT_INTERVAL, away_from, between

    rng = np.random.default_rng(0)
    for domain, low, high in ((POSITIVE, 0, 9), (UNIT_INTERVAL, 0, 1), (between(3, 4), 3, 4)):
        drawn = array((50,), "float32", domain).draw(rng)
        assert drawn.min() > low - 1e-6
        assert drawn.max() < high + 1e-6
        assert len(np.unique(drawn)) == 50
    away = array((200,), "float64", away_from(0.0, 1.0, margin=0.2)).draw(rng)
    assert np.abs(away).min() >= 0.2
    assert set(np.unique(array((99,), "int32", between(1, 3)).draw(rng))) == {1, 2, 3}
    assert array((3,), "complex64").draw(rng).dtype == np.complex64
    assert typeof(array((), "bool").draw(rng)).dtype == np.bool_


# --------------------------------------------------------------- rules that keep, lie, or are odd

KEPT: list[Any] = []
CACHE = np.zeros(0)


def cached(x: Any) -> Any:
    """A result in memory that the next call overwrites."""
    global CACHE
    if CACHE.shape != x.shape or CACHE.dtype != x.dtype:
        CACHE = np.empty_like(x)
    np.multiply(x, 3, out=CACHE)
    return CACHE


def keeping(function: Any) -> Any:
    def rule(*args: Any, **params: Any) -> Any:
        KEPT.append(args)
        return function(*args, **params)

    return rule


ODD: dict[str, tuple[str, Any]] = {
    "impl keeps its operand": (
        "impl",
        lambda bind: impl(keeping(lambda x: (3 * x).astype(x.dtype))),
    ),
    "impl writes to its last result": ("impl", lambda bind: impl(cached)),
    "impl returns objects": ("impl", lambda bind: impl(lambda x: (3 * x).astype(object))),
    "impl returns None": ("impl", lambda bind: impl(lambda x: None)),
    "impl returns a generator": ("impl", lambda bind: impl(lambda x: (y for y in 3 * x))),
    "impl raises": ("impl", lambda bind: impl(lambda x: x.no_such_method())),
    "impl calls itself": ("impl", lambda bind: impl(lambda x: bind(x))),
    "abstract_eval lies about the dtype": (
        "abstract_eval",
        lambda bind: abstract_eval(lambda x: x.update(dtype=np.dtype("int8"))),
    ),
    "abstract_eval returns None": ("abstract_eval", lambda bind: abstract_eval(lambda x: None)),
    "abstract_eval returns a list": ("abstract_eval", lambda bind: abstract_eval(lambda x: [x])),
    "abstract_eval is a weak type": (
        "abstract_eval",
        lambda bind: abstract_eval(lambda x: x.update(weak_type=True)),
    ),
    "jvp keeps its tangent": (
        "jvp",
        lambda bind: jvp(keeping(lambda p, t: (bind(*p), bind(*t)))),
    ),
    "jvp returns a generator": ("jvp", lambda bind: jvp(lambda p, t: (bind(x) for x in (*p, *t)))),
    "jvp returns None": ("jvp", lambda bind: jvp(lambda p, t: None)),
    "jvp calls itself": ("jvp", lambda bind: jvp(lambda p, t: jvp_of(bind, p, t))),
    "vmap keeps its operand": (
        "vmap",
        lambda bind: vmap(keeping(lambda size, xs, dims: (bind(*xs), dims[0]))),
    ),
    "vmap has an axis out of range": (
        "vmap",
        lambda bind: vmap(lambda size, xs, dims: (bind(*xs), 7)),
    ),
    "vmap has an axis counted from behind": (
        "vmap",
        lambda bind: vmap(lambda size, xs, dims: (bind(*xs), dims[0] - typeof(xs[0]).ndim - 1)),
    ),
    "vmap has no axis": ("vmap", lambda bind: vmap(lambda size, xs, dims: (bind(*xs), None))),
    "vmap returns lists": ("vmap", lambda bind: vmap(lambda size, xs, dims: ([bind(*xs)], dims))),
    "transpose keeps its cotangent": (
        "transpose",
        lambda bind: transpose(keeping(lambda ct, x: [bind(ct)])),
    ),
    "transpose returns None": ("transpose", lambda bind: transpose(lambda ct, x: None)),
    "transpose returns no cotangent": ("transpose", lambda bind: transpose(lambda ct, x: [None])),
    "transpose returns a generator": (
        "transpose",
        lambda bind: transpose(lambda ct, x: (bind(c) for c in (ct,))),
    ),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ODD)
def test_odd_rule_is_blamed(name: str) -> None:
    kind, rule = ODD[name]
    made = declare(**{kind: rule})
    report = check_rules(made, elementwise(made, shapes=((2, 3), ())), budget=30.0)
    KEPT.clear()
    assert causes(report) == {("planted.triple", kind)}, str(report)


def test_rule_that_keeps_an_operand_is_told_so() -> None:
    made = declare(vmap=ODD["vmap keeps its operand"][1])
    report = check_rules(made, [sample(made, array((3,)))], budget=30.0)
    KEPT.clear()
    (failure,) = [one for one in report.failures if not one.follows]
    assert failure.check == "vmap"
    assert failure.reason.startswith("keeps an operand after its call: a traced value that it was")


# ------------------------------------------------------------------------------- not checked


def test_rule_whose_values_are_compared_with_nothing_is_not_checked() -> None:
    """A wrong derivative that no difference can show, since the primitive takes halves alone."""

    def halves(x: Any) -> Any:
        if x.dtype != np.float16:
            raise TypeError("halves alone")
        return x

    wrong = jvp(lambda p, t: (made.bind(*p), t[0]))
    made = declare(abstract_eval=abstract_eval(halves), jvp=wrong, transpose=transpose.absent("x"))
    report = check_rules(made, [sample(made, array((3,), "float16"))], budget=30.0)

    assert not report.ok
    assert not report.failures
    (one,) = report.unchecked
    assert (one.check, one.kind, one.status) == ("jvp", "jvp", "not checked")
    assert "types only: its values have no derivative to compare with here" in one.reason
    shown = str(report)
    assert "not checked: planted.triple, jvp: the jvp rule of planted.triple, from" in shown
    assert "1 not checked" in report.summary
    assert "not checked: types only" in report.as_junit()
    assert "! not checked" in report.as_html()


def test_check_that_a_sample_leaves_out_is_said() -> None:
    made = declare(jvp=WRONG["jvp has the wrong sign"][1])
    skip = dict.fromkeys(("jvp", "reverse", "second order"), "not now")
    samples = [sample(made, array((3,), "float64"), skip=skip)]
    report = check_rules(made, samples, budget=30.0)
    assert "not now (1 of 1 cases)" in [one.reason for one in report.unchecked]
    assert report.ok, str(report)
