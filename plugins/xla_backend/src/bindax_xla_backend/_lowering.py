"""From a jaxpr to a StableHLO module.

Operations are created one by one through ``jaxlib``'s generic constructor; each carries the place
in the user's program that it comes from. A nested ``jit`` becomes a function of the module, one
for each jaxpr, however often it is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    Region,
    ShapedArray,
    float0,
    lowering,
)
from bindax_xla_backend import _mlir
from bindax_xla_backend._callbacks import HostCallback, callback_lowering
from bindax_xla_backend._errors import LoweringError, excerpt
from bindax_xla_backend._types import element_type

Value = Any
"""A value of the program that is being built; opaque outside of ``_jaxlib``."""

_stablehlo = lowering["stablehlo"]
_NO_ATTRIBUTES: Mapping[str, str] = {}
EMBEDDED_CONSTANT_SIZE = 16
"""Constants with more elements become hidden arguments, and are not part of the program."""


class ModuleBuilder:
    """What the functions of one module share."""

    def __init__(self, context: _mlir.Context, name: str, platform: str) -> None:
        self.context = context
        self.module = context.new_module(name)
        self.platform = platform
        self.callbacks: list[HostCallback] = []
        self.rules: dict[Primitive, Callable[..., Any]] = {}
        self._symbols: dict[str, int] = {"main": 1}
        # The jaxpr is part of the value so that its id stays taken while the module is built.
        self._functions: dict[tuple[int, str], tuple[Any, str]] = {}

    def type(self, aval: ShapedArray) -> Any:
        """The tensor type of an abstract array."""
        types = self.context.tensor_types
        found = types.get(aval)
        if found is None:
            found = self.context.tensor_type(aval.shape, element_type(aval.dtype))
            types[aval] = found
        return found

    def types(self, avals: Sequence[ShapedArray]) -> list[Any]:
        """The tensor types of abstract arrays."""
        return [self.type(aval) for aval in avals]

    def rule(self, primitive: Primitive) -> Callable[..., Any]:
        """The lowering rule of a primitive for the platform; a host callback if it has none."""
        found = _stablehlo.find(primitive, self.platform) or callback_lowering(primitive)
        self.rules[primitive] = found
        return found

    def function(self, closed_jaxpr: ClosedJaxpr, name: str) -> str:
        """The symbol of the function for a jaxpr, which is lowered on the first request."""
        key = (id(closed_jaxpr.jaxpr), name)
        found = self._functions.get(key)
        if found is None:
            symbol = self._new_symbol(symbol_name(name))
            types = (self.types(closed_jaxpr.in_avals), self.types(closed_jaxpr.out_avals))
            block = self.context.function(
                self.module,
                symbol,
                types,
                {"sym_visibility": '"private"'},
                self.context.unknown_location,
            )
            ctx = LoweringContext(self, block)
            ctx.finish("func.return", ctx.inline(closed_jaxpr, list(block.arguments)))
            found = self._functions[key] = (closed_jaxpr, symbol)
        return found[1]

    def _new_symbol(self, name: str) -> str:
        count = self._symbols.get(name, 0)
        self._symbols[name] = count + 1
        return name if count == 0 else self._new_symbol(f"{name}_{count}")


class LoweringContext:
    """What a lowering rule works with: the equation's types, and the means to add operations.

    A rule uses the context during its call only. Values that it gets and returns are opaque.

    Attributes:
        avals_in: the types of the operands of the equation.
        avals_out: the types of its results.
        platform: the platform the program is for, such as ``"cpu"``.
    """

    __slots__ = (
        "_block",
        "_builder",
        "_constants",
        "_location",
        "_point",
        "_types",
        "avals_in",
        "avals_out",
        "platform",
    )

    avals_in: tuple[ShapedArray, ...]
    avals_out: tuple[ShapedArray, ...]
    platform: str

    def __init__(self, builder: ModuleBuilder, block: Any) -> None:
        self.avals_in = ()
        self.avals_out = ()
        self.platform = builder.platform
        self._builder = builder
        self._block = block
        self._point = _mlir.end_of(block)
        self._location = builder.context.unknown_location
        self._types = builder.context.tensor_types
        self._constants: dict[Any, Value] = {}

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        result_avals: Sequence[ShapedArray] | None = None,
        attributes: Mapping[str, str] = _NO_ATTRIBUTES,
        regions: Sequence[Region] = (),
    ) -> list[Value]:
        """Add one operation.

        Args:
            name: the full name, such as ``"stablehlo.add"``.
            operands: its operands.
            result_avals: the types of its results; those of the equation when omitted.
            attributes: MLIR attributes as text, such as ``{"dimension": "0 : i64"}``.
            regions: the bodies of a control-flow operation or a reduction.

        Returns:
            Its results.

        Raises:
            LoweringError: when an attribute's text does not parse.
        """
        known, make = self._types.get, self._builder.type
        avals = self.avals_out if result_avals is None else result_avals
        operation = _mlir.create_operation(
            name,
            [known(aval) or make(aval) for aval in avals],
            list(operands),
            self._parsed(name, attributes) if attributes else None,
            None,
            len(regions),
            self._location,
            self._point,
        )
        if regions:
            for region, body in zip(regions, operation.regions, strict=True):
                self._build_region(region, body, name)
        return list(operation.results)

    def constant(self, value: Any) -> Value:
        """A constant of the value's shape and dtype.

        Args:
            value: a NumPy array or scalar.
        """
        array = np.asarray(value)
        if array.dtype == float0:
            array = np.zeros(array.shape, np.bool_)
        key = None
        if array.size <= EMBEDDED_CONSTANT_SIZE:
            key = (array.dtype, array.shape, array.tobytes())
            found = self._constants.get(key)
            if found is not None:
                return found
        made = self._new_constant(array)
        if key is not None:
            self._constants[key] = made
        return made

    def broadcast(
        self,
        value: Value,
        aval_from: ShapedArray,
        aval_to: ShapedArray,
        dimensions: Sequence[int] = (),
    ) -> Value:
        """Repeat a value along new axes and along axes of size 1.

        Args:
            value: the value, of type ``aval_from``.
            aval_from: its type.
            aval_to: the type of the result.
            dimensions: for each axis of ``aval_from``, the axis of ``aval_to`` it becomes.
        """
        if aval_from.shape == aval_to.shape and tuple(dimensions) == tuple(range(aval_to.ndim)):
            return value
        attributes = {"broadcast_dimensions": int_array(dimensions)}
        return self.op("stablehlo.broadcast_in_dim", [value], [aval_to], attributes)[0]

    def inline(self, closed_jaxpr: ClosedJaxpr, values: Sequence[Value]) -> list[Value]:
        """Add the operations of a jaxpr here; give its results."""
        body = LoweringContext(self._builder, self._block)
        body._point = self._point
        body._location = self._location
        body._constants = self._constants
        consts = [body.constant(host_constant(const)) for const in closed_jaxpr.consts]
        return body.lower(closed_jaxpr.jaxpr, consts, values)

    def call(self, closed_jaxpr: ClosedJaxpr, values: Sequence[Value], name: str) -> list[Value]:
        """Call the function for a jaxpr, made once for each jaxpr and name; give its results."""
        symbol = self._builder.function(closed_jaxpr, name)
        return self.op(
            "func.call", values, closed_jaxpr.out_avals, {"callee": f"@{_mlir.quoted(symbol)}"}
        )

    def callback(
        self,
        function: Callable[..., Any],
        operands: Sequence[Value],
        result_avals: Sequence[ShapedArray],
        *,
        operand_avals: Sequence[ShapedArray] | None = None,
        pure: bool = False,
    ) -> list[Value]:
        """Call a host function when the program runs.

        Args:
            function: takes read-only NumPy arrays; returns a sequence of arrays, which are
                checked against ``result_avals``.
            operands: its operands.
            result_avals: the types of its results.
            operand_avals: the types of its operands; those of the equation when omitted.
            pure: whether calls may be dropped, merged and reordered.
        """
        avals_in = self.avals_in if operand_avals is None else operand_avals
        index = len(self._builder.callbacks)
        self._builder.callbacks.append(HostCallback(function, tuple(avals_in), tuple(result_avals)))
        attributes = {
            "call_target_name": '"xla_ffi_python_cpu_callback"',
            "api_version": "4 : i32",
            "has_side_effect": "false" if pure else "true",
            "backend_config": f"{{index = {index} : ui64}}",
        }
        return self.op("stablehlo.custom_call", operands, result_avals, attributes)

    # ------------------------------------------------------------------------ not for rules

    def lower(self, jaxpr: Jaxpr, consts: Sequence[Value], values: Sequence[Value]) -> list[Value]:
        """Add the operations of an open jaxpr; give its results."""
        env: dict[Any, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, values, strict=True))
        builder = self._builder
        rules, location = builder.rules, builder.context.location
        for eqn in jaxpr.eqns:
            invars, outvars, primitive = eqn.invars, eqn.outvars, eqn.primitive
            self.avals_in = tuple([atom.aval for atom in invars])
            self.avals_out = tuple([var.aval for var in outvars])
            self._location = location(eqn)
            operands = [
                self._literal(atom) if type(atom) is Literal else env[atom] for atom in invars
            ]
            rule = rules.get(primitive) or builder.rule(primitive)
            try:
                results = rule(self, *operands, **eqn.params)
            except Exception as error:
                _note_equation(error, eqn)
                raise
            if len(results) != len(outvars):
                raise LoweringError(_wrong_result_count(eqn, len(results)))
            if len(outvars) == 1:
                env[outvars[0]] = results[0]
            else:
                env.update(zip(outvars, results, strict=True))
        return [
            self._literal(atom) if type(atom) is Literal else env[atom] for atom in jaxpr.outvars
        ]

    def finish(self, terminator: str, values: Sequence[Value]) -> None:
        """End the block."""
        self.op(terminator, values, ())

    def _literal(self, literal: Literal) -> Value:
        return self.constant(np.asarray(host_constant(literal.val), literal.aval.dtype))

    def _new_constant(self, array: np.ndarray[Any, Any]) -> Value:
        aval = ShapedArray(array.shape, array.dtype)
        if array.size != 1 and (array.size == 0 or not any(array.strides)):
            scalar = array[(0,) * array.ndim] if array.size else np.zeros((), array.dtype)
            return self.broadcast(self.constant(scalar), ShapedArray((), array.dtype), aval)
        stored = np.asarray(array, order="C")
        if stored.dtype.num > _LAST_NUMPY_DTYPE:  # a dtype of ml_dtypes: hand over its bits
            stored = stored.view(f"u{stored.dtype.itemsize}")
        builder = self._builder
        operation = _mlir.create_operation(
            "stablehlo.constant",
            [builder.type(aval)],
            [],
            {"value": builder.context.dense(stored, element_type(array.dtype))},
            None,
            0,
            self._location,
            self._point,
        )
        return operation.results[0]

    def _parsed(self, name: str, attributes: Mapping[str, str]) -> dict[str, Any]:
        parse = self._builder.context.attribute
        try:
            return {key: parse(text) for key, text in attributes.items()}
        except _mlir.InvalidIR as error:
            raise LoweringError(
                f"an attribute of {name} is not MLIR attribute text: {dict(attributes)}. "
                f"{excerpt(str(error))}"
            ) from error

    def _build_region(self, region: Region, body: Any, operation_name: str) -> None:
        block = self._builder.context.block(body, self._builder.types(region.arg_avals))
        inner = LoweringContext(self._builder, block)
        inner.avals_in = tuple(region.arg_avals)
        inner._location = self._location
        values = region.build(inner, *block.arguments)
        inner.finish(f"{operation_name.partition('.')[0]}.return", values)


_LAST_NUMPY_DTYPE = 23
"""The number of NumPy's last built-in numeric dtype; those of extensions start at 256."""


def int_array(values: Sequence[int]) -> str:
    """Integers as the text of an MLIR attribute.

    >>> int_array([0, 2]), int_array([])
    ('array<i64: 0, 2>', 'array<i64>')
    """
    return f"array<i64: {', '.join(map(str, values))}>" if len(values) else "array<i64>"


def symbol_name(name: str) -> str:
    """A name as a symbol of a module.

    >>> symbol_name("<lambda>")
    '_lambda_'
    """
    return re.sub(r"[^\w.\-]", "_", name, flags=re.ASCII) or "_"


def host_constant(value: Any) -> Any:
    """A constant of a jaxpr as something that NumPy understands."""
    numpy = getattr(value, "numpy", None)
    return value if numpy is None else numpy()


def _note_equation(error: Exception, eqn: JaxprEqn) -> None:
    if not getattr(error, "__notes__", None):
        where = "" if eqn.source_info is None else f", which is applied at {eqn.source_info}"
        error.add_note(f"This happened while {eqn.primitive.name} was lowered{where}.")


def _wrong_result_count(eqn: JaxprEqn, count: int) -> str:
    where = "" if eqn.source_info is None else f" at {eqn.source_info}"
    return (
        f"the lowering rule of {eqn.primitive.name}{where} returned {count} values, but the "
        f"primitive has {len(eqn.outvars)} results; the rule is wrong, report it to its package."
    )
