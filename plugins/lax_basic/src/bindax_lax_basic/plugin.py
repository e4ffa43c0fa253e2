"""Supply operations, operators and methods of arrays, and samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any

from bindax_core.extend import ArrayOperations, api_boundary, hookimpl, typeof
from bindax_lax_basic.array.methods import ATTRIBUTES
from bindax_lax_basic.array.operators import OPERATORS
from bindax_lax_basic.dtypes import bool_
from bindax_lax_basic.elementwise.arithmetic import add_p
from bindax_lax_basic.elementwise.comparison import or_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_axis
from bindax_lax_basic.shape.creation import filled
from bindax_lax_basic.shape.slice_and_pad import index_in_dim
from bindax_lax_basic.shape.split import stack
from bindax_lax_basic.shape.transpose import moveaxis


def _add(x: Any, y: Any) -> Any:
    return (or_p if typeof(x).dtype == bool_ else add_p).bind(x, y)


@hookimpl
def bindax_array_operations() -> ArrayOperations:
    """Operations on arrays that interpreters use, in terms of the primitives."""
    return ArrayOperations(
        zeros=lambda aval: filled(aval, 0),
        ones=lambda aval: filled(aval, 1),
        add=_add,
        broadcast_axis=broadcast_axis,
        move_axis=moveaxis,
        index_axis=lambda x, i, axis: index_in_dim(x, i, axis, keepdims=False),
        stack=stack,
        convert=convert,
    )


@hookimpl
def bindax_array_attributes() -> Mapping[str, Any]:
    """The operators, methods and properties of arrays and tracers."""
    # Operators hide the frames below them themselves, at no cost; methods are called less often.
    return {
        name: api_boundary(value)
        if isinstance(value, FunctionType) and name not in OPERATORS
        else value
        for name, value in ATTRIBUTES.items()
    }


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Samples of the primitives, for the conformance suite."""
    from bindax_lax_basic.samples.conformance import conformance_samples

    return conformance_samples()
