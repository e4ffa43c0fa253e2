"""A parameter that a primitive's package adds later breaks no rule that another package has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from bindax_core import typecheck_jaxpr
from bindax_core.errors import MissingRuleError
from bindax_core.extend import (
    Extension,
    Primitive,
    RuleKind,
    ShapedArray,
    abstract_eval,
    extend,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    vmap,
)
from bindax_transforms import make_jaxpr
from bindax_transforms import vmap as vectorize

HERE = "the rule is not what this is about"


def _impl(x: Any, *, factor: float, mode: str = "exact") -> Any:
    return np.asarray(x * factor if mode == "exact" else np.round(x * factor), dtype=x.dtype)


def _types(x: ShapedArray, *, factor: float, mode: str = "exact") -> ShapedArray:
    return x


@pytest.fixture
def scale_p() -> Primitive:
    """A primitive of version 2 of its package, which added ``mode``."""
    return primitive(
        "test.scale",
        impl(_impl),
        abstract_eval(_types),
        jvp.absent(HERE),
        vmap.elsewhere("other-package"),
        transpose.absent(HERE),
        lowering["stablehlo"].absent(HERE),
    )


def install(extension: Extension) -> None:
    for rule in extension.rules:
        rule.kind.install(extension.primitive, rule)


def batched(scale_p: Primitive) -> Any:
    """A rule of another package, written for version 1: it knows ``factor`` alone."""

    def rule(
        axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], *, factor: float
    ) -> tuple[Any, int | None]:
        (x,), (dim,) = operands, dims
        return scale_p.bind(x, factor=factor), dim

    return rule


def test_rule_is_used_while_the_new_parameter_has_its_default(scale_p: Primitive) -> None:
    install(extend(scale_p, vmap(batched(scale_p))))
    xs = np.arange(3.0)

    def by_default(x: Any) -> Any:
        return scale_p.bind(x, factor=2.0, mode="exact")

    np.testing.assert_array_equal(np.asarray(vectorize(by_default)(xs)), 2 * xs)
    np.testing.assert_array_equal(
        np.asarray(vectorize(vectorize(by_default))(xs[None])), 2 * xs[None]
    )
    closed = make_jaxpr(vectorize(by_default))(xs)
    typecheck_jaxpr(closed.jaxpr)
    assert "test.scale" in str(closed)


def test_callers_of_the_old_primitive_go_on(scale_p: Primitive) -> None:
    install(extend(scale_p, vmap(batched(scale_p))))

    assert float(scale_p.bind(1.5, factor=2.0)) == 3.0
    out = vectorize(lambda x: scale_p.bind(x, factor=2.0))(np.arange(3.0))
    np.testing.assert_array_equal(np.asarray(out), [0.0, 2.0, 4.0])


def test_rule_is_not_used_where_it_would_be_wrong(scale_p: Primitive) -> None:
    install(extend(scale_p, vmap(batched(scale_p))))
    message = (
        r"the vmap rule for test.scale from .*test_newer_parameters.* does not take the parameter "
        r"'mode', which is 'rounded' here: without it the rule holds for mode='exact' alone"
    )

    with pytest.raises(MissingRuleError, match=message):
        vectorize(lambda x: scale_p.bind(x, factor=2.0, mode="rounded"))(np.arange(3.0))


def test_equal_values_of_other_types_are_not_the_default(scale_p: Primitive) -> None:
    # 1 == True, and an operation may mean different things by them.
    cost = RuleKind("test_cost")
    counted_p = primitive(
        "test.counted",
        impl(lambda x, *, keep=True: x),
        abstract_eval(lambda x, *, keep=True: x),
        *(kind.absent(HERE) for kind in (jvp, vmap, transpose, lowering["stablehlo"])),
    )
    install(extend(counted_p, cost(lambda x: x.size)))

    aval = ShapedArray((3,), np.dtype("float32"))
    assert cost.get(counted_p)(aval, keep=True) == 3
    with pytest.raises(MissingRuleError, match="'keep', which is 1 here"):
        cost.get(counted_p)(aval, keep=1)


def test_rules_that_take_everything_stay_as_they_are(scale_p: Primitive) -> None:
    def takes_all(axis_size: int, operands: Any, dims: Any, **params: Any) -> Any:
        return scale_p.bind(*operands, **params), dims[0]

    def takes_mode(axis_size: int, operands: Any, dims: Any, *, factor: float, mode: str) -> Any:
        return scale_p.bind(*operands, factor=factor, mode=mode), dims[0]

    for function in (takes_all, takes_mode):
        (rule,) = extend(scale_p, vmap(function)).rules
        assert rule.function is function


def test_a_parameter_that_was_always_needed_is_still_an_error(scale_p: Primitive) -> None:
    def takes_nothing(axis_size: int, operands: Any, dims: Any) -> Any:
        return scale_p.bind(*operands, factor=1.0), dims[0]

    install(extend(scale_p, vmap(takes_nothing)))

    with pytest.raises(TypeError, match="factor"):
        vectorize(lambda x: scale_p.bind(x, factor=2.0))(np.arange(3.0))
