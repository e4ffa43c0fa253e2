"""Sharding rules of operations on windows, along axes that are divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Primitive, Rule, ShapedArray, rules
from bindax_core.sharding import ambiguous
from bindax_lax_basic.rules.sharding import alike, divides, entries, several


def windowed(*, count: int = 1, chooses: bool = False, linear: Any = None) -> Rule:
    """The rule of a primitive that takes windows of its first operands.

    A divided axis has windows without dilation and cropping. Where elements of windows are
    chosen, for which XLA exchanges no borders, the windows lie beside each other.

    Args:
        count: the number of operands with windows, or 0 for the first half of them.
        chooses: whether elements are chosen.
        linear: in which operands it is linear, as ``rules.sharding`` has it.
    """

    def rule(primitive: Primitive, *avals: ShapedArray, **params: Any) -> Any:
        taken = avals[: count or len(avals) // 2]
        own = alike(primitive, taken)
        outs = primitive.out_avals(tuple([aval.plain() for aval in avals]), params)
        for axis, entry in enumerate(own):
            if entry is not None and not _fits(axis, params, chooses):
                problem = f"has windows along the divided axis {axis} that cross its parts"
                raise ambiguous(primitive, problem, avals)
            if not all(divides(_divided(taken), entry, out.shape[axis]) for out in outs):
                problem = f"gives a size along axis {axis} that cannot be divided"
                raise ambiguous(primitive, problem, avals)
        return [own] * len(outs) if several(primitive) else own

    return rules.sharding(rule, takes_primitive=True, linear=linear)


def _divided(avals: Sequence[ShapedArray]) -> ShapedArray:
    """The first operand that has a mesh in its type."""
    return next((aval for aval in avals if any(entries(aval))), avals[0])


def _fits(axis: int, params: dict[str, Any], chooses: bool) -> bool:
    """Tell whether windows along an axis may be taken of its parts."""
    low, high = params["padding"][axis]
    dilations = [params.get(name) for name in ("base_dilation", "window_dilation")]
    if low < 0 or high < 0 or any(one is not None and one[axis] != 1 for one in dilations):
        return False
    size, step = params["window_dimensions"][axis], params["window_strides"][axis]
    return not chooses or (low == high == 0 and size == step)
