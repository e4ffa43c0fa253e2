"""Slices of a fixed size with a traced start, beside slices of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_transforms as bt
from bindax_core import Array
from bindax_core.errors import BindaxError, ShapeError
from bindax_core.extend import typeof
from bindax_lax_basic import dynamic_update_slice
from bindax_lax_basic.extend import ds

X = np.arange(24, dtype=np.float32).reshape(4, 6)
A = Array.from_numpy(X)
INDICES: dict[str, tuple[Callable[[Any], Any], Callable[[int], Any]]] = {
    "rows": (lambda i: ds(i, 2), lambda i: slice(i, i + 2)),
    "columns": (lambda i: (slice(None), ds(i, 3)), lambda i: (slice(None), slice(i, i + 3))),
    "strided": (lambda i: (..., ds(i, 2, 3)), lambda i: (..., slice(i, i + 4, 3))),
    "two": (lambda i: (ds(i, 2), ds(i, 1)), lambda i: (slice(i, i + 2), slice(i, i + 1))),
    "beside an integer": (lambda i: (1, ds(i, 2)), lambda i: (1, slice(i, i + 2))),
    "beside a new axis": (lambda i: (None, ds(i, 2)), lambda i: (None, slice(i, i + 2))),
    "beside an array": (
        lambda i: (ds(i, 2), np.array([5, 0])),
        lambda i: (slice(i, i + 2), np.array([5, 0])),
    ),
    "beside a reversal": (
        lambda i: (slice(None, None, -1), ds(i, 2)),
        lambda i: (slice(None, None, -1), slice(i, i + 2)),
    ),
    "nothing": (lambda i: ds(i, 0), lambda i: slice(0, 0)),
}


@pytest.mark.parametrize("name", INDICES)
def test_elements_are_those_of_a_slice(name: str) -> None:
    index, wanted = INDICES[name]
    for i in (0, 2):
        for f in (lambda x, i: x[index(i)], bt.jit(lambda x, i: x[index(i)])):
            np.testing.assert_array_equal(np.asarray(f(A, i)), X[wanted(i)])
        changed = X.copy()
        changed[wanted(i)] = 7
        for f in (
            lambda x, i: x.at[index(i)].set(7),
            bt.jit(lambda x, i: x.at[index(i)].set(7)),
        ):
            np.testing.assert_array_equal(np.asarray(f(A, i)), changed)


@pytest.mark.parametrize(("start", "first"), [(-1, 2), (-3, 1), (3, 2), (99, 2), (-99, 0)])
def test_what_does_not_fit_is_read_as_late_as_it_does(start: int, first: int) -> None:
    for f in (lambda i: A[ds(i, 2)], bt.jit(lambda i: A[ds(i, 2)])):
        np.testing.assert_array_equal(np.asarray(f(start)), X[first : first + 2])
    for f in (lambda i: A[ds(i, 4)], bt.jit(lambda i: A[ds(i, 4)])):
        np.testing.assert_array_equal(np.asarray(f(start)), X)


@pytest.mark.parametrize("start", [3, 99, -99, -1])
def test_updates_that_do_not_fit_change_nothing(start: int) -> None:
    for f in (lambda i: A.at[ds(i, 2)].add(7), bt.jit(lambda i: A.at[ds(i, 2)].add(7))):
        np.testing.assert_array_equal(np.asarray(f(start)), X)
    for f in (lambda i: A.at[ds(i, 4)].add(7), bt.jit(lambda i: A.at[ds(i, 4)].add(7))):
        np.testing.assert_array_equal(np.asarray(f(start)), X + 7)  # there is one such place


def test_derivatives_and_batches() -> None:
    slope = bt.grad(lambda x, i: (x[ds(i, 2), 0] ** 2).sum())(A, 1)
    np.testing.assert_array_equal(np.asarray(slope)[:, 0], [0, 12, 24, 0])
    rows = bt.vmap(lambda i: A[ds(i, 2), 0])(np.arange(3))
    np.testing.assert_array_equal(np.asarray(rows), [[0, 6], [6, 12], [12, 18]])


def test_short_forms() -> None:
    assert ds(None) == slice(None)
    assert ds(None, stride=2) == slice(None, None, 2)
    assert ds(5) == ds(0, 5) == ds(None, 5) == ds(0, 5, 1)
    assert ds(1, 5, 2) != ds(1, 5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: A[ds(0, 5)], ShapeError, "5 elements .* do not fit on axis 0, which has 4"),
        (lambda: A[:, ds(0, 3, 3)], ShapeError, "3 apart do not fit on axis 1"),
        (lambda: ds(0, -1), ValueError, "size must not be negative"),
        (lambda: ds(0, 1, 0), ValueError, "stride must be positive"),
        (lambda: ds(0, 1.5), TypeError, "ds takes an integer for size"),
        (lambda: A[ds(0.5, 1)], TypeError, "ds takes an integer for start"),
        (lambda: bt.jit(lambda i: A[ds(i, 1)])(0.5), TypeError, "ds takes an integer as start"),
        (lambda: bt.jit(lambda n: A[ds(0, n)])(1), BindaxError, "traced"),
    ],
)
def test_refused(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_updates_are_weakly_typed_where_both_arrays_are() -> None:
    strong, weak = (Array.from_numpy(X[0], typeof(X[0]).update(weak_type=w)) for w in (False, True))
    for x, update, wanted in ((strong, weak, False), (weak, strong, False), (weak, weak, True)):
        assert typeof(dynamic_update_slice(x, update[:2], (0,))).weak_type is wanted
