"""Samples for the conformance kit: host functions that NumPy computes, and ones that only look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_callbacks import debug
from bindax_callbacks._equivalent import equivalent_mutants
from bindax_callbacks.results import io_callback, pure_callback
from bindax_core import ShapeDtypeStruct
from bindax_testing import EquivalentMutant, ExpectedFailure, Sample, array, sample

_NO_DERIVATIVE = {"vmap of others": "what a Python function computes has no derivative"}


def _ignore(*args: Any, **kwargs: Any) -> None:
    """Take everything, and do nothing."""


def _watched(x: Any) -> Any:
    debug.callback(_ignore, x, label="x")
    return lax.mul(lax.sin(x), x)


def _pure(method: str) -> Any:
    def computed(x: Any, y: Any) -> Any:
        kind = ShapeDtypeStruct(x.shape, x.dtype)
        return pure_callback(lambda x, y: np.subtract(x, y), kind, x, y, vmap_method=method)

    computed.__name__ = method
    return computed


def _io(x: Any) -> Any:
    kind = ShapeDtypeStruct(x.shape, x.dtype)
    return io_callback(lambda x: np.negative(x), kind, x)


def conformance_samples() -> Iterator[Sample | ExpectedFailure | EquivalentMutant]:
    """Calls of the functions of this package, and the mistakes that change nothing."""
    yield from equivalent_mutants()
    for dtype in ("float64", "float32", "complex128"):
        yield sample(_watched, array((2, 3), dtype))
    for method in ("sequential", "expand_dims", "broadcast_all"):
        for dtype in ("int32", "float64"):
            operand = array((2, 3), dtype)
            skip = _NO_DERIVATIVE if dtype == "float64" else {}
            yield sample(_pure(method), operand, operand, skip=skip)
    yield sample(_io, array((3,), "int32"))
    yield sample(_io, array((), "float32"), skip=_NO_DERIVATIVE)
