"""Whatever an author gets wrong is a failure that names the culprit, and the rest is checked."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from planted import declare

from bindax_core.extend import abstract_eval, impl, jvp, lowering, primitive, transpose, vmap
from bindax_testing import array, check_rules, elementwise, sample

pytestmark = pytest.mark.usefixtures("toy_operations")
COUNTER = itertools.count()
KINDS = {"impl": impl, "abstract_eval": abstract_eval, "jvp": jvp, "vmap": vmap}


def in_place(x: Any) -> Any:
    x *= 3
    return x


def forever(*args: Any, **params: Any) -> Any:
    while True:
        pass


def zeroed(size: int, operands: Any, dims: Any) -> Any:
    np.asarray(operands[0])[...] = 0
    return operands[0], dims[0]


BAD = {
    "impl takes too much": ("impl", lambda bind: lambda x, y: x, "missing 1 required"),
    "impl returns too much": (
        "impl",
        lambda bind: lambda x: (x, x),
        "abstract_eval says that result 0 is",
    ),
    "abstract_eval takes too little": ("abstract_eval", lambda bind: lambda: None, "0 positional"),
    "jvp takes too little": ("jvp", lambda bind: lambda primals: primals, "too many positional"),
    "jvp returns too little": ("jvp", lambda bind: lambda p, t: (bind(*p),), "a tuple of 1"),
    "vmap takes too little": ("vmap", lambda bind: lambda size, xs: xs, "too many positional"),
    "transpose takes too little": ("transpose", lambda bind: lambda ct: [ct], "takes 1 positional"),
    "transpose returns too much": (
        "transpose",
        lambda bind: lambda ct, x: [ct, ct],
        "one entry for each of the 1 operands",
    ),
    "impl is not deterministic": (
        "impl",
        lambda bind: lambda x: (3 * x + next(COUNTER)).astype(x.dtype),
        "is not deterministic",
    ),
    "abstract_eval is not deterministic": (
        "abstract_eval",
        lambda bind: lambda x: x.update(weak_type=bool(next(COUNTER) % 2)),
        "gives another type when it is asked again",
    ),
    "jvp is not deterministic": (
        "jvp",
        lambda bind: lambda p, t: (bind(*p), bind(t[0] * float(next(COUNTER)))),
        "the tangent of result 0",
    ),
    "impl changes its input": ("impl", lambda bind: in_place, "changes its operand 0 in place"),
    "vmap changes its input": ("vmap", lambda bind: zeroed, "changes its operand 0 in place"),
    "impl never ends": ("impl", lambda bind: forever, "did not end within 2 s"),
    "vmap never ends": ("vmap", lambda bind: forever, "did not end within 2 s"),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", BAD)
def test_the_culprit_is_named_and_the_rest_is_checked(name: str) -> None:
    kind, rule, text = BAD[name]
    declared = {**KINDS, "transpose": transpose}[kind]
    bad, good = declare(**{kind: lambda bind: declared(rule(bind))}), declare(name="planted.good")
    samples = [*elementwise(bad), *elementwise(good)]

    # A machine that is busy with other things may need seconds for what takes none.
    limit = 2.0 if name.endswith("never ends") else 30.0
    report = check_rules([bad, good], samples, budget=60.0, time_limit=limit)

    causes = [one for one in report.failures if not one.follows]
    assert {(one.primitive, one.kind) for one in causes} == {(bad.name, kind)}, str(report)
    assert f"the {kind} rule of {bad.name}" in causes[0].rule
    assert __file__ in causes[0].rule
    assert any(text in one.reason for one in causes), str(report)
    others = [one for one in report.results if one.primitive == good.name]
    assert {one.status for one in others} == {"passed", "skipped"}
    assert sum(one.status == "passed" for one in others) > 12


def test_primitive_without_samples() -> None:
    bare, good = declare(name="planted.bare"), declare(name="planted.good")

    report = check_rules([bare, good], elementwise(good))

    assert {one.primitive for one in report.failures} == {bare.name}
    assert f"no sample reaches {bare.name}" in report.failures[0].reason
    assert any(one.primitive == good.name for one in report.of_status("passed"))


def test_rule_that_is_never_called() -> None:
    made: Any = primitive(
        "planted.constant",
        impl(lambda: np.float32(1.0)),
        abstract_eval(lambda: array(()).aval),
        jvp(lambda primals, tangents: (made.bind(), None)),
        vmap.absent("it has no operand"),
        transpose.absent("it has no operand"),
        lowering["stablehlo"].absent("tested without a compiler"),
    )

    report = check_rules(made, [sample(made)])

    found = {one.check: one.reason for one in report.failures}
    assert "jvp.absent('it has no operand')" in found["coverage of jvp"]
    assert "is never called, because planted.constant has no operands" in found["coverage of jvp"]


def test_primitive_that_cannot_be_called() -> None:
    made: Any = primitive(
        "planted.collective",
        impl.absent("its axis is gone when values come"),
        abstract_eval(lambda x: x),
        jvp(lambda primals, tangents: (made.bind(*primals), made.bind(*tangents))),
        vmap(lambda size, operands, dims: (operands[0], dims[0])),
        transpose(lambda ct, x: [made.bind(ct)]),
        lowering["stablehlo"].absent("its axis is gone in programs"),
    )

    report = check_rules(made, [])

    assert report.ok
    assert {one.status for one in report.results} == {"skipped"}
    reason = "it cannot be called on values: its axis is gone when values come"
    assert {one.reason for one in report.results} == {reason}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            np.ones(3),
            r"operand 1 of a sample is the value float64\[3\], but .*: write array\(\(3,\), 'float",
        ),
        (2.0, r"operand 1 of a sample is the value .*write array\(\(\), 'float64'\)"),
        ("x", r"operand 1 of a sample must be made by array\(shape, dtype\), but is 'x'\."),
        ((2, 3), r"operand 1 of a sample must be made by array\(shape, dtype\), but is \(2, 3\)"),
    ],
)
def test_values_where_a_sample_takes_types(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        sample(abs, array((2,)), given)
