"""Random jaxprs that are well-typed: each equation is chosen among those that its operand fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bindax_core import find_primitive
from bindax_core.extend import ClosedJaxpr, ShapedArray, typeof
from bindax_transforms import make_jaxpr

Pick = tuple[int, int, int]
"""Numbers that choose the operand of an equation, the operation, and the other operand."""
Operation = Callable[[Any, Any], Any]

_UNARY = ("sin", "cos", "tanh", "neg", "abs", "sign", "floor")
_BINARY = ("add", "sub", "mul", "max", "min")
_RESULTS = 2


def jaxpr_of(avals: Sequence[ShapedArray], picks: Sequence[Pick]) -> ClosedJaxpr:
    """The jaxpr of operations that numbers choose; its results are what was computed last.

    >>> import bindax_lax_basic
    >>> closed = jaxpr_of([ShapedArray((3,), np.dtype("float32"))], [(0, 0, 0), (1, 3, 0)])
    >>> [eqn.primitive.name for eqn in closed.jaxpr.eqns]
    ['sin', 'neg']
    """

    def program(*operands: Any) -> list[Any]:
        values = list(operands)
        for which, what, other in picks:
            x = values[which % len(values)]
            fitting = [y for y in values if typeof(y) == typeof(x)]
            operations = list(_operations(typeof(x)))
            operation = operations[what % len(operations)]
            values.append(operation(x, fitting[other % len(fitting)]))
        return values[-_RESULTS:]

    return make_jaxpr(program)(*avals)


def _operations(aval: Any) -> Iterator[Operation]:
    """The operations that a value of a type fits, with others of the same type."""
    if aval.dtype == np.bool_:
        yield partial(_one, "not")
        yield partial(_two, "and")
        yield partial(_one, "convert_element_type", new_dtype=np.dtype("float32"), weak_type=False)
    else:
        for name in _UNARY if aval.dtype.kind == "f" else ("neg", "abs", "sign"):
            yield partial(_one, name)
        for name in _BINARY:
            yield partial(_two, name)
        yield partial(_two, "lt")
        yield _chosen
        for axis in range(len(aval.shape)):
            yield partial(_one, "reduce_sum", axes=(axis,))
    if aval.shape:
        yield partial(_one, "rev", dimensions=(0,))
        yield partial(_one, "transpose", permutation=tuple(range(len(aval.shape)))[::-1])
    shape, places = (2, *aval.shape), tuple(range(1, len(aval.shape) + 1))
    if len(shape) <= 3:
        yield partial(_one, "broadcast_in_dim", shape=shape, broadcast_dimensions=places)


def _one(name: str, x: Any, y: Any, **params: Any) -> Any:
    return find_primitive(name).bind(x, **params)


def _two(name: str, x: Any, y: Any) -> Any:
    return find_primitive(name).bind(x, y)


def _chosen(x: Any, y: Any) -> Any:
    """The smaller of two values, by a comparison and a choice."""
    return find_primitive("select_n").bind(find_primitive("lt").bind(x, y), y, x)
