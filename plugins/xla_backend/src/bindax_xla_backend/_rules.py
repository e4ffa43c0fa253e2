"""The lowering of the kernel's own higher-order primitive, ``jit``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core import jit_p
from bindax_core.extend import ClosedJaxpr, Extension, LoweringContext, extend, lowering


def jit_lowering(
    ctx: LoweringContext,
    *values: Any,
    jaxpr: ClosedJaxpr,
    name: str,
    inline: bool = False,
    **params: Any,
) -> Sequence[Any]:
    """Call a function of the module, shared by all applications of one jaxpr.

    Args:
        ctx: the lowering context.
        values: the operands.
        jaxpr: the staged function.
        name: its name.
        inline: whether to add its operations at the place of the call instead.
        params: what concerns only a call from outside of a compiled program, such as donation.
    """
    if inline:
        return ctx.inline(jaxpr, values)
    return ctx.call(jaxpr, values, name)


def extensions() -> list[Extension]:
    """The rules that this package brings for primitives of others."""
    return [extend(jit_p, lowering["stablehlo"](jit_lowering))]
