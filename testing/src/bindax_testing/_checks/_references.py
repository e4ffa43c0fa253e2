"""Values against a reference that somebody else wrote, in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_testing._cases import Case
from bindax_testing._checks._base import check
from bindax_testing._checks._types import no_impl
from bindax_testing._compare import Mismatch, NotApplicable, host, wide
from bindax_testing._units import units_apart


@check("reference", "impl", rank=1, why_not=no_impl)
def _reference(case: Case, compiler: str | None) -> None:
    if case.reference is None:
        raise NotApplicable("the sample has no reference")
    for row in case.draws:
        exact = [wide(x) if host(x).dtype.kind in "fc" else host(x) for x in row]
        wanted = case.reference(*exact, **case.params)
        expected = list(wanted) if case.primitive.multiple_results else [wanted]
        for i, (got, one) in enumerate(zip(case.call(*row), expected, strict=True)):
            _require_near(case, f"result {i}", host(got), np.asarray(one), row)


def _require_near(case: Case, what: str, got: Any, wanted: Any, row: Any) -> None:
    if got.shape != wanted.shape:
        raise Mismatch(f"{what} has the shape {got.shape}, but its reference {wanted.shape}.")
    if got.dtype.kind not in "fc":
        distance = np.where(got == wanted, 0.0, np.inf)
    else:
        distance = units_apart(got, wanted)
    if got.size and np.max(distance) > case.ulps:
        at = tuple(int(k) for k in np.argwhere(distance == np.max(distance))[0])
        raise Mismatch(
            f"{what} is {got[at]!r} at {at}{_given(row, got.shape, at)}, {np.max(distance):.3g} "
            f"units in the last place from {wanted[at]!r} by its reference; at most {case.ulps:g} "
            f"are stated."
        )


def _given(row: Any, shape: tuple[int, ...], at: tuple[int, ...]) -> str:
    """The elements of elementwise operands at a place."""
    operands = [host(x) for x in row]
    if any(x.shape not in ((), shape) for x in operands):
        return ""
    return f" for {', '.join(repr(np.broadcast_to(x, shape)[at]) for x in operands)}"
