"""The rules that the primitives of this package share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_callbacks.host_function import ForEach, HostFunction
from bindax_core.extend import Array, Effect, LoweringContext, Primitive, Rule, as_array, rules
from bindax_transforms import check_unordered

NO_DERIVATIVE = (
    "what a Python function computes cannot be seen; give its derivative with custom_jvp or "
    "custom_vjp, or stop_gradient its arguments"
)


def _impl(*operands: Any, callback: HostFunction, **params: Any) -> list[Array]:
    arrays = [as_array(x).numpy() for x in operands]
    return [as_array(x) for x in callback(*arrays)]


def _abstract_eval(*avals: Any, callback: HostFunction, **params: Any) -> list[Any]:
    return list(callback.result_avals)


def host_rules(*, pure: bool = False) -> list[Rule]:
    """Make the rules that type, evaluate and compile the call of a host function.

    Calls of a ``pure`` one may be dropped, merged and reordered.
    """

    def lower(
        ctx: LoweringContext,
        *values: Any,
        callback: HostFunction,
        ordered: bool = False,
        **params: Any,
    ) -> list[Any]:
        return ctx.callback(callback, values, callback.result_avals, pure=pure, ordered=ordered)

    return [
        rules.impl(_impl, on_values=True),
        rules.abstract_eval(_abstract_eval),
        rules.lowering["stablehlo"](lower),
    ]


def effects(unordered: Effect, ordered: Effect) -> Rule:
    """The ``effects`` rule of a primitive with the parameter ``ordered``."""
    sets = (frozenset({unordered}), frozenset({ordered}))
    return rules.effects(lambda **params: sets[params["ordered"]])


def map_elements(
    primitive: Primitive,
    axis_size: int,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    **params: Any,
) -> tuple[list[Any], list[Any]]:
    """A ``vmap`` rule: one application, whose host function goes through the elements."""
    check_unordered(primitive, params)
    callback: HostFunction = params["callback"]
    avals = [a.with_axis(0, axis_size) for a in callback.result_avals]
    batched = ForEach(callback, axis_size, tuple(dims), tuple(avals))
    outs = primitive.bind(*operands, **{**params, "callback": batched})
    return outs, [0] * len(outs)
