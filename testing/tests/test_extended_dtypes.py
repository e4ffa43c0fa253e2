"""Operands and results of extended dtypes are drawn, compared and batched like numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bindax_core.extend import (
    ExtendedDType,
    Primitive,
    Zero,
    abstract_eval,
    extended_dtype,
    impl,
    jvp,
    lowering,
    physical_array,
    primitive,
    transpose,
    vmap,
)
from bindax_testing import Sample, array, check_rules, sample

POINT: ExtendedDType = extended_dtype("planted.point", np.uint32, (2,))


def reflected(points: Any) -> Any:
    """The points with their coordinates exchanged."""
    out = points.copy()
    physical_array(out)[...] = physical_array(points)[..., ::-1]
    return out


def declare(**wrong: Any) -> Primitive:
    """Exchange the coordinates of points, with some rules replaced by wrong ones."""

    def without_tangent(primals: Any, tangents: Any) -> Any:
        out = made.bind(*primals)
        return out, Zero.like(out)

    rules = {
        "impl": impl(reflected),
        "abstract_eval": abstract_eval(lambda points: points),
        "jvp": jvp(without_tangent, symbolic_zeros=True),
        "vmap": vmap(lambda size, operands, dims: (made.bind(*operands), dims[0])),
        "transpose": transpose.absent("points have no cotangents"),
        "lowering": lowering["stablehlo"].absent("tested without a compiler"),
    }
    made: Primitive = primitive("planted.reflect", *(rules | wrong).values())
    return made


def samples(made: Primitive) -> Iterator[Sample]:
    for shape in ((), (3,), (2, 3), (0,)):
        yield sample(made, array(shape, POINT))


def in_place(points: Any) -> Any:
    physical_array(points)[...] = physical_array(points)[..., ::-1]
    return points


def untouched(size: int, operands: Any, dims: Any) -> Any:
    return operands[0], dims[0]


WRONG = {
    "impl changes its input": (impl(in_place), "impl", "changes its operand 0 in place"),
    "impl gives words": (
        impl(lambda points: physical_array(points).copy()),
        "impl",
        "abstract_eval says that result 0 is planted.point",
    ),
    "vmap does nothing": (vmap(untouched), "vmap", "vmap with in_axes=(0,): result 0 should be"),
}


def test_right_rules_pass() -> None:
    made = declare()

    report = check_rules(made, samples(made))

    report.raise_if_failed()
    passed = {one.check for one in report.of_status("passed")}
    assert {"types", "purity", "threads", "vmap", "nested vmap", "interpreted jit"} <= passed
    about = {one.check: one.reason for one in report.of_status("skipped")}
    assert "no operand has a tangent" in about["linearize"]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_found(name: str) -> None:
    rule, kind, text = WRONG[name]
    made = declare(**{name.partition(" ")[0]: rule})

    report = check_rules(made, samples(made))

    assert kind in {one.kind for one in report.failures if not one.follows}, str(report)
    assert any(text in one.reason for one in report.failures), str(report)


def test_operands_are_drawn_from_the_whole_range() -> None:
    rng = np.random.default_rng(0)

    drawn = array((1000,), POINT).draw(rng)

    assert drawn.dtype == POINT
    assert drawn.shape == (1000,)
    words = drawn.physical().numpy()
    assert words.shape == (1000, 2)
    assert len(np.unique(words)) > 1990
    assert words.max() > 2**31


def test_a_domain_gives_the_array_that_represents_the_operand() -> None:
    def counted(rng: Any, shape: Any, dtype: Any) -> Any:
        return np.arange(np.prod(shape), dtype=dtype).reshape(shape)

    drawn = array((2,), POINT, counted).draw(np.random.default_rng(0))

    assert drawn.physical().numpy().tolist() == [[0, 1], [2, 3]]
    with pytest.raises(TypeError, match=r"must give uint32\[2,2\], but gave int64\[2\]"):
        array((2,), POINT, lambda *_: np.arange(2)).draw(np.random.default_rng(0))
