"""Programs whose sizes are expressions, in StableHLO: operations that take sizes as operands.

Lowering rules are the same as for fixed sizes. Where an operation's sizes are in its attributes or
its result type, the context adds the operation of StableHLO that takes them as operands, and
computes them from the shapes of the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from bindax_core.extend import ClosedJaxpr, Dimension, Literal, Region, ShapedArray
from bindax_xla_backend._errors import LoweringError
from bindax_xla_backend.lowering.context import _NO_ATTRIBUTES, LoweringContext, Value
from bindax_xla_backend.lowering.module_builder import ModuleBuilder

SIZE = ShapedArray((), np.int64)
"""The type in which sizes are computed."""


class Dimensions(Protocol):
    """The front end's knowledge of the arguments of a program, and of their sizes."""

    @property
    def paths(self) -> Sequence[str]:
        """The names of the arguments, such as ``args[0]``."""

    def solve(self, size_of: Callable[[int, int], Any]) -> Mapping[str, Any]:
        """The variables, from the sizes of the arguments by position and axis."""

    def parse(self, text: str) -> Sequence[Any]:
        """Sizes separated by commas."""

    def checks(self, size_of: Callable[[int, int], Any]) -> Iterable[tuple[Any, str, Any, str]]:
        """The conditions on calls: two numbers, ``"EQ"`` or ``"GE"`` between them, and a text."""


def _operator(name: str) -> Callable[[Number, Any], Number]:
    return lambda self, other: self.ctx.number(name, self, other)


class Number:
    """A size as a value of a program, with arithmetic."""

    __slots__ = ("ctx", "value")

    def __init__(self, ctx: SymbolicContext, value: Value) -> None:
        self.ctx: SymbolicContext = ctx
        self.value: Value = value

    __add__: Final = _operator("add")
    __radd__ = __add__
    __sub__: Final = _operator("subtract")
    __mul__: Final = _operator("multiply")
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Number:
        return self.ctx.number("subtract", other, self)

    def __mod__(self, other: Any) -> Number:
        # StableHLO's remainder has the sign of the dividend; divisors here are positive.
        signed = self.ctx.number("remainder", self, other)
        return self.ctx.number("remainder", signed + other, other)

    def __rmod__(self, other: Any) -> Number:
        return Number(self.ctx, self.ctx.size(other)) % self

    def __floordiv__(self, other: Any) -> Number:
        return self.ctx.number("divide", self - self % other, other)

    def __rfloordiv__(self, other: Any) -> Number:
        return Number(self.ctx, self.ctx.size(other)) // self


class SymbolicContext(LoweringContext):
    """A lowering context for programs some of whose sizes are expressions."""

    __slots__ = ("_dimensions", "_variables")

    def __init__(
        self,
        builder: ModuleBuilder,
        block: Any,
        dimensions: Dimensions,
        variables: Mapping[str, Value],
    ) -> None:
        super().__init__(builder, block)
        self._dimensions = dimensions
        self._variables = variables

    def _nested(self, block: Any) -> LoweringContext:
        return SymbolicContext(self._builder, block, self._dimensions, self._variables)

    def constant(self, value: Any) -> Value:
        """A constant, which may be a size."""
        if isinstance(value, Dimension):
            return self.size(value)
        return super().constant(value)

    def call(self, closed_jaxpr: ClosedJaxpr, values: Sequence[Value], name: str) -> list[Value]:
        """The operations of the program in place: functions do not see the sizes around them."""
        return self.inline(closed_jaxpr, values, f"jit({name})")

    def _literal(self, literal: Literal) -> Value:
        if not isinstance(literal.val, Dimension):
            return super()._literal(literal)
        size = self.size(literal.val)
        if literal.aval.dtype == SIZE.dtype:
            return size
        (converted,) = super().op("stablehlo.convert", [size], [literal.aval])
        return converted

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        result_avals: Sequence[ShapedArray] | None = None,
        attributes: Mapping[str, str] = _NO_ATTRIBUTES,
        regions: Sequence[Region] = (),
    ) -> list[Value]:
        """Add one operation, in the form that takes sizes as operands where it has such."""
        avals = self.avals_out if result_avals is None else result_avals
        symbolic = any(is_symbolic(aval) for aval in avals)
        build = _DYNAMIC.get(name)
        if build is not None and (symbolic or any(map(self._has_symbol, attributes.values()))):
            return build(self, list(operands), avals, attributes)
        if symbolic and name == "stablehlo.custom_call":
            operands, attributes = _with_shapes(self, operands, avals, attributes)
        try:
            return super().op(name, operands, avals, attributes, regions)
        except LoweringError as error:
            if any(self._has_symbol(text) for text in attributes.values()):
                raise LoweringError(
                    f"{name} cannot have the symbolic sizes {dict(attributes)}; export the "
                    f"program for fixed sizes there."
                ) from error
            raise

    def number(self, operation: str, left: Any, right: Any) -> Number:
        """The result of an operation on two sizes."""
        operands = [self.size(left), self.size(right)]
        return Number(self, self.op(f"stablehlo.{operation}", operands, [SIZE])[0])

    def size(self, size: Any) -> Value:
        """A size, which may be a number of the program, as a scalar value."""
        if isinstance(size, Number):
            return size.value
        if not isinstance(size, Dimension):
            return self.constant(np.int64(size))
        found = self._constants.get(size)
        if found is None:
            numbers = {name: Number(self, value) for name, value in self._variables.items()}
            larger, smaller = (partial(self.number, name) for name in ("maximum", "minimum"))
            number = size.evaluate(numbers, larger, smaller)  # type: ignore[attr-defined]
            found = self._constants[size] = number.value
        return found

    def sizes(self, sizes: Sequence[Any]) -> Value:
        """Sizes as a vector value."""
        if not any(isinstance(size, Dimension) for size in sizes):
            return self.constant(np.array([int(size) for size in sizes], np.int64))
        return _vector(self, [self.size(n) for n in sizes])

    def parsed_sizes(self, text: str) -> list[Any]:
        """The sizes in the text of an attribute, such as ``array<i64: 0, b>``."""
        inner = re.sub(r"^array<i64:?|^dense<|>( : tensor<[^>]*>)?$|[\[\]]", "", text)
        return list(self._dimensions.parse(inner))

    def _has_symbol(self, text: str) -> bool:
        try:
            return any(isinstance(size, Dimension) for size in self.parsed_sizes(text))
        except ValueError:
            return False


def is_symbolic(aval: Any) -> bool:
    """Tell whether a size of a type is an expression."""
    return any(isinstance(size, Dimension) for size in aval.shape)


_add = LoweringContext.op
"""Adds an operation as it is, whatever its sizes are."""


def _resized(name: str) -> Callable[..., list[Value]]:
    """An operation that takes the shape of its result as last operand."""

    def build(ctx: Any, operands: Any, avals: Any, attributes: Any) -> list[Value]:
        shape = ctx.sizes(avals[0].shape)
        return _add(ctx, name, [*operands, shape], avals, attributes)

    return build


def _with_sizes(name: str, *keys: str) -> Callable[..., list[Value]]:
    """An operation that takes what are attributes for fixed sizes as last operands."""

    def build(ctx: Any, operands: Any, avals: Any, attributes: Any) -> list[Value]:
        sizes = [ctx.sizes(ctx.parsed_sizes(attributes[key])) for key in keys]
        rest = {key: text for key, text in attributes.items() if key not in keys}
        return _add(ctx, name, [*operands, *sizes], avals, rest)

    return build


def _dynamic_slice(ctx: Any, operands: Any, avals: Any, attributes: Any) -> list[Value]:
    x, *starts = operands
    sizes = ctx.parsed_sizes(attributes["slice_sizes"])
    vector = SIZE.update(shape=(len(sizes),))
    parts = []
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        whole = _dimension_size(ctx, x, axis)
        (last,) = _add(ctx, "stablehlo.subtract", [whole, ctx.size(size)], [SIZE])
        (given,) = _add(ctx, "stablehlo.convert", [start], [SIZE])
        bounds = [ctx.constant(np.int64(0)), given, last]
        parts += _add(ctx, "stablehlo.clamp", bounds, [SIZE])
    first = _vector(ctx, parts)
    (limit,) = _add(ctx, "stablehlo.add", [first, ctx.sizes(sizes)], [vector])
    strides = ctx.constant(np.ones(len(sizes), np.int64))
    return _add(ctx, "stablehlo.real_dynamic_slice", [x, first, limit, strides], avals)


def _vector(ctx: Any, scalars: Sequence[Value]) -> Value:
    one, whole = SIZE.update(shape=(1,)), SIZE.update(shape=(len(scalars),))
    parts = [_add(ctx, "stablehlo.reshape", [x], [one])[0] for x in scalars]
    if len(parts) == 1:
        return parts[0]
    return _add(ctx, "stablehlo.concatenate", parts, [whole], {"dimension": "0 : i64"})[0]


def _dimension_size(ctx: Any, x: Value, axis: int) -> Value:
    narrow = ShapedArray((), np.int32)
    attributes = {"dimension": f"{axis} : i64"}
    (size,) = _add(ctx, "stablehlo.get_dimension_size", [x], [narrow], attributes)
    return _add(ctx, "stablehlo.convert", [size], [SIZE])[0]


def _convolution(ctx: Any, operands: Any, avals: Any, attributes: Any) -> list[Value]:
    padding = ctx.parsed_sizes(attributes["padding"])
    if not any(isinstance(size, Dimension) for size in padding):
        return _add(ctx, "stablehlo.convolution", operands, avals, attributes)
    pairs = SIZE.update(shape=(len(padding) // 2, 2))
    (widths,) = _add(ctx, "stablehlo.reshape", [ctx.sizes(padding)], [pairs])
    rest = {key: text for key, text in attributes.items() if key != "padding"}
    return _add(ctx, "stablehlo.dynamic_conv", [*operands, widths], avals, rest)


def _with_shapes(
    ctx: Any, operands: Sequence[Value], avals: Sequence[ShapedArray], attributes: Mapping[str, str]
) -> tuple[list[Value], dict[str, str]]:
    """A custom call that is told the shapes of its results by operands."""
    count = len(operands)
    shapes = [ctx.sizes(aval.shape) for aval in avals]
    positions = list(range(count, count + len(shapes)))
    extended = {
        **attributes,
        "indices_of_shape_operands": f"dense<{positions}> : tensor<{len(shapes)}xi64>",
    }
    layouts = attributes.get("operand_layouts")
    if layouts is not None:
        flat = ["dense<[0]> : tensor<1xindex>"] * len(shapes)
        inner = layouts.strip()[1:-1]
        extended["operand_layouts"] = f"[{', '.join([*filter(None, [inner]), *flat])}]"
    return [*operands, *shapes], extended


_DYNAMIC: dict[str, Callable[..., list[Value]]] = {
    "stablehlo.broadcast_in_dim": _resized("stablehlo.dynamic_broadcast_in_dim"),
    "stablehlo.reshape": _resized("stablehlo.dynamic_reshape"),
    "stablehlo.iota": _resized("stablehlo.dynamic_iota"),
    "stablehlo.slice": _with_sizes(
        "stablehlo.real_dynamic_slice", "start_indices", "limit_indices", "strides"
    ),
    "stablehlo.pad": _with_sizes(
        "stablehlo.dynamic_pad", "edge_padding_low", "edge_padding_high", "interior_padding"
    ),
    "stablehlo.gather": _with_sizes("stablehlo.dynamic_gather", "slice_sizes"),
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.convolution": _convolution,
}
"""The forms of operations with sizes as operands, by the operations with sizes as attributes."""
