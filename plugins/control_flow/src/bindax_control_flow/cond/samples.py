"""Samples for the conformance suite: conditionals with linear, smooth or constant branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow.cond.cond import cond, switch
from bindax_control_flow.cond.platform_dependent import platform_dependent
from bindax_control_flow.scan.scan import scan
from bindax_control_flow.while_loop.while_loop import while_loop
from bindax_testing import Sample, array, between, sample
from bindax_transforms import custom_jvp

INDEX = array((), "int32", between(0, 2))
PRED = array((), "bool")
_FORWARD = {"reverse": "what a tangent chooses has no transpose"}
_TRANSPOSES = {"transpose": "the branch is linear at these values, the others are not"}


def _linear(pred: Any, x: Any, y: Any) -> Any:
    return cond(pred, lambda x, y: (x, y), lambda x, y: (lax.neg(y), lax.add(x, y)), x, y)


def _scaled(pred: Any, scale: Any, x: Any) -> Any:
    return cond(
        pred,
        lambda s, x: lax.mul(lax.cos(s), x),
        lambda s, x: lax.mul(lax.sin(s), x),
        scale,
        x,
    )


def _smooth(index: Any, x: Any, y: Any) -> Any:
    branches = (
        lambda x, y: (lax.sin(x), lax.mul(x, y)),
        lambda x, y: (lax.mul(x, x), y),
        lambda x, y: (lax.exp(y), lax.sub(x, y)),
    )
    return switch(index, branches, x, y)


def _partly_constant(pred: Any, x: Any, n: Any) -> Any:
    constant = np.arange(3.0)
    return cond(
        pred,
        lambda x, n: (lax.mul(x, constant), n, constant),
        lambda x, n: (constant, lax.add(n, n), x),
        x,
        n,
    )


def _reduced(pred: Any, x: Any) -> Any:
    return cond(pred, lax.reduce_sum, lambda x: lax.reduce_max(lax.tanh(x)), x)


def _nested(pred: Any, other: Any, x: Any) -> Any:
    def inner(x: Any) -> Any:
        return cond(other, lax.cos, lambda x: lax.mul(x, x), x)

    return cond(pred, inner, lax.neg, x)


def _per_platform(x: Any) -> Any:
    return platform_dependent(x, cpu=lambda x: x * x, tpu=lax.neg, default=lax.sin)


def _for_all_platforms(x: Any) -> Any:
    return platform_dependent(x, tpu=lax.neg, cuda=lax.cos, default=lax.sin)


@custom_jvp
def _squared(x: Any) -> Any:
    return lax.mul(x, x)


@_squared.defjvp
def _squared_jvp(primals: Any, tangents: Any) -> Any:
    """A rule with a constant array, which its function has not."""
    slope = lax.mul(primals[0], np.full(3, 2.0))
    return _squared(*primals), lax.mul(tangents[0], slope)


@custom_jvp
def _by_sign(x: Any) -> Any:
    return lax.mul(x, x)


@_by_sign.defjvp
def _by_sign_jvp(primals: Any, tangents: Any) -> Any:
    """A rule that chooses by the sign of the tangent, which linearization does not know."""
    (x,), (t,) = primals, tangents
    is_positive = lax.gt(lax.reduce_sum(t), np.zeros((), t.dtype))
    slope = lax.add(x, x)
    return _by_sign(x), cond(
        is_positive, lambda t: lax.mul(slope, t), lambda t: lax.mul(t, slope), t
    )


def _chosen_by_tangents(pred: Any, x: Any) -> Any:
    return cond(pred, _by_sign, lambda x: lax.sin(_by_sign(x)), x)


@custom_jvp
def _by_loop(x: Any) -> Any:
    return lax.mul(x, x)


@_by_loop.defjvp
def _by_loop_jvp(primals: Any, tangents: Any) -> Any:
    """A rule with a loop of which linearization knows nothing, not even when it ends."""
    (x,), (t,) = primals, tangents
    rises = lax.convert_element_type(lax.gt(lax.reduce_sum(t), np.zeros((), t.dtype)), np.int32)
    start = lax.sub(rises, rises), t
    _, doubled = while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, lax.add(c[1], c[1])), start)
    return _by_loop(x), lax.mul(x, doubled)


@custom_jvp
def _by_steps(x: Any) -> Any:
    return lax.mul(x, x)


@_by_steps.defjvp
def _by_steps_jvp(primals: Any, tangents: Any) -> Any:
    """A rule with a loop, linear in its carry, that uses one of two results of an operation."""
    (x,), (t,) = primals, tangents
    slope, places = lax.add(x, x), np.arange(x.shape[0])

    def step(carry: Any, _: Any) -> Any:
        return lax.mul(carry, lax.sort((places, slope), num_keys=1)[1]), None

    return _by_steps(x), scan(step, t, None, length=1)[0]


def _stepped(pred: Any, x: Any) -> Any:
    return cond(pred, _by_steps, lambda x: lax.sin(_by_steps(x)), x)


def _looped_by_tangents(pred: Any, x: Any) -> Any:
    return cond(pred, _by_loop, lambda x: lax.sin(_by_loop(x)), x)


def _single(index: Any, x: Any) -> Any:
    return switch(index, (lambda x: lax.mul(lax.sin(x), x),), x)


def _with_constants_in_rules(index: Any, x: Any) -> Any:
    return switch(index, (_squared, lax.neg, lambda x: _squared(lax.sin(x))), x)


def cond_samples() -> Iterator[Sample]:
    """Calls of ``cond``, ``switch`` and ``platform_dependent``."""
    x = array((3,), "float64")
    for dtype in ("float64", "float32", "complex128"):
        operand = array((2, 3), dtype)
        yield sample(_linear, PRED, operand, operand)
    yield sample(_linear, PRED, array((), "float64"), array((), "float64"))
    yield sample(_linear, PRED, array((2, 0), "float64"), array((2, 0), "float64"))
    yield sample(_scaled, PRED, x, x)
    yield sample(_smooth, INDEX, x, x, skip=_TRANSPOSES)
    yield sample(_smooth, INDEX, array((), "float32"), array((), "float32"), skip=_TRANSPOSES)
    yield sample(_partly_constant, PRED, x, array((2,), "int32"), skip=_TRANSPOSES)
    yield sample(_reduced, PRED, array((2, 3), "float64"), skip=_TRANSPOSES)
    yield sample(_nested, PRED, PRED, x, skip=_TRANSPOSES)
    yield sample(_with_constants_in_rules, INDEX, x, skip=_TRANSPOSES)
    yield sample(_chosen_by_tangents, PRED, x, skip=_FORWARD)
    yield sample(_looped_by_tangents, PRED, x, skip=_FORWARD)
    yield sample(_stepped, PRED, x)
    yield sample(_single, INDEX, x)
    yield sample(_per_platform, array((2,), "float64"))
    yield sample(_for_all_platforms, array((2,), "float64"))
