"""Conversion of operands to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.arrays._array import Array
from bindax_core.kernel._aval import find_value_type, value_types
from bindax_core.kernel._operands import to_operand, unwrapped
from bindax_core.kernel._trace import Tracer


def to_numpy(x: Any) -> tuple[Any, Any]:
    """Convert a value that is no ``Array`` to its type and what ``impl`` rules take for it."""
    value_type = value_types.get(type(x)) or find_value_type(type(x))
    if value_type is None:
        return to_numpy(to_operand(x))
    aval = value_type.typeof(x)
    host: Any = x if value_type.to_numpy is None else value_type.to_numpy(x, aval)
    if isinstance(x, np.ndarray):
        host = host.view()  # the caller may write to it, a rule never
        host.setflags(write=False)
    return aval, host


def as_array(x: Any) -> Any:
    """Convert an operand to an ``Array`` that shares no memory with it; tracers stay as they are.

    Raises:
        AbstractionError: when it is no legal operand.

    >>> as_array(2.5)
    Array(2.5, dtype=float64, weak_type=True)
    """
    if isinstance(x, (Array, Tracer)):
        return x
    inner = unwrapped(x)
    if inner is not x:
        return as_array(inner)
    aval, host = to_numpy(x)
    return Array(aval, np.array(host)) if isinstance(host, np.ndarray) else x
