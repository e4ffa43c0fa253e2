"""``platform_dependent``: a function for each kind of device, of which one is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_control_flow.cond.cond import bind_branches
from bindax_control_flow.cond.primitive import DEFAULT, INDEX, branch_for
from bindax_core.extend import Primitive, api_boundary, find_backend, primitive, rules
from bindax_transforms import check_function

__all__ = ["platform_dependent", "platform_index_p"]


@api_boundary
def platform_dependent(
    *args: Any,
    default: Callable[..., Any] | None = None,
    **per_platform: Callable[..., Any],
) -> Any:
    """Apply the function that belongs to the platform the program runs on.

    All functions are traced, and return the same types. Only the one for the platform is compiled,
    so that the others may use what exists on their own platform alone. Without a compiler the
    platform is ``cpu``.

    Args:
        args: arrays and trees of arrays.
        default: for the platforms that have no function of their own.
        per_platform: functions by the name of their platform: ``cpu``, ``cuda``, ``rocm``, ``tpu``,
            or ``gpu`` for all GPUs.

    Returns:
        The result of the function for the platform.

    Raises:
        TypeError: when nothing callable is given, or the results differ in structure or type.
        ValueError: when the program is compiled for a platform without a function.

    >>> from bindax_control_flow import platform_dependent
    >>> float(platform_dependent(3.0, cpu=lambda x: x + 1.0, default=lambda x: x))
    4.0
    """
    functions = dict(per_platform)
    if default is not None:
        functions[DEFAULT] = default
    if not functions:
        raise TypeError(
            "platform_dependent needs a function: name a platform, as in cpu=..., or give default."
        )
    for platform, function in functions.items():
        check_function("platform_dependent", platform, function)
    platforms = tuple(functions)
    index = platform_index_p.bind(platforms=platforms)
    return bind_branches(
        "platform_dependent", index, list(functions.values()), args, platforms=platforms
    )


def _impl(*, platforms: tuple[str, ...]) -> Any:
    return np.asarray(branch_for(platforms, find_backend().platform), np.int32)


def _lowering(ctx: Any, *, platforms: tuple[str, ...]) -> Any:
    return ctx.constant(np.asarray(branch_for(platforms, ctx.platform), np.int32))


_NO_OPERAND = "it has no operand"

platform_index_p: Primitive = primitive(
    "platform_index",
    rules.impl(_impl),
    rules.abstract_eval(lambda *, platforms: INDEX),
    rules.jvp.absent(_NO_OPERAND),
    rules.vmap.absent(_NO_OPERAND),
    rules.transpose.absent(_NO_OPERAND),
    rules.lowering["stablehlo"](_lowering),
)
"""Gives the index among ``platforms`` of the one that the program runs on: an int32 scalar that is
known when the program is compiled."""
