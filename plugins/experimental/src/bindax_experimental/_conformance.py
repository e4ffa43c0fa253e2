"""The checks of the rules of this package, which the suite runs on samples of all owners."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import typeof
from bindax_experimental.checkify import all_checks, checkify
from bindax_experimental.jet import jet
from bindax_experimental.sparse import BCOO, sparsify, todense
from bindax_testing import Case, NotApplicable
from bindax_transforms import jvp

_TOLERANCE = {2: 2e-2, 4: 2e-3, 8: 1e-6}
"""Relative differences by the bytes of a number, for derivatives of the second order."""


def check_checkify(case: Case) -> None:
    """Compare what a primitive gives with what it gives while it is checked."""
    _, outs = checkify(case.call, errors=all_checks)(*case.operands)
    for got, wanted in zip(outs, case.call(*case.operands), strict=True):
        _check_equal(got, wanted, 1e-6)


def check_jet(case: Case) -> None:
    """Compare derivatives along a line, up to the second, with those of nested ``jvp``."""
    if not case.positions:
        raise NotApplicable("no operand has a derivative")
    if "jvp" in case.skip:
        raise NotApplicable(case.skip["jvp"])
    places = case.positions
    points = [case.operands[i] for i in places]
    lines = [np.full(typeof(x).shape, 0.5, typeof(x).dtype) for x in points]

    def along(*moving: Any) -> list[Any]:
        operands = list(case.operands)
        for i, x in zip(places, moving, strict=True):
            operands[i] = x
        return case.call(*operands)

    def slope(*moving: Any) -> list[Any]:
        return list(jvp(along, moving, tuple(lines))[1])

    second = jvp(slope, tuple(points), tuple(lines))
    series = tuple([line, np.zeros_like(line)] for line in lines)
    _, found = jet(along, tuple(points), series)
    for order in (0, 1):
        for terms, wanted in zip(found, second[order], strict=True):
            dtype = np.dtype(typeof(wanted).dtype)
            if dtype.kind in "fc" and dtype.itemsize in _TOLERANCE:
                _check_equal(terms[order], wanted, _TOLERANCE[dtype.itemsize])


def check_sparse(case: Case) -> None:
    """Compare what a primitive gives for sparse operands with what it gives for dense ones."""
    matrices = [_as_sparse(x) for x in case.operands]
    if any(np.dtype(typeof(x).dtype) == bool for x in case.call(*case.operands)):
        raise NotApplicable("booleans are not stored sparsely")
    if all(x is y for x, y in zip(matrices, case.operands, strict=True)):
        raise NotApplicable("no operand is a matrix of numbers")
    try:
        outs = sparsify(case.call)(*matrices)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise NotApplicable(f"sparse operands are refused: {error!s:.60}") from error
    for got, wanted in zip(outs, case.call(*case.operands), strict=True):
        _check_equal(todense(got), wanted, 1e-2 if typeof(wanted).dtype.itemsize <= 2 else 1e-4)


def _as_sparse(x: Any) -> Any:
    aval = typeof(x)
    if np.dtype(aval.dtype).kind not in "fc" or aval.ndim != 2 or not aval.size:
        return x
    return BCOO.fromdense(x)


def _check_equal(got: Any, wanted: Any, tolerance: float) -> None:
    types = [(typeof(x).shape, typeof(x).dtype) for x in (got, wanted)]
    if types[0] != types[1]:
        raise AssertionError(f"the types of the result and of what it should be are {types}.")
    if np.dtype(types[0][1]).kind not in "biufc":
        return
    a, b = np.asarray(got), np.asarray(wanted)
    if not np.allclose(a, b, tolerance, tolerance, equal_nan=True):
        raise AssertionError(f"{a!r:.80} should be {b!r:.80}.")
