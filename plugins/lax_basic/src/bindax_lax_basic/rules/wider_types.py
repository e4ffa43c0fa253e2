"""Lowering, by way of wider types, what XLA cannot do with narrow ones.

XLA for CPUs stores, converts, compares and adds all numbers of less than a byte. Its kernels for
sorting, concatenation, the places of extrema and products refuse some of them, and with 2 bits
return wrong numbers or abort the process. Some functions it has only for floats of 16 bits or more.
A narrow number converts to a wider type and back without loss, and products of integers wrap around
in both alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext, Primitive, Rule, rules, typeof
from bindax_lax_basic.dtypes import DType, byte_dtype
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules.lowering import Lowering, inlined


def in_wider(rule: Lowering, wider: Callable[[DType], DType] = byte_dtype) -> Rule:
    """The lowering rule that computes in wider types where an operand or a result is narrow.

    Args:
        rule: the lowering for other types.
        wider: the dtype to compute in for each dtype; a dtype that it keeps is not narrow.
    """

    def lowered(primitive: Primitive, ctx: LoweringContext, *values: Any, **params: Any) -> Any:
        used = [aval.dtype for aval in (*ctx.avals_in, *ctx.avals_out)]
        # A sum that stays open over devices is rounded on each: compilers close what is converted.
        is_open = any(aval.sharding.spec.unreduced for aval in ctx.avals_out)
        if is_open or all(wider(dtype) == dtype for dtype in used):
            return rule(ctx, *values, **params)
        chosen = {k: wider(v) if isinstance(v, np.dtype) else v for k, v in params.items()}

        def program(*operands: Any) -> list[Any]:
            outs = primitive.bind(
                *[convert(x, wider(typeof(x).dtype), False) for x in operands], **chosen
            )
            outs = outs if primitive.multiple_results else [outs]
            results = zip(outs, ctx.avals_out, strict=True)
            return [convert(out, aval.dtype, False) for out, aval in results]

        found = inlined(ctx, program, values, ctx.avals_in)
        return found if primitive.multiple_results else found[0]

    return rules.lowering["stablehlo"](lowered, takes_primitive=True)
