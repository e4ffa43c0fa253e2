"""Words for ``impl`` rules on large arrays: compilers, several cores, sums by matrix products.

From some size on NumPy's loops take far longer than anything done besides. NumPy computes on one
core without holding Python's lock, so parts of an array can be computed side by side.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from threading import Barrier
from typing import Any, Final

import numpy as np

from bindax_core.extend import ShapedArray
from bindax_lax_basic._numpy import NumPyArray, NumPyFunction, Plan, empty, quiet, quiet_unary
from bindax_lax_basic.dtypes import bfloat16

Types = frozenset[np.dtype[Any]]

HALF: Final[Types] = frozenset({np.dtype(np.float16)})
"""The floats that NumPy's arithmetic takes one at a time, converting each to float32 and back."""

BRAIN: Final[Types] = frozenset({bfloat16})
"""The floats that all functions take one at a time, converting each to float32 and back."""

SHORT: Final[Types] = HALF | BRAIN
"""The floats of 16 bits."""

SINGLE: Final[Types] = frozenset({np.dtype(np.float32)})
"""The floats of 32 bits."""

LONG: Final[Types] = SINGLE | {np.dtype(np.float64)}
"""The floats of 32 and 64 bits."""

FLOATS: Final[Types] = SHORT | LONG
"""The floats of 16 bits and more."""

COMPLEX: Final[Types] = frozenset({np.dtype(np.complex64), np.dtype(np.complex128)})
"""The complex numbers, whose functions NumPy takes one number at a time."""

INTEGERS: Final[Types] = frozenset(
    np.dtype(f"{kind}{width}") for kind in "iu" for width in (1, 2, 4, 8)
)
"""NumPy's integers."""

BOOL: Final[Types] = frozenset({np.dtype(np.bool_)})
"""Truth values."""

NARROW_INTEGERS: Final[Types] = frozenset(dtype for dtype in INTEGERS if dtype.itemsize < 8)
"""NumPy's integers of less than 64 bits."""

_PART = 1 << 17
"""The fewest elements for which it pays to wake another thread."""

LARGE = 2 * _PART
"""The fewest elements of an array that is computed in parts, or by a compiler."""

_ROW = 1 << 10
"""The most elements that are summed by one scalar product."""

_BLOCK = 1 << 9
"""The elements of longer rows that are summed by one; fewer of them, for exactness."""

_LARGE_SUM = 1 << 15
"""The fewest elements of an array that is summed by scalar products."""

_GROUP = 4
"""The elements that are accumulated at a time, for many groups side by side."""


def slow_when_large(types: Types) -> Callable[..., bool]:
    """Say with ``impl(rule, slow=...)`` that a compiler is faster for large arrays of some dtypes.

    Compiled results are the same, but for the signs of equal zeros, the last digits of functions
    that are not exact, and numbers below the least normal one, which compiled programs take for
    zero, those of float16 excepted. Where compiled results are worse, NumPy stays.

    Args:
        types: the dtypes of the last operand.
    """

    def is_slow(*avals: ShapedArray, **params: Any) -> bool:
        return avals[-1].dtype in types and any(x.size >= LARGE for x in avals)

    return is_slow


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
def _workers() -> ThreadPoolExecutor | None:
    """The other threads, all of them started; None where the system gives no more threads.

    A pool that starts a thread when work comes would keep the work if the thread does not start.
    """
    count = cores() - 1
    pool = ThreadPoolExecutor(count, thread_name_prefix="bindax-large-arrays")
    started = Barrier(count + 1)
    try:
        for _ in range(count):
            pool.submit(started.wait)
    except RuntimeError:
        started.abort()
        pool.shutdown(wait=False, cancel_futures=True)
        return None
    started.wait()
    return pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # its threads stay with the parent


def on_all_cores(function: NumPyFunction, plan: Plan) -> Plan:
    """A plan that computes large arrays of NumPy's floats in parts side by side.

    Args:
        function: of one array, elementwise; it must keep these dtypes.
        plan: for all other arrays.
    """

    def choose(x: ShapedArray) -> NumPyFunction:
        whole = plan(x)
        is_large = x.size >= LARGE and x.dtype.kind in "fc"
        return _in_parts(function, whole) if is_large else whole

    return choose


def _in_parts(function: NumPyFunction, whole: NumPyFunction) -> NumPyFunction:
    writes = isinstance(function, np.ufunc)
    compute = quiet(function if writes else lambda x, out: np.copyto(out, function(x)))

    def run(x: NumPyArray) -> NumPyArray:
        if cores() == 1 or not x.flags.c_contiguous:
            return whole(x)  # type: ignore[no-any-return]
        out = empty(x.shape, x.dtype)
        flat, results = x.reshape(-1), out.reshape(-1)
        count = min(cores(), x.size // _PART)
        edges = [x.size * i // count for i in range(count + 1)]
        _side_by_side(compute, [(flat[a:b], results[a:b]) for a, b in pairwise(edges)])
        return out

    return run


def in_large_parts(accumulation: np.ufunc, x: NumPyArray) -> NumPyArray:
    """``accumulate`` of a large array with one axis: in parts, to which what went before is added.

    The parts do not depend on the number of cores, so the results do not either.
    """
    out = np.empty_like(x)
    parts = [slice(start, start + _PART) for start in range(0, x.size, _PART)]
    accumulate = _in_groups if x.dtype.kind == "f" else _in_order
    compute = quiet(partial(accumulate, accumulation))
    _side_by_side(compute, [(x[part], out[part]) for part in parts])
    before = accumulation.accumulate(out[_PART - 1 :: _PART], 0, x.dtype)
    combine = quiet(lambda last, out: accumulation(last, out, out=out))
    _side_by_side(combine, [(before[i], out[part]) for i, part in enumerate(parts[1:])])
    return out


def _in_order(accumulation: np.ufunc, x: NumPyArray, out: NumPyArray) -> None:
    accumulation.accumulate(x, 0, x.dtype, out)


def _in_groups(accumulation: np.ufunc, x: NumPyArray, out: NumPyArray) -> None:
    """Accumulate in groups, then the groups: a sum of floats waits for the one before.

    Sums of what is not negative do not fall, as they would by trees.
    """
    cut = x.size - x.size % _GROUP
    columns, results = (array[:cut].reshape(-1, _GROUP).T for array in (x, out))
    inside = [columns[0]]
    for column in columns[1:]:
        inside.append(accumulation(inside[-1], column))
    before = accumulation.accumulate(inside[-1], 0, x.dtype, results[-1])[:-1]
    for values, result in zip(inside[:-1], results[:-1], strict=True):
        result[:1] = values[:1]
        accumulation(before, values[1:], out=result[1:])
    _in_order(accumulation, x[cut:], out[cut:])
    if 0 < cut < x.size:
        accumulation(out[cut - 1], out[cut:], out=out[cut:])


def _side_by_side(compute: NumPyFunction, pairs: Sequence[tuple[Any, NumPyArray]]) -> None:
    """Call ``compute(x, out=out)`` for each pair, with as many threads as there are cores."""

    def run(pairs: Sequence[tuple[Any, NumPyArray]]) -> None:
        for x, out in pairs:
            compute(x, out=out)

    own, *others = [pairs[i :: cores()] for i in range(min(cores(), len(pairs)))]
    waiting = [_begin(run, part) for part in others]
    run(own)
    for future in waiting:
        if future is not None:
            future.result()


def _begin(function: Callable[[Any], None], argument: Any) -> Future[None] | None:
    """Call in another thread; here, where there is none, and while the interpreter ends."""
    pool = _workers()
    try:
        if pool is not None:
            return pool.submit(function, argument)
    except RuntimeError:
        pass
    function(argument)
    return None


def trailing_sums(x: ShapedArray, axes: tuple[int, ...]) -> NumPyFunction | None:
    """What sums a large array of NumPy's floats over its last axes; None for other sums.

    Products with ones are faster than NumPy's sums, three times for long rows and ten times for
    short ones, and as exact: a block is short, and the sums of the blocks of a long row are added
    pairwise (Higham, 1993, "The accuracy of floating point summation").
    """
    kept = x.ndim - len(axes)
    length = math.prod(x.shape[kept:])
    is_last = set(axes) == set(range(kept, x.ndim))
    is_large = x.size >= _LARGE_SUM and length > 1
    if x.dtype not in (np.float32, np.float64) or not is_last or not is_large:
        return None
    if length > _ROW:
        return _sums_of_blocks(x.shape[:kept], length)
    ones = np.ones(length, x.dtype)
    return quiet_unary(lambda x: x.reshape(-1, length).dot(ones).reshape(x.shape[:kept]))


def _sums_of_blocks(shape: tuple[int, ...], length: int) -> NumPyFunction:
    cut = length - length % _BLOCK

    def run(x: NumPyArray) -> Any:
        rows = x.reshape(-1, length)
        blocks = rows[:, :cut].reshape(len(rows), -1, _BLOCK)
        sums = np.add.reduce(blocks @ np.ones(_BLOCK, x.dtype), 1)
        sums += np.add.reduce(rows[:, cut:], 1)
        return sums.reshape(shape)

    return quiet_unary(run)
