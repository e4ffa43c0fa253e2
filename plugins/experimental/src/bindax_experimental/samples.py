"""Samples for the conformance suite: functions with checks that hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_experimental.checkify.check import check
from bindax_testing import Sample, array, sample


def _checked(x: Any) -> Any:
    check(np.bool_(True), "x is {}", x)
    check(lax.eq(lax.reduce_sum(lax.mul(x, np.float32(0)), (0,)), np.float32(0)), "sum of {x}", x=x)
    return lax.mul(lax.sin(x), x)


def conformance_samples() -> Iterator[Sample]:
    """Calls of the functions of this package."""
    yield sample(_checked, array((3,), "float32"))
