"""Costs: closed forms, the compiler's own counts, and rules of third parties."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_core.extend import primitive, rules
from bindax_inspect import Cost, inspect
from bindax_transforms import grad

X = np.ones((6, 8), np.float32)
W = np.ones((8, 8), np.float32)


def _operations(f: Callable[..., Any], *args: Any) -> float:
    return inspect(f)(*args).cost.operations


@pytest.mark.parametrize(
    ("f", "args", "operations"),
    [
        (lax.sin, (X,), 48),
        (lambda x: lax.reduce_sum(x, axes=(0,)), (X,), 40),
        (lax.dot, (X, W), 2 * 6 * 8 * 8),
        (lambda x: lax.transpose(x, (1, 0)), (X,), 0),
        (lambda x: lax.integer_pow(x, 7), (X,), 4 * 48),
        (lambda x: lax.sort(x, dimension=1), (X,), 48 * 3),
        (lambda x: lax.conv_general_dilated(x, x[:, :, :3], (1,), "VALID"), (X[None],), None),
    ],
)
def test_closed_forms(f: Callable[..., Any], args: Any, operations: float | None) -> None:
    report = inspect(f)(*args)
    assert report.cost.guessed == 0
    if operations is not None:
        assert report.cost.operations == operations


def _layer(x: Any, w: Any) -> Any:
    return lax.tanh(lax.dot(x, w))


def _loss(w: Any, x: Any) -> Any:
    return lax.reduce_sum(_layer(_layer(x, w), w), axes=(0, 1))


def _convolved(x: Any, k: Any) -> Any:
    return lax.reduce_sum(lax.conv_general_dilated(x, k, (2, 1), "SAME"), axes=(0, 1, 2, 3))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (_loss, (W, X)),
        (grad(_loss), (W, X)),
        (_convolved, (np.ones((2, 3, 9, 9), np.float32), np.ones((4, 3, 3, 5), np.float32))),
        (grad(_convolved), (np.ones((2, 3, 9, 9), np.float32), np.ones((4, 3, 3, 5), np.float32))),
    ],
)
def test_the_compiler_counts_the_same(f: Callable[..., Any], args: Any) -> None:
    pytest.importorskip("jaxlib")
    cost = inspect(f)(*args).cost
    assert cost.compiler_operations is not None
    assert cost.operations == pytest.approx(cost.compiler_operations, rel=0.05)


def test_a_third_party_gives_its_own_cost() -> None:
    twice_p = primitive(
        "test_cost.twice",
        rules.impl(lambda x: x + x),
        rules.abstract_eval(lambda x: x),
        rules.cost(lambda operands, results: Cost(7.0, bytes=3.0)),
        rules.jvp.absent("not needed here"),
        rules.vmap.absent("not needed here"),
        rules.transpose.absent("not needed here"),
        rules.lowering["stablehlo"](lambda ctx, x: x),
    )
    report = inspect(twice_p.bind)(X)
    (equation,) = report.program.equations
    assert (equation.operations, equation.bytes, report.cost.guessed) == (7.0, 3.0, 0.0)


def test_a_cost_that_is_no_number_is_an_error() -> None:
    wrong_p = primitive(
        "test_cost.wrong",
        rules.impl(lambda x: x),
        rules.abstract_eval(lambda x: x),
        rules.cost(lambda operands, results: "many"),
        rules.jvp.absent("not needed here"),
        rules.vmap.absent("not needed here"),
        rules.transpose.absent("not needed here"),
        rules.lowering["stablehlo"](lambda ctx, x: x),
    )
    message = "where a number of operations or a Cost is due"
    with pytest.raises(Exception, match=re.escape(message)):
        inspect(wrong_p.bind)(X)


def test_a_primitive_without_a_rule_is_a_guess() -> None:
    unknown_p = primitive(
        "test_cost.unknown",
        rules.impl(lambda x: x),
        rules.abstract_eval(lambda x: x),
        rules.jvp.absent("not needed here"),
        rules.vmap.absent("not needed here"),
        rules.transpose.absent("not needed here"),
        rules.lowering["stablehlo"](lambda ctx, x: x),
    )
    cost = inspect(unknown_p.bind)(X).cost
    assert cost.guessed == cost.operations == 48
