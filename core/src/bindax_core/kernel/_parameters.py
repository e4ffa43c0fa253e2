"""Parameters of primitives: static and hashable."""

from __future__ import annotations

from typing import Any

from bindax_core.kernel._aval import is_value
from bindax_core.kernel._trace import Tracer


def is_no_parameter(value: Any) -> bool:
    """Tell whether a value is a list, or an operand that interpreters must see."""
    return isinstance(value, list | Tracer) or (type(value).__hash__ is None and is_value(value))


def is_reusable(value: Any) -> bool:
    """Tell whether an equal parameter can come again: no function or jaxpr, nor one in a tuple.

    What is cached for a parameter that cannot keeps alive all that it closes over.
    """
    if type(value) is tuple:
        return all(map(is_reusable, value))
    by_identity: Any = object.__hash__
    return value is None or type(value).__hash__ is not by_identity


def wrong_parameter(primitive_name: str, name: str, value: Any) -> str:
    """Describe a parameter that must be an operand, or hashable."""
    what = f"the parameter {name!r} of {primitive_name} is a {type(value).__name__}"
    if type(value) is list:
        return f"{what}: parameters are static and hashable; give a tuple, {tuple(value)!r:.80}."
    return (
        f"{what}: parameters are static and hashable, which transformations cannot look into; "
        f"give the value as an operand, {primitive_name}_p.bind(..., {name})."
    )
