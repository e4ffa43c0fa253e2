"""Samples for the conformance suite: loops that are linear, smooth, or partly constant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow.cond.cond import cond
from bindax_control_flow.scan.scan import scan
from bindax_testing import Sample, array, sample


def _sums(xs: Any, reverse: bool = False, unroll: int = 1) -> Any:
    """Linear in everything."""

    def step(carry: Any, x: Any) -> Any:
        return lax.add(carry, x), lax.sub(x, carry)

    zero = np.zeros(xs.shape[1:], xs.dtype)
    return scan(step, zero, xs, reverse=reverse, unroll=unroll)


def _recurrence(weight: Any, init: Any, xs: Any) -> Any:
    """Smooth, with a constant, residuals that differ from step to step, and some that do not."""

    def step(carry: Any, x: Any) -> Any:
        scale = lax.cos(weight)
        carry = lax.tanh(lax.add(lax.mul(scale, carry), x))
        return carry, lax.mul(carry, x)

    return scan(step, init, xs)


def _beside_constants(weight: Any, init: Any, xs: Any) -> Any:
    """A stacked result that is the same in all steps."""

    def step(carry: Any, x: Any) -> Any:
        return lax.mul(carry, x), lax.sin(weight)

    return scan(step, init, xs)


def _exchange(init: Any, other: Any) -> Any:
    """Carries whose tangents and batches come from one another; no sequence."""

    def step(carry: Any, _: Any) -> Any:
        _, b, c = carry
        return (b, lax.mul(b, c), c), None

    return scan(step, (init, other, lax.sin(init)), None, length=3)[0]


def _counted(x: Any) -> Any:
    """A counter, which is not linear, beside a carry that is."""

    def step(carry: Any, _: Any) -> Any:
        i, y = carry
        shifted = lax.convert_element_type(i, np.float64)
        return (lax.add(i, np.int32(1)), lax.mul(y, shifted)), i

    return scan(step, (np.int32(1), x), None, length=3)


def _nested(x: Any, ys: Any) -> Any:
    """A loop in a conditional in a loop, linear in its carry."""

    def inner(carry: Any, y: Any) -> Any:
        return lax.mul(carry, lax.cos(y)), None

    def step(carry: Any, y: Any) -> Any:
        positive = lax.gt(y, np.float64(0.0))
        return cond(positive, lambda c: scan(inner, c, ys)[0], lax.neg, carry), carry

    return scan(step, x, ys)


def scan_samples() -> Iterator[Sample]:
    """Calls of ``scan``."""
    scalar = array((), "float64")
    for shape, dtype in (((3, 2), "float64"), ((3, 3), "float32"), ((3, 2), "complex128")):
        yield sample(_sums, array(shape, dtype))
    yield sample(_sums, array((5,), "float64"), reverse=True, unroll=2)
    yield sample(_sums, array((0, 2), "float64"))
    yield sample(_sums, array((1, 2), "int32"))
    yield sample(_sums, array((3, 0), "float64"))
    yield sample(_recurrence, scalar, scalar, array((4,), "float64"))
    yield sample(_recurrence, *[array((2,), "float32")] * 2, array((3, 2), "float32"))
    yield sample(_beside_constants, scalar, scalar, array((3,), "float64"))
    yield sample(_exchange, scalar, scalar)
    yield sample(_counted, scalar)
    yield sample(_nested, scalar, array((3,), "float64"))
