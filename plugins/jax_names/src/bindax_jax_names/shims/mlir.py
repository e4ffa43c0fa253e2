"""``jax.interpreters.mlir``: lowerings that are functions of other primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import DebugInfo, Primitive, rules
from bindax_jax_names.shims._sites import of_package
from bindax_jax_names.shims._tables import put_rule
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr

__all__ = ["LoweringRule", "LoweringRuleContext", "lower_fun", "register_lowering"]

_PLATFORMS = ("cpu", "gpu", "cuda", "rocm", "tpu", "iree", "metal", "neuron", "oneapi")
Function = Callable[..., Any]
LoweringRule = Callable[..., Any]


class LoweringRuleContext:
    """The context of rules for JAX's own compiler, which are not called here."""


class LoweredFunction:
    """A lowering that is a function of other primitives."""

    def __init__(self, fun: Function, multiple_results: bool) -> None:
        self.fun = fun
        self.multiple_results = multiple_results

    def __call__(self, ctx: Any, *values: Any, **params: Any) -> Any:
        def flat(*operands: Any) -> Any:
            out = self.fun(*operands, **params)
            return list(out) if self.multiple_results else [out]

        program = trace_to_jaxpr(flat, ctx.avals_in, DebugInfo("lower_fun", self.fun))
        results = ctx.inline(program, values)
        return results if self.multiple_results else results[0]


def lower_fun(fun: Function, multiple_results: bool = True) -> LoweredFunction:
    """A lowering rule: what the function computes with other primitives."""
    return LoweredFunction(fun, multiple_results)


def register_lowering(
    prim: Primitive, rule: Function, platform: str | None = None, **options: Any
) -> Function:
    """Give a lowering.

    A rule that ``lower_fun`` made becomes bindax's. Others build operations for JAX's own compiler;
    without one, the primitive's evaluation is called when the program runs.

    Raises:
        NotImplementedError: when JAX has no such platform.
    """
    if platform not in (None, *_PLATFORMS):
        raise NotImplementedError(
            f"Registering an MLIR lowering rule for primitive {prim} for an unknown platform "
            f"{platform}. Known platforms are: {', '.join(_PLATFORMS)}."
        )
    if isinstance(rule, LoweredFunction):
        made = rules.lowering["stablehlo"](rule, platform=platform)
        put_rule(rules.lowering["stablehlo"], prim, of_package(made))
    return rule
