"""The check of the rules of this package, which the suite runs on samples of all owners."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import is_extended, typeof
from bindax_parallel.varying import varying
from bindax_testing import Case, NotApplicable


def check_varying(case: Case) -> None:
    """Check that a result which does not vary with an operand is the same for another value."""
    if len(case.draws) < 2:
        raise NotApplicable("there is one draw of operands")
    first, second = case.draws[:2]
    rule = varying.get(case.primitive)
    usual = case.call(*first)
    for i in range(len(first)):
        along = [frozenset({"axis"}) if k == i else frozenset() for k in range(len(first))]
        found = rule(*along, **case.params)
        sets = found if isinstance(found, list) else [found] * len(usual)
        other = case.call(*first[:i], second[i], *first[i + 1 :])
        for number, (axes, x, y) in enumerate(zip(sets, usual, other, strict=True)):
            if not axes and not _same(x, y):
                raise AssertionError(
                    f"result {number} depends on operand {i}, but the rule says that it does not "
                    f"vary along an axis along which that operand varies."
                )


def _same(x: Any, y: Any) -> bool:
    if is_extended(typeof(x).dtype):
        return True
    return bool(np.array_equal(np.asarray(x), np.asarray(y), equal_nan=_has_nan(x)))


def _has_nan(x: Any) -> bool:
    return typeof(x).dtype.kind in "fc"
