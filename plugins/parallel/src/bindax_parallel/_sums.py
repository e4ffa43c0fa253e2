"""Exchanges of sums that are still to be added up, of which devices have terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.sharding import ManualAxisType
from bindax_parallel._collective import names_of

Names = frozenset[Any]


def with_sums(differing: Sequence[Names], unreduced: Names, reduced: Names) -> list[ManualAxisType]:
    """The manual axes in the types of results, from those along which these differ."""
    sums = unreduced | reduced
    return [ManualAxisType(along - sums, unreduced, reduced) for along in differing]


def added_up(
    differing: Sequence[Names],
    mat: ManualAxisType,
    *indices: Any,
    axis_name: Any,
    **params: Any,
) -> list[ManualAxisType]:
    """The manual axes in the type of a sum over some axes.

    Raises:
        ValueError: when all devices have copies of the operand.
    """
    names = frozenset(names_of(axis_name))
    if mat.reduced & names:
        copied = sorted(mat.reduced & names, key=str)
        raise ValueError(
            f"a sum over the axes {copied}, along which the operand is reduced: devices have "
            f"copies of it. Have it vary before, by pcast(x, {copied[0]!r}, to='varying')."
        )
    return with_sums(differing, mat.unreduced - names, mat.reduced)


def gathered(
    differing: Sequence[Names],
    mat: ManualAxisType,
    *indices: Any,
    axis_name: Any,
    to: str,
    **params: Any,
) -> list[ManualAxisType]:
    """The manual axes in the type of gathered values.

    Raises:
        ValueError: when devices have terms of a sum, or all have the same.
    """
    names = frozenset(names_of(axis_name))
    if mat.unreduced & names:
        raise ValueError(
            f"all_gather along {sorted(names, key=str)} of a value that is unreduced there: "
            f"devices have terms of a sum. Add them up by psum or psum_scatter."
        )
    if to != "reduced":
        return with_sums(differing, mat.unreduced, mat.reduced - names)
    if not names <= mat.varying:
        raise ValueError(
            f"all_gather(..., to='reduced') along {sorted(names, key=str)} takes a value that "
            f"varies there, but it is {mat!r}. Have it vary before, by pcast."
        )
    return with_sums(differing, mat.unreduced, mat.reduced | names)
