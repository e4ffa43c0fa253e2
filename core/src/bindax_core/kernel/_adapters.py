"""From rules as cards have them to rules as interpreters call them.

On the card of a one-result primitive, rules take and return single values; inside the
interpreters all deal in sequences of results. The adapters here stand between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bindax_core.arrays._operations import Zero, instantiate_zeros
from bindax_core.kernel._rule_errors import pair_of

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

Function = Callable[..., Any]


def impl(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    primitive.takes_values = bool(options.get("on_values", False))
    primitive.prefers_compiler = bool(options.get("slow", False))
    return function


def list_result(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    if primitive.multiple_results:
        return function
    return lambda *args, **params: [function(*args, **params)]


def jvp(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    takes_zeros = options.get("symbolic_zeros", False)
    single = not primitive.multiple_results

    def rule(primals: Any, tangents: Any, **params: Any) -> Any:
        if not takes_zeros:
            tangents = [instantiate_zeros(t) if type(t) is Zero else t for t in tangents]
        result = function(primals, tangents, **params)
        if type(result) is not tuple or len(result) != 2:
            result = pair_of(primitive, "jvp", result)
        return ([result[0]], [result[1]]) if single else result

    return rule


def vmap(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    single = not primitive.multiple_results

    def rule(axis_size: Any, operands: Any, batch_dims: Any, **params: Any) -> Any:
        result = function(axis_size, operands, batch_dims, **params)
        if type(result) is not tuple or len(result) != 2:
            result = pair_of(primitive, "vmap", result)
        return ([result[0]], [result[1]]) if single else result

    return rule


def transpose(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    takes_zeros = options.get("symbolic_zeros", False)
    single = not primitive.multiple_results

    def rule(cotangents: Any, *operands: Any, **params: Any) -> Any:
        if not takes_zeros:
            cotangents = [instantiate_zeros(ct) for ct in cotangents]
        return function(cotangents[0] if single else cotangents, *operands, **params)

    return rule
