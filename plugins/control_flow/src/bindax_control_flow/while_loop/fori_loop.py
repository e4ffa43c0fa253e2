"""``fori_loop``: a loop over a range of integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from bindax_control_flow.scan.scan import scan
from bindax_control_flow.shared.arguments import check_values
from bindax_control_flow.shared.carry import Carry, trace_body
from bindax_control_flow.while_loop.while_loop import run_loop
from bindax_core.extend import (
    Array,
    DebugInfo,
    Dimension,
    ShapedArray,
    Tracer,
    api_boundary,
    config,
    operations_for,
    tree_unflatten,
    typeof,
)
from bindax_lax_basic import add, lt
from bindax_lax_basic.extend import is_complex, is_inexact, is_integer, promote_avals
from bindax_transforms import check_function
from bindax_transforms.extend import StagedProgram, stage_with_references, stand_for

__all__ = ["fori_loop"]

R = TypeVar("R")


@api_boundary
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], R],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> R:
    """Apply a function to its own result, once for each integer of a range.

    With bounds that are not traced it is a ``scan``, differentiable in both modes; with traced
    bounds it is a ``while_loop``, differentiable in forward mode.

    Args:
        lower: the first integer, or float.
        upper: the integer after the last; nothing is done unless it is greater than ``lower``. Of
            floats, those from ``lower`` on in steps of 1 that are less.
        body_fun: takes the integer and the carry, returns the next carry: of the same structure,
            shapes and dtypes.
        init_val: the carry to begin with, a tree of arrays. Python numbers in it take the types
            that the body promotes them to.
        unroll: how many iterations one round of the compiled loop makes, or whether it is unrolled
            completely; only for bounds that are not traced.

    Returns:
        The last carry.

    Raises:
        TypeError: when a bound is no real scalar, the bounds have different dtypes, or the carry
            changes its structure or types; the message names the component.
        ValueError: when ``unroll`` is given and a bound is traced.

    >>> from bindax_control_flow import fori_loop
    >>> int(fori_loop(1, 6, lambda i, product: product * i, 1))
    120
    """
    check_function("fori_loop", "body_fun", body_fun)
    index = _index_type(lower, upper)
    traced = [name for name, x in (("lower", lower), ("upper", upper)) if isinstance(x, Tracer)]
    if config.disable_jit and not traced:
        value = init_val
        for i in range(int(lower), int(upper)):
            value = body_fun(_of_type(index, i), value)
        return value  # type: ignore[no-any-return]
    carry, body = trace_body(Carry.of("fori_loop", "init_val", init_val), body_fun, [index])
    symbolic = any(isinstance(x, Dimension) for x in (lower, upper))
    if traced and not symbolic and unroll is not None:
        raise ValueError(
            f"fori_loop was given unroll={unroll!r}, but {' and '.join(traced)} "
            f"{'is' if len(traced) == 1 else 'are'} traced, so the number of iterations is not "
            f"known. Leave unroll away, or make the bounds static with static_argnums."
        )
    rounds = None if traced or symbolic else 1 if unroll is None else unroll
    leaves = _last_carry(index, lower, upper, body_fun, body, carry, rounds)
    return tree_unflatten(carry.tree, leaves)  # type: ignore[no-any-return]


def _index_type(lower: Any, upper: Any) -> ShapedArray:
    """The type of the loop's integer: that of the bounds, of which Python integers yield."""
    avals = [_bound_type("lower", lower), _bound_type("upper", upper)]
    strong = {aval.dtype for aval in avals if not aval.weak_type}
    if len(strong) == 2 or is_integer(avals[0].dtype) != is_integer(avals[1].dtype):
        raise TypeError(
            f"lower and upper of fori_loop must have one dtype, but they are "
            f"{avals[0].str_short()} and {avals[1].str_short()}; convert one with .astype."
        )
    # Python integers keep their type: it yields to that of the arrays they meet in the body.
    pairs = tuple([(aval.dtype, aval.weak_type) for aval in avals])
    return ShapedArray((), *promote_avals(pairs, config.promotion))


def _bound_type(name: str, bound: Any) -> Any:
    check_values("fori_loop", name, bound)
    aval = typeof(bound)
    is_number = is_integer(aval.dtype) or is_inexact(aval.dtype)
    if aval.shape != () or not is_number or is_complex(aval.dtype):
        raise TypeError(
            f"{name} of fori_loop must be an integer scalar or a float, but it is "
            f"{aval.str_short()}."
        )
    return aval


def _of_type(index: ShapedArray, x: Any) -> Any:
    """A number of the index's type."""
    if not isinstance(x, Tracer | Dimension):
        return Array(index, np.asarray(x, index.dtype))
    return operations_for(index).convert(x, index.dtype, index.weak_type)


def _last_carry(
    index: ShapedArray,
    lower: Any,
    upper: Any,
    body_fun: Callable[..., Any],
    body: StagedProgram,
    carry: Carry,
    unroll: Any,
) -> list[Any]:
    """The leaves of the last carry; with ``unroll`` None by a loop of unknown length."""
    one = _of_type(index, 1)

    def step(i: Any, *leaves: Any) -> list[Any]:
        return [add(i, one), *body.apply(i, *leaves)]

    state: Sequence[Any] = [_of_type(index, lower), *carry.operands()]
    if unroll is None:
        last, avals = _of_type(index, upper), [index, *carry.avals]
        origin = DebugInfo("fori_loop")
        condition = stage_with_references(lambda i, *_: [lt(i, last)], avals, origin)
        state = run_loop(condition, stage_with_references(step, avals, origin), state)
    else:
        number: Any = int if is_integer(index.dtype) else float
        length = max(0, math.ceil(number(upper) - number(lower)))
        key = "fori_loop", index, carry.tree, tuple(carry.avals)
        again = stand_for(lambda s, _: (step(*s), None), body_fun, *key)
        state, _ = scan(again, state, None, length=length, unroll=unroll)
    return list(state[1:])
