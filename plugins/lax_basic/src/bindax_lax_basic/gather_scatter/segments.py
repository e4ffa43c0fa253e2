"""Products within groups of elements that are scattered through an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import typeof
from bindax_lax_basic.elementwise.arithmetic import mul_p
from bindax_lax_basic.elementwise.comparison import eq_p, not_p, or_p
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.reductions.prefix_scan import Values, prefix_scan
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.shape.concatenate import concatenate_p
from bindax_lax_basic.shape.creation import iota
from bindax_lax_basic.shape.slice_and_pad import every
from bindax_lax_basic.sorting.sort import sort_p, take_along

INDEX = np.dtype(np.int32)


def products_of_others(values: Any, groups: Any) -> Any:
    """For each element the product of all others of its group.

    Args:
        values: an array of one axis.
        groups: for each element the number of its group.

    Without any division, so the result and its derivatives of all orders are right where elements
    are zero: sorted by group, it is the product of what comes before and what comes behind.
    """
    size = typeof(values).shape[0]
    places = iota(INDEX, size)
    params = {"dimension": 0, "is_stable": True, "num_keys": 1}
    groups, order = sort_p.bind(groups, places, **params)
    rows = take_along(values, order, 0)
    false = np.zeros(1, bool)
    same = eq_p.bind(every(groups, 0, 0, size - 1), every(groups, 0, 1, size))
    before = _exclusive(rows, concatenate_p.bind(false, same, dimension=0), reverse=False)
    behind = _exclusive(rows, concatenate_p.bind(same, false, dimension=0), reverse=True)
    _, back = sort_p.bind(order, places, **params)
    return take_along(mul_p.bind(before, behind), back, 0)


def _exclusive(values: Any, continues: Any, reverse: bool) -> Any:
    """The products of what comes before each element in its group.

    Args:
        values: the elements, sorted by group.
        continues: whether the element before belongs to the same group.
        reverse: whether "before" means behind.
    """
    size = typeof(values).shape[0]

    def combine(a: Values, b: Values) -> Values:
        product = mul_p.bind(a[1], b[1])
        return [or_p.bind(a[0], b[0]), select_scalars(b[0], product, b[1])]

    _, products = prefix_scan(combine, [not_p.bind(continues), values], 0, reverse)
    edge = every(values, 0, 0, 1)  # has no element before it, and is replaced below
    if reverse:
        shifted = concatenate_p.bind(every(products, 0, 1, size), edge, dimension=0)
    else:
        shifted = concatenate_p.bind(edge, every(products, 0, 0, size - 1), dimension=0)
    return select_scalars(continues, constant(1, values), shifted)
