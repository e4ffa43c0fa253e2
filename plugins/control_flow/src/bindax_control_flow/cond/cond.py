"""``cond`` and ``switch``: one of several functions applied, chosen at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from bindax_control_flow.cond.branches import trace_branches
from bindax_control_flow.cond.primitive import cond_p
from bindax_control_flow.shared.programs import join_consts, varied
from bindax_core.extend import (
    Array,
    Tracer,
    api_boundary,
    config,
    is_value,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
    wraps,
)
from bindax_lax_basic import clamp, convert_element_type, ne
from bindax_transforms import check_function, parameter_names, traced_once
from bindax_transforms.extend import (
    check_distinct,
    has_references,
    kept_apart,
    varying_along,
    varying_of,
)

__all__ = ["cond", "switch"]

R = TypeVar("R")

_MISSING: Any = object()


@overload  # a number of one branch is an array of the result
def cond(
    pred: Any,
    true_fun: Callable[..., complex],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = ...,
) -> Array: ...
@overload
def cond(
    pred: Any,
    true_fun: Callable[..., R],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = ...,
) -> R: ...
@api_boundary
def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """Apply one of two functions, depending on a condition that may be traced.

    Args:
        pred: the condition, a scalar; a number counts as true when it is not zero.
        true_fun: applied to the operands when ``pred`` is true.
        false_fun: applied otherwise; its results have the structure and types of the other's.
        operands: arrays and trees of arrays.
        operand: a single operand by keyword, ``None`` included.

    Returns:
        The result of the function that was chosen. Under ``vmap`` with a mapped condition both run
        and the results are selected elementwise.

    Raises:
        TypeError: when ``pred`` is no scalar, or the branches return different types.

    >>> from bindax_control_flow import cond
    >>> int(cond(True, lambda: 3, lambda: 4))
    3
    >>> float(cond(False, lambda x: x, lambda x: -x, 2.0))
    -2.0
    """
    if _is_five_argument_form(true_fun, false_fun, operands):
        x, then = true_fun, false_fun
        y, otherwise = operands
        return cond(pred, lambda x, y: then(x), lambda x, y: otherwise(y), x, y)
    check_function("cond", "true_fun", true_fun)
    check_function("cond", "false_fun", false_fun)
    operands = _all_operands("cond", operands, operand)
    _check_scalar("cond", "pred", pred)
    dtype = typeof(pred).dtype
    if dtype.kind == "c":
        raise TypeError(f"cond: pred must be a boolean or a real number, but is {dtype.name}.")
    index = pred if dtype == np.bool_ else ne(pred, np.zeros((), dtype))
    if not isinstance(index, Tracer):
        if config.disable_jit:
            return (true_fun if index else false_fun)(*operands)
        index = np.bool_(index)
    return bind_branches("cond", index, [false_fun, true_fun], operands)


def _all_operands(name: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is _MISSING:
        return operands
    if operands:
        raise TypeError(f"{name} takes operands by position or operand=..., not both.")
    return (operand,)


def _is_five_argument_form(second: Any, third: Any, rest: tuple[Any, ...]) -> bool:
    """Say whether cond was given ``pred, true_operand, true_fun, false_operand, false_fun``."""
    return len(rest) == 2 and callable(third) and callable(rest[1]) and not callable(second)


@overload
def switch(
    index: Any, branches: Sequence[Callable[..., Array]], *operands: Any, operand: Any = ...
) -> Array: ...
@overload
def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = ...
) -> Any: ...
@api_boundary
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """Apply one of several functions, chosen by an index that may be traced.

    Args:
        index: an integer scalar; values out of range are clamped to the first or last branch.
        branches: the functions; their results have the same structure and types.
        operands: arrays and trees of arrays.
        operand: a single operand by keyword, ``None`` included.

    Returns:
        The result of the function that was chosen.

    Raises:
        TypeError: when ``index`` is no integer scalar, or the branches return different types.
        ValueError: when there are no branches.

    >>> from bindax_control_flow import switch
    >>> float(switch(1, [lambda x: x, lambda x: 2.0 * x], 3.0))
    6.0
    """
    if not callable(getattr(branches, "__iter__", None)):
        raise TypeError(
            f"the branches of switch must be a sequence of functions, but got {branches!r:.80}."
        )
    branches = list(branches)
    if not branches:
        raise ValueError("switch needs at least one branch.")
    for i, function in enumerate(branches):
        check_function("switch", f"branches[{i}]", function)
    operands = _all_operands("switch", operands, operand)
    _check_scalar("switch", "index", index)
    if typeof(index).dtype.kind not in "iu":
        raise TypeError(
            f"the index of switch must be an integer, but it is {typeof(index).str_short()}."
        )
    last = len(branches) - 1
    if isinstance(index, Tracer):
        if typeof(index).dtype.itemsize < 4:  # a narrow dtype may not hold the last index
            index = convert_element_type(index, np.int32)
        dtype = typeof(index).dtype
        index = clamp(np.zeros((), dtype), index, np.asarray(last, dtype))
        index = convert_element_type(index, np.int32)
    else:
        index = np.int32(min(max(int(index), 0), last))
        if config.disable_jit:
            return branches[index](*operands)
    return bind_branches("switch", index, branches, operands)


def _check_scalar(name: str, argument: str, x: Any) -> None:
    if not is_value(x):
        raise unknown_type_error(x, f"{argument} of {name}: ")
    if typeof(x).shape != ():
        raise TypeError(
            f"{argument} of {name} must be a scalar, but it is {typeof(x).str_short()}; for a "
            f"choice for each element use select_n or vmap."
        )


def bind_branches(
    name: str,
    index: Any,
    functions: list[Callable[..., Any]],
    operands: tuple[Any, ...],
    **which: Any,
) -> Any:
    """Apply the function of an index to operands; ``which`` may hold ``platforms``."""
    leaves, in_tree = tree_flatten(operands)
    for x in leaves:
        if not is_value(x):
            if has_references(leaves):
                return _with_references(name, index, functions, operands, **which)
            raise unknown_type_error(x, f"an operand of {name}: ")
    avals = [typeof(x) for x in leaves]

    def trace() -> tuple[Any, list[Any]]:
        traced, out_tree = trace_branches(name, functions, operands, avals)
        branches, consts = join_consts([staged.program for staged in traced])
        return (branches, traced[0], consts, out_tree), consts

    key = (name, in_tree, tuple(avals))
    branches, first, consts, out_tree = traced_once(functions, key, trace)
    given = [*consts, *first.load(), *leaves]
    along = varying_of([typeof(index)])
    if along:  # cotangents are summed over devices outside: each takes another branch
        branches = tuple([varied(branch, along) for branch in branches])
        given = [varying_along(x, along) for x in given]
    outs = cond_p.bind(index, *given, branches=branches, **which)
    return tree_unflatten(out_tree, first.store(outs))


def _with_references(
    name: str,
    index: Any,
    functions: list[Callable[..., Any]],
    operands: tuple[Any, ...],
    **which: Any,
) -> Any:
    """Apply functions that close over the references among their operands."""
    leaves, tree = tree_flatten(operands)
    check_distinct(leaves, lambda: parameter_names(functions[0], operands, {}))
    values, restored = kept_apart(leaves)

    def closed(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*values: Any) -> Any:
            return function(*tree_unflatten(tree, restored(values)))

        return call

    return bind_branches(name, index, list(map(closed, functions)), tuple(values), **which)
