"""Samples for the conformance suite: loops of unknown length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bindax_lax_basic as lax
from bindax_control_flow.while_loop.fori_loop import fori_loop
from bindax_control_flow.while_loop.while_loop import while_loop
from bindax_testing import Sample, array, between, sample


def _counted(n: Any, x: Any, y: Any) -> Any:
    """The number of iterations is an operand; one component of the carry has no derivative."""
    out = while_loop(
        lambda carry: carry[0] < n,
        lambda carry: (carry[0] + 1, lax.sin(carry[1]) * y + carry[1]),
        (n - n, x),
    )
    return out[1]


def _until_large(x: Any, rate: Any) -> Any:
    """The number of iterations depends on what is differentiated and batched."""
    return while_loop(
        lambda carry: carry[0].sum() < 4.0,
        lambda carry: (carry[0] * 1.5 + rate * rate, carry[1] + 1),
        (x, 0),
    )


def _exchanged(n: Any, x: Any, y: Any) -> Any:
    """A batch axis or a tangent reaches the second component in the second iteration."""
    return fori_loop(0, n, lambda i, carry: (carry[1], carry[2], carry[0] + carry[2]), (x, y, y))


def _nested(n: Any, x: Any) -> Any:
    def outer(i: Any, x: Any) -> Any:
        return while_loop(lambda v: v.max() < 2.0, lambda v: v * 1.5 + 0.1, lax.cos(x) + 1.0)

    return fori_loop(0, n, outer, x)


_FORWARD = {"reverse": "a loop of unknown length has no derivative in reverse mode"}


def while_samples() -> Iterator[Sample]:
    """Calls of ``while_loop`` and of ``fori_loop`` with traced bounds."""
    count = array((), "int32", between(0, 3))
    for dtype in ("float64", "float32", "complex128"):
        operand = array((2,), dtype)
        yield sample(_counted, count, operand, operand, skip=_FORWARD)
    yield sample(_counted, count, array((), "float64"), array((), "float64"), skip=_FORWARD)
    yield sample(_counted, count, array((2, 0), "float64"), array((2, 0), "float64"), skip=_FORWARD)
    positive = array((2,), "float64", between(0.2, 1.5))
    endless = {"special points": "the loop does not end where both operands are 0"}
    yield sample(_until_large, positive, positive, skip=_FORWARD | endless)
    yield sample(_exchanged, count, array((3,), "float64"), array((3,), "float64"), skip=_FORWARD)
    yield sample(_nested, count, array((2,), "float64"), skip=_FORWARD)
