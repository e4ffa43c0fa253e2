"""Rules that go through kinks which their function does not have are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindax_core.extend import (
    Primitive,
    Tracer,
    abstract_eval,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
)
from bindax_lax_basic import abs, add, exp, logistic, mul, neg, sign, sub
from bindax_lax_basic.extend import elementwise_batch
from bindax_testing import array, check_rules, sample


def _by_abs(x: Any, y: Any) -> Any:
    """The share of ``y`` in ``logaddexp``, by functions that have kinks."""
    less = exp(neg(abs(sub(y, x))))
    part = less / (1 + less)
    return 0.5 * (1 + mul(sign(sub(y, x)), 1 - 2 * part))


SHARES = {
    "smooth": lambda x, y: logistic(sub(y, x)),
    "second derivative": _by_abs,
    "first derivative": lambda x, y: logistic(sub(y, x)) * (1 - (abs(sub(y, x)) == 0)),
}


def _planted(share: Any) -> Primitive:
    def rule(primals: Any, tangents: Any) -> Any:
        x, y = primals
        parts = mul(share(y, x), tangents[0]), mul(share(x, y), tangents[1])
        return made.bind(x, y), add(*parts)

    made = primitive(
        "planted.logaddexp",
        impl(lambda x, y: np.logaddexp(x, y)),
        abstract_eval(lambda x, y: x),
        jvp(rule),
        elementwise_batch(),
        transpose.absent("not linear"),
        lowering["stablehlo"].absent("tested without a compiler"),
    )
    return made


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", SHARES)
def test_kinks_in_rules_are_reported(kind: str) -> None:
    made = _planted(SHARES[kind])
    report = check_rules([made], [sample(made, array((4,), "float64"), array((4,), "float64"))])

    failures = {one.check: one for one in report.failures}
    if kind == "smooth":
        assert not failures
        return
    assert set(failures) == {"special points"}
    order = "first" if kind == "first derivative" else "second"
    text = str(failures["special points"])
    assert f"the {order} derivative of element 0 of the results is " in text
    assert "so its derivative must not go through one (abs, max, sign, where)" in text


def test_a_rule_that_raises_at_a_special_point_is_reported() -> None:
    def share(x: Any, y: Any) -> Any:
        values = [z.concrete() if isinstance(z, Tracer) else z for z in (x, y)]
        if all(z is not None for z in values) and np.any(np.equal(*map(np.asarray, values))):
            raise ZeroDivisionError("x - y is 0")
        return logistic(sub(y, x))

    made = _planted(share)
    report = check_rules([made], [sample(made, array((4,), "float64"), array((4,), "float64"))])
    assert "special points" in {one.check for one in report.failures}
