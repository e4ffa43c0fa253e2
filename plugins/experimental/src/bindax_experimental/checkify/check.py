"""``check``: the primitive that says what must hold, and its rules."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    Effect,
    Primitive,
    api_boundary,
    is_value,
    operations_for,
    primitive,
    rules,
    tree_flatten,
    typeof,
    user_source_info,
)
from bindax_experimental.checkify.errors import (
    Error,
    ErrorCategory,
    FailedCheckError,
    Failure,
    Slot,
    failures,
    slot_of,
)

CHECK = Effect("check", repeatable=True)


@api_boundary
def check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """State what must hold when the program runs.

    In a function that ``checkify`` transforms, a failure becomes a part of its result. Elsewhere it
    is raised: at once, and by compiled programs when they run.

    Args:
        pred: a boolean scalar, which must be true.
        msg: a format string for the error, with the fields of ``str.format``.
        fmt_args: arrays for its fields by position.
        fmt_kwargs: arrays for its fields by name.

    Raises:
        TypeError: when ``pred`` is no boolean scalar, or a value of a field no array.
        ValueError: at once, when a field has no value.
        FailedCheckError: when ``pred`` is false and no ``checkify`` is around.

    >>> check(np.float32(2.0) > 1, "{} is small", np.float32(2.0))
    """
    _check("check", pred, msg, fmt_args, fmt_kwargs, debug=False)


@api_boundary
def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """State what must hold; without ``checkify`` around, nothing is checked.

    Args:
        pred: a boolean scalar, which must be true.
        msg: a format string for the error, with the fields of ``str.format``.
        fmt_args: arrays for its fields by position.
        fmt_kwargs: arrays for its fields by name.

    Raises:
        TypeError: when ``pred`` is no boolean scalar, or a value of a field no array.
        ValueError: at once, when a field has no value.

    >>> debug_check(False, "this shows under checkify alone")
    """
    _check("debug_check", pred, msg, fmt_args, fmt_kwargs, debug=True)


@api_boundary
def check_error(error: Error) -> None:
    """Raise an error that a checkified function returned, or make it the error of this one.

    Args:
        error: the error.

    Raises:
        TypeError: when it is no ``Error``.
        CheckError: when it is one that failed, and no ``checkify`` is around.

    >>> from bindax_experimental.checkify import init_error
    >>> check_error(init_error)
    """
    if not isinstance(error, Error):
        raise TypeError(f"check_error takes an Error of checkify, but got {error!r:.80}.")
    batch = len(typeof(error._code).shape)
    check_p.bind(error._code, *error._payload, slots=error._slots, batch=batch, debug=False)


def _check(
    caller: str, pred: Any, msg: Any, args: Sequence[Any], kwargs: dict[str, Any], *, debug: bool
) -> None:
    aval = typeof(pred) if is_value(pred) else None
    if aval is None or aval.shape or aval.dtype != np.bool_:
        shown = repr(pred)[:80] if aval is None else aval.str_short()
        raise TypeError(f"{caller} takes a boolean scalar as pred, but got {shown}.")
    if not isinstance(msg, str):
        raise TypeError(f"{caller} takes a format string as msg, but got {msg!r:.80}.")
    values, tree = tree_flatten((tuple(args), kwargs))
    for x in values:
        if not is_value(x):
            raise TypeError(
                f"{caller} formats arrays into its message, but got {x!r:.80}. Put text into msg."
            )
    _require_fields(caller, msg, len(args), kwargs)
    failure = Failure(FailedCheckError, f"{msg} (`check` failed)", tree, str(user_source_info()))
    slot, values = payload_of(values)
    code = lax.select(pred, np.int32(0), np.int32(failures.number(failure, slot)))
    check_p.bind(code, *values, slots=(slot,), batch=0, debug=debug)


def payload_of(values: Sequence[Any]) -> tuple[Slot, list[Any]]:
    """The values of a message with the types that they are kept in, and their place."""
    strong = [lax.convert_element_type(x, typeof(x).dtype) for x in values]
    return slot_of([typeof(x) for x in strong]), strong


def _require_fields(caller: str, msg: str, count: int, names: dict[str, Any]) -> None:
    automatic = 0
    for _, field, _, _ in string.Formatter().parse(msg):
        if field is None:
            continue
        root = field.partition(".")[0].partition("[")[0]
        if not root:
            root, automatic = str(automatic), automatic + 1
        if not (int(root) < count if root.isdigit() else root in names):
            raise ValueError(
                f"the message {msg!r} of {caller} has the field {root!r}, for which no value was "
                f"given. Write braces that are no field twice."
            )


# ------------------------------------------------------------------------------------- rules


def _raise(code: Any, *payload: Any, slots: tuple[Slot, ...], debug: bool) -> None:
    if not debug:
        Error(code, slots, payload).throw()


def _impl(code: Any, *payload: Any, slots: tuple[Slot, ...], batch: int, debug: bool) -> list[Any]:
    _raise(code, *payload, slots=slots, debug=debug)
    return []


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    return check_p.bind(*primals, **params), []


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[Any]]:
    batched = []
    for x, d in zip(operands, dims, strict=True):
        operations = operations_for(typeof(x))
        if d is None:
            batched.append(operations.broadcast_axis(x, axis_size, 0))
        else:
            batched.append(operations.move_axis(x, d, 0))
    return check_p.bind(*batched, **{**params, "batch": params["batch"] + 1}), []


def _lowering(
    ctx: Any, *values: Any, slots: tuple[Slot, ...], batch: int, debug: bool
) -> list[Any]:
    if debug:
        return []

    def check(*arrays: Any) -> list[Any]:
        _raise(*arrays, slots=slots, debug=False)
        return []

    return ctx.callback(check, values, (), pure=False, ordered=False)  # type: ignore[no-any-return]


def _abstract_eval(*avals: Any, **params: Any) -> list[Any]:
    return []


check_p: Primitive = primitive(
    "check",
    rules.impl(_impl),
    rules.abstract_eval(_abstract_eval),
    rules.effects(lambda **params: frozenset({CHECK})),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose.absent("a check has no result that could have a cotangent"),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Raises the error of a number that is not zero. Operands: the number, and the values of messages,
in ``slots``; parameters besides: ``batch``, how many leading axes all of them have; ``debug``,
whether it does something under ``checkify`` alone."""


def failure_number(
    kind: ErrorCategory, message: str, values: Sequence[Any]
) -> tuple[int, Slot, list[Any]]:
    """The number of a failure that a rule finds, and the values of its message in their place."""
    _, tree = tree_flatten((tuple(values), {}))
    slot, values = payload_of(values)
    return (
        failures.number(Failure(kind, message, tree, str(user_source_info())), slot),
        slot,
        values,
    )


def first_of_batch(batch: int, code: Any, payload: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The first failure among the elements of a batch that is not empty."""
    if not batch:
        return code, list(payload)
    size = typeof(code).size
    flat = lax.reshape(code, (size,))
    failed = lax.ne(flat, lax.full_like(flat, 0))
    index = lax.argmax(failed, 0, np.int32)
    rows = [flat, *(lax.reshape(x, (size, *typeof(x).shape[batch:])) for x in payload)]
    first, *chosen = [lax.dynamic_index_in_dim(x, index, 0, keepdims=False) for x in rows]
    return first, chosen
