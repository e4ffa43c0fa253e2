"""Words for ``impl`` rules on large arrays: several cores, and sums by matrix products.

From some size on NumPy's loops take far longer than anything done besides. NumPy computes on one
core without holding Python's lock, so parts of an array can be computed side by side.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray
from bindax_lax_basic._numpy import NumPyArray, NumPyFunction, Plan, quiet, quiet_unary

_PART = 1 << 17
"""The fewest elements for which it pays to wake another thread."""

_BLOCK = 1 << 10
"""The elements that are summed by one scalar product."""

_LARGE_SUM = 1 << 15
"""The fewest elements of an array that is summed by scalar products."""


@cache
def cores() -> int:
    """How many threads may compute at a time: the cores that the process may use.

    The environment variable ``OMP_NUM_THREADS`` limits them, as it limits NumPy's products.
    """
    has_affinity = hasattr(os, "sched_getaffinity")
    count = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(count, int(limit)) if limit.isdecimal() and int(limit) else count


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores() - 1, thread_name_prefix="bindax-elementwise")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # its threads stay with the parent


def on_all_cores(function: np.ufunc, plan: Plan) -> Plan:
    """A plan that computes large arrays of NumPy's floats in parts side by side.

    Args:
        function: of one array, elementwise; it must keep these dtypes.
        plan: for all other arrays.
    """
    split = _in_parts(function)
    return lambda x: split if x.size >= 2 * _PART and x.dtype.kind in "fc" else plan(x)


def _in_parts(function: np.ufunc) -> NumPyFunction:
    compute = quiet(function)

    def run(x: NumPyArray) -> NumPyArray:
        if cores() == 1 or not x.flags.c_contiguous:
            return compute(x)  # type: ignore[no-any-return]
        out = np.empty_like(x)
        flat, results = x.reshape(-1), out.reshape(-1)
        count = min(cores(), x.size // _PART)
        edges = [x.size * i // count for i in range(count + 1)]
        own, *others = [slice(*edges[i : i + 2]) for i in range(count)]
        waiting = [_begin(compute, flat[part], results[part]) for part in others]
        compute(flat[own], out=results[own])
        for future in waiting:
            if future is not None:
                future.result()
        return out

    return run


def _begin(compute: NumPyFunction, x: NumPyArray, out: NumPyArray) -> Future[Any] | None:
    """Compute in another thread; here, while the interpreter ends and starts no threads."""
    try:
        return _workers().submit(compute, x, out=out)
    except RuntimeError:
        compute(x, out=out)
        return None


def total(x: ShapedArray) -> NumPyFunction | None:
    """What sums all elements of a large array of NumPy's floats; None for other arrays.

    The sums of blocks are products with ones, three times as fast as NumPy's sums and as exact: a
    block is short, and the sums of blocks are added pairwise (Higham, 1993, "The accuracy of
    floating point summation").
    """
    if x.dtype not in (np.float32, np.float64) or x.size < _LARGE_SUM:
        return None
    ones = np.ones(_BLOCK, x.dtype)
    cut = x.size - x.size % _BLOCK

    def run(x: NumPyArray) -> Any:
        if not x.flags.c_contiguous:
            return np.add.reduce(x, None)
        flat = x.reshape(-1)
        sums = flat[:cut].reshape(-1, _BLOCK).dot(ones)
        return np.add.reduce(sums) + np.add.reduce(flat[cut:])

    return quiet_unary(run)
