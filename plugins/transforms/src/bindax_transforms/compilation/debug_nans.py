"""NaNs and infinities found where they come from: ``config.debug_nans`` and ``debug_infs``.

While one of them is on, evaluation looks at each result. A program that returned one is interpreted
once more, which finds the operation inside it; its equation knows the user's line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.errors import DeletedArrayError, NonFiniteError
from bindax_core.extend import (
    Array,
    EvalTrace,
    Primitive,
    config,
    evaluate_with,
    is_differentiable,
    user_source_info,
)

_NAMES = {"debug_nans": "nan", "debug_infs": "inf"}
_FILLING = frozenset({"broadcast_in_dim", "convert_element_type"})  # they make no new numbers


def watch() -> None:
    """Have evaluation look at its results while one of the settings is on in some thread."""
    watching = config.is_on("debug_nans") or config.is_on("debug_infs")
    # Another interpreter, so that evaluation has nothing to ask while both are off.
    evaluate_with(WatchedEvalTrace if watching else EvalTrace)


class WatchedEvalTrace(EvalTrace):
    """Evaluation that looks for NaNs and infinities in results, where a setting is on."""

    __slots__ = ()

    def process_primitive(
        self, primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]
    ) -> Sequence[Any]:
        """Compute the results of a primitive, and raise for those that are not finite."""
        outs = super().process_primitive(primitive, operands, params)
        if not (config.debug_nans or config.debug_infs):  # but in another thread
            return outs
        for x in outs:
            setting = _found_in(x)
            if setting is not None and not _is_written(primitive, operands):
                outcome = _interpret(self, primitive, operands, params)
                raise _error(setting, primitive, x, outcome)
        return outs


def _found_in(x: Any) -> str | None:
    """The setting that looks for what an array holds, or None when it holds nothing such."""
    if type(x) is not Array or not is_differentiable(x.aval.dtype) or x.is_deleted():
        return None
    values: Any = x.numpy()
    if config.debug_nans and np.isnan(values).any():
        return "debug_nans"
    return "debug_infs" if config.debug_infs and np.isinf(values).any() else None


def _is_written(primitive: Primitive, operands: Sequence[Any]) -> bool:
    """Tell whether the program says a number that is not finite, as what to fill an array with."""
    number = operands[0] if primitive.name in _FILLING else None
    if type(number) is Array:
        return not np.isfinite(number.numpy()).any()
    return not any(type(x) is Array or np.isfinite(x).all() for x in operands)


def _interpret(
    trace: EvalTrace, primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]
) -> str:
    """Apply a jaxpr once more, operation by operation; tell of its operands if none raises."""
    given = any(_found_in(x) is not None for x in operands)
    came = "An operand has one already." if given else "No operand has one."
    if not primitive.takes_values or config.backend == "numpy":
        return came
    try:
        with config.override(backend="numpy"):
            params = {**params, "backend": None} if "backend" in params else params
            # Where the bytes are on the host, single operations run there as well.
            operands = [Array(x.aval, x.numpy()) if type(x) is Array else x for x in operands]
            EvalTrace.process_primitive(trace, primitive, operands, params)
    except DeletedArrayError:
        return "Its operands were donated, so it cannot run again: leave out donate_argnums."
    return f"{came} None of its operations gives one when they run one by one."


def _error(setting: str, primitive: Primitive, x: Array, outcome: str) -> NonFiniteError:
    word, values = _NAMES[setting], np.asarray(x.numpy())
    count = int((np.isnan(values) if word == "nan" else np.isinf(values)).sum())
    of = f"{count} of the {values.size} elements of " if values.size > 1 else ""
    return NonFiniteError(
        f"invalid value ({word}) encountered in {primitive.name}: {of}{x.aval.str_short()}",
        user_source_info(1),
        f"{outcome} config.{setting} looks for them.",
    )
