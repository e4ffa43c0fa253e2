"""Operands as arrays: from whatever is a legal value to what rules compute with."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.arrays._array import Array
from bindax_core.kernel._aval import find_value_type, value_types
from bindax_core.kernel._operands import content, unwrapped
from bindax_core.kernel._trace import Tracer


def host_operand(x: Any) -> tuple[Any, Any]:
    """The type of a value that is no ``Array``, and what ``impl`` rules take for it."""
    value_type = value_types.get(type(x)) or find_value_type(type(x))
    if value_type is None:
        return host_operand(content(x))
    aval = value_type.typeof(x)
    host: Any = x if value_type.to_numpy is None else value_type.to_numpy(x, aval)
    if isinstance(x, np.ndarray):
        host = host.view()  # the caller may write to it, a rule never
        host.setflags(write=False)
    return aval, host


def as_array(x: Any) -> Any:
    """An operand as an ``Array`` that shares no memory with it; tracers stay as they are.

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
    aval, host = host_operand(x)
    return Array(aval, np.array(host)) if isinstance(host, np.ndarray) else x


def is_reusable(value: Any) -> bool:
    """Tell whether an equal parameter can come again: no function or program, nor one in a tuple.

    What is remembered for a parameter that cannot keeps alive all that it closes over.
    """
    if type(value) is tuple:
        return all(map(is_reusable, value))
    by_identity: Any = object.__hash__
    return value is None or type(value).__hash__ is not by_identity


def wrong_parameter(primitive_name: str, name: str, value: Any) -> str:
    """The text of the error for a parameter that must be an operand, or hashable."""
    what = f"the parameter {name!r} of {primitive_name} is a {type(value).__name__}"
    if type(value) is list:
        return f"{what}: parameters are static and hashable; give a tuple, {tuple(value)!r:.80}."
    return (
        f"{what}: parameters are static and hashable, which transformations cannot look into; "
        f"give the value as an operand, {primitive_name}_p.bind(..., {name})."
    )
