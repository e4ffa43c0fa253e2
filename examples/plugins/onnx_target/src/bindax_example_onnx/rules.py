"""The rules for the standard primitives."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx

from bindax_core import find_primitive
from bindax_core.extend import Extension, extend
from bindax_example_onnx.graph import Graph, to_onnx

NODES = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "add": "Add",
    "and": "And",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "copy": "Identity",
    "cos": "Cos",
    "cosh": "Cosh",
    "div": "Div",
    "eq": "Equal",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "ge": "GreaterOrEqual",
    "gt": "Greater",
    "le": "LessOrEqual",
    "log": "Log",
    "logistic": "Sigmoid",
    "lt": "Less",
    "max": "Max",
    "min": "Min",
    "mul": "Mul",
    "neg": "Neg",
    "not": "Not",
    "or": "Or",
    "pow": "Pow",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "stop_gradient": "Identity",
    "sub": "Sub",
    "tan": "Tan",
    "tanh": "Tanh",
    "xor": "Xor",
}
"""Primitives that are one node of ONNX, which broadcasts as bindax does."""

REDUCTIONS = {
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
}


def rules() -> Iterator[Extension]:
    """The rules of this package, each for a primitive of another."""
    for name, operation in NODES.items():
        yield extend(find_primitive(name), to_onnx(_node(operation)))
    for name, operation in REDUCTIONS.items():
        yield extend(find_primitive(name), to_onnx(_reduction(operation)))
    for name, rule in _OTHERS.items():
        yield extend(find_primitive(name), to_onnx(rule))


def _node(operation: str) -> Callable[..., str]:
    def rule(graph: Graph, *operands: str, **params: Any) -> Any:
        # What remains of a primitive's parameters (accuracy, and the like) has no place in ONNX.
        return graph.node(operation, *operands)

    return rule


def _reduction(operation: str) -> Callable[..., str]:
    def rule(graph: Graph, x: str, *, axes: tuple[int, ...], **params: Any) -> Any:
        if not axes:  # ONNX takes no axes for all of them
            return x
        return graph.node(operation, x, graph.axes(axes), keepdims=0)

    return rule


def _number(graph: Graph, value: float) -> str:
    return graph.constant(value, graph.avals_in[0].dtype)


def _ne(graph: Graph, x: str, y: str) -> Any:
    return graph.node("Not", graph.node("Equal", x, y))


def _rsqrt(graph: Graph, x: str, **params: Any) -> Any:
    return graph.node("Reciprocal", graph.node("Sqrt", x))


def _square(graph: Graph, x: str, **params: Any) -> Any:
    return graph.node("Mul", x, x)


def _expm1(graph: Graph, x: str, **params: Any) -> Any:
    """Two sinh(x/2) exp(x/2), which keeps the digits near zero."""
    half = graph.node("Mul", x, _number(graph, 0.5))
    product = graph.node("Mul", graph.node("Sinh", half), graph.node("Exp", half))
    return graph.node("Mul", product, _number(graph, 2.0))


def _log1p(graph: Graph, x: str, **params: Any) -> Any:
    """Twice atanh(x / (2 + x)), which keeps the digits near zero."""
    ratio = graph.node("Div", x, graph.node("Add", x, _number(graph, 2.0)))
    return graph.node("Mul", graph.node("Atanh", ratio), _number(graph, 2.0))


def _integer_pow(graph: Graph, x: str, *, y: int) -> Any:
    return graph.node("Pow", x, _number(graph, y))


def _clamp(graph: Graph, low: str, x: str, high: str) -> Any:
    return graph.node("Min", graph.node("Max", x, low), high)


def _select_n(graph: Graph, which: str, *cases: str) -> Any:
    if len(cases) == 1:
        return graph.node("Identity", cases[0])
    if graph.avals_in[0].dtype == np.bool_:
        return graph.node("Where", which, cases[1], cases[0])
    dtype, chosen = graph.avals_in[0].dtype, cases[-1]
    for i in reversed(range(len(cases) - 1)):
        here = graph.node("LessOrEqual", which, graph.constant(i, dtype))
        chosen = graph.node("Where", here, cases[i], chosen)
    return chosen


def _convert(graph: Graph, x: str, *, new_dtype: Any, **params: Any) -> Any:
    return graph.node("Cast", x, to=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(new_dtype)))


def _to_shape(graph: Graph, x: str, **params: Any) -> Any:
    """A new shape with the same elements in the same order."""
    return graph.node("Reshape", x, graph.axes(graph.avals_out[0].shape), allowzero=1)


def _transpose(graph: Graph, x: str, *, permutation: tuple[int, ...]) -> Any:
    return graph.node("Transpose", x, perm=list(permutation)) if permutation else x


def _broadcast(
    graph: Graph, x: str, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...], **_: Any
) -> Any:
    spread = [1] * len(shape)
    for size, axis in zip(graph.avals_in[0].shape, broadcast_dimensions, strict=True):
        spread[axis] = size
    reshaped = graph.node("Reshape", x, graph.axes(spread), allowzero=1)
    return graph.node("Expand", reshaped, graph.axes(shape))


def _concatenate(graph: Graph, *operands: str, dimension: int) -> Any:
    return graph.node("Concat", *operands, axis=dimension)


def _slice(
    graph: Graph,
    x: str,
    *,
    start_indices: tuple[int, ...],
    limit_indices: tuple[int, ...],
    strides: tuple[int, ...] | None,
) -> Any:
    axes = range(len(start_indices))
    steps = strides or (1,) * len(start_indices)
    parts = [graph.axes(part) for part in (start_indices, limit_indices, list(axes), steps)]
    return graph.node("Slice", x, *parts) if start_indices else graph.node("Identity", x)


def _rev(graph: Graph, x: str, *, dimensions: tuple[int, ...]) -> Any:
    if not dimensions:
        return graph.node("Identity", x)
    count, least = len(dimensions), np.iinfo(np.int64).min
    parts = [graph.axes(part) for part in ([-1] * count, [least] * count, dimensions, [-1] * count)]
    return graph.node("Slice", x, *parts)


def _pad(graph: Graph, x: str, value: str, *, padding_config: Any) -> Any:
    """Padding at the ends; ONNX removes elements where it is negative, and has none between."""
    if any(interior for _, _, interior in padding_config):
        raise TypeError(
            "ONNX has no padding between elements; the pad that a strided slice has as its "
            "derivative cannot be exported."
        )
    if not padding_config:
        return graph.node("Identity", x)
    lows, highs, _ = zip(*padding_config, strict=True)
    return graph.node("Pad", x, graph.axes([*lows, *highs]), value)


def _cumsum(graph: Graph, x: str, *, axis: int, reverse: bool) -> Any:
    return graph.node("CumSum", x, graph.constant(axis, np.int64), reverse=int(reverse))


def _argmax(operation: str) -> Callable[..., Any]:
    def rule(graph: Graph, x: str, *, axes: tuple[int, ...], index_dtype: Any) -> Any:
        found = graph.node(operation, x, axis=axes[0], keepdims=0)
        to = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(index_dtype))
        return graph.node("Cast", found, to=to)

    return rule


def _dot_general(graph: Graph, x: str, y: str, *, dimension_numbers: Any, **params: Any) -> Any:
    """Einstein's notation says which axes meet."""
    (x_contracted, y_contracted), (x_batch, y_batch) = dimension_numbers
    letters = iter(string.ascii_lowercase)
    left = [next(letters) for _ in graph.avals_in[0].shape]
    right = [next(letters) for _ in graph.avals_in[1].shape]
    pairs = zip((*x_contracted, *x_batch), (*y_contracted, *y_batch), strict=True)
    for i, j in pairs:
        right[j] = left[i]
    shared = [left[i] for i in x_batch]
    out = [
        *shared,
        *(a for i, a in enumerate(left) if i not in (*x_contracted, *x_batch)),
        *(a for j, a in enumerate(right) if j not in (*y_contracted, *y_batch)),
    ]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    return graph.node("Einsum", x, y, equation=equation)


def _iota(graph: Graph, *, dtype: Any, shape: tuple[int, ...], dimension: int, **_: Any) -> Any:
    along = [1] * len(shape)
    along[dimension] = shape[dimension]
    values = np.arange(shape[dimension]).astype(np.dtype(dtype)).reshape(along)
    return graph.constant(np.broadcast_to(values, shape))


def _jit(graph: Graph, *operands: str, jaxpr: Any, **params: Any) -> list[str]:
    return graph.inline(jaxpr, operands)


_OTHERS: dict[str, Callable[..., Any]] = {
    "argmax": _argmax("ArgMax"),
    "argmin": _argmax("ArgMin"),
    "broadcast_in_dim": _broadcast,
    "clamp": _clamp,
    "concatenate": _concatenate,
    "convert_element_type": _convert,
    "cumsum": _cumsum,
    "dot_general": _dot_general,
    "expm1": _expm1,
    "integer_pow": _integer_pow,
    "iota": _iota,
    "jit": _jit,
    "log1p": _log1p,
    "pad": _pad,
    "ne": _ne,
    "reshape": _to_shape,
    "rev": _rev,
    "rsqrt": _rsqrt,
    "select_n": _select_n,
    "slice": _slice,
    "square": _square,
    "squeeze": _to_shape,
    "transpose": _transpose,
}
