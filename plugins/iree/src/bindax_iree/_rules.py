"""Lowering rules for operations of which IREE's own form means something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bindax_core import find_primitive
from bindax_core.extend import Extension, LoweringContext, extend, rules, typeof
from bindax_iree._support import PLATFORM
from bindax_lax_basic import (
    bitcast_convert_type,
    bitwise_xor,
    broadcasted_iota,
    full_like,
    lt,
    rev,
    select,
    slice_in_dim,
    sort,
)
from bindax_lax_basic.extend import inlined, is_inexact


def extensions() -> Iterator[Extension]:
    """The rules, each for a primitive of another package."""
    rule = rules.lowering["stablehlo"](_top_k, platform=PLATFORM)
    yield extend(find_primitive("top_k"), rule)


def _in_total_order(x: Any) -> Any:
    """Integers that are ordered as floats are, with their zeros and nans."""
    bits = bitcast_convert_type(x, f"int{8 * typeof(x).dtype.itemsize}")
    greatest = full_like(bits, np.iinfo(typeof(bits).dtype).max)
    return select(lt(bits, full_like(bits, 0)), bitwise_xor(bits, greatest), bits)


def _top_k(ctx: LoweringContext, x: Any, *, k: int, axis: int) -> list[Any]:
    """The last elements of all in order: IREE's own operation chooses any among equal ones.

    They are sorted from behind, so that of equal elements the first comes last.
    """

    def program(x: Any) -> list[Any]:
        size = typeof(x).shape[axis]
        places = broadcasted_iota("int32", typeof(x).shape, axis)
        keys = [_in_total_order(x)] if is_inexact(typeof(x).dtype) else []
        *_, values, found = sort([rev(one, [axis]) for one in (*keys, x, places)], axis)
        last = [slice_in_dim(one, size - k, size, axis=axis) for one in (values, found)]
        return [rev(one, [axis]) for one in last]

    return inlined(ctx, program, [x], ctx.avals_in)
