"""Lowering of jaxprs to StableHLO, and the context that lowering rules are called with.

Operations are created one by one through ``jaxlib``'s generic constructor; each carries the place
in the user's program that it comes from. A nested ``jit`` becomes a function of the module, one
for each jaxpr, however often it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    Jaxpr,
    Literal,
    Region,
    ShapedArray,
    SourceInfo,
    current_source,
    float0,
)
from bindax_xla_backend._element_types import LAST_NUMPY_DTYPE, element_type
from bindax_xla_backend._errors import LoweringError, excerpt
from bindax_xla_backend.lowering import mlir
from bindax_xla_backend.lowering.attribute_texts import attribute_text
from bindax_xla_backend.lowering.callbacks import (
    HostCallback,
    callback_attributes,
)
from bindax_xla_backend.lowering.effect_tokens import (
    THREADED,
    EffectToken,
    TokenOperations,
    is_ordered,
)
from bindax_xla_backend.lowering.meshes import DeviceOperations, ManualAxes
from bindax_xla_backend.lowering.module_builder import ModuleBuilder
from bindax_xla_backend.lowering.rule_results import check_results, explain_operation, explain_rule

Value = Any
"""A value of the program that is being built; opaque outside of ``_jaxlib``."""

_Value = mlir.Value
_NO_ATTRIBUTES: Mapping[str, str] = {}
EMBEDDED_CONSTANT_SIZE = 16
"""Constants with more elements become hidden arguments, and are not part of the program."""


class LoweringContext(DeviceOperations, TokenOperations):
    """The context of a lowering rule: the equation's types, and the means to add operations.

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
        "_effect_token",
        "_is_ordered",
        "_location",
        "_manual",
        "_name",
        "_outer_source",
        "_point",
        "_source",
        "_types",
        "avals_in",
        "avals_out",
        "platform",
    )

    avals_in: tuple[ShapedArray, ...]
    avals_out: tuple[ShapedArray, ...]
    platform: str

    def __init__(self, builder: ModuleBuilder, block: Any, *names: str) -> None:
        self.avals_in = ()
        self.avals_out = ()
        self.platform = builder.platform
        self._builder = builder
        self._block = block
        self._point = mlir.end_of(block)
        self._location = builder.context.unknown_location
        self._outer_source = SourceInfo(None, 0, names)  # of the jaxpr that is being lowered
        self._source = self._outer_source  # of the equation
        self._name = ""  # of its primitive
        self._types = builder.context.tensor_types
        self._constants: dict[Any, Value] = {}
        self._effect_token = EffectToken()
        self._manual: ManualAxes | None = None  # along which each device runs its own operations
        self._is_ordered = False  # whether the equation that is being lowered has ordered effects

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
            regions: the bodies of a control-flow operation or a reduction. Where ``while``,
                ``case`` and ``if`` have ordered effects, what keeps the order is added here.

        Raises:
            LoweringError: when an attribute's text does not parse.
        """
        try:
            known, make = self._types.get, self._builder.type
            avals = self.avals_out if result_avals is None else result_avals
            types = [known(aval) or make(aval) for aval in avals]
            parsed = self._parsed(name, attributes) if attributes else None
            if self._is_ordered and name in THREADED:
                return self._threaded_op(name, list(operands), types, parsed, regions)
            operation = self._create(name, list(operands), types, parsed, len(regions))
        except (TypeError, AttributeError, ValueError):
            explain_operation(name, operands, result_avals, attributes)
            raise
        for region, body in zip(regions, operation.regions, strict=True):
            self._build_region(region, body, name)
        return list(operation.results)

    def constant(self, value: Any) -> Value:
        """A constant of the shape and dtype of a NumPy array or scalar."""
        array = np.asarray(value)
        if array.dtype == float0:
            array = np.zeros(array.shape, np.bool_)
        if array.size > EMBEDDED_CONSTANT_SIZE:
            return self._new_constant(array)
        key = (array.dtype, array.shape, array.tobytes())
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self._new_constant(array)
        return found

    def broadcast(
        self,
        value: Value,
        aval_from: ShapedArray,
        aval_to: ShapedArray,
        dimensions: Sequence[int] = (),
    ) -> Value:
        """Repeat a value along new axes and along axes of size 1.

        Each axis of ``aval_from``, the value's type, becomes one of ``dimensions`` in ``aval_to``.
        """
        if aval_from.shape == aval_to.shape and tuple(dimensions) == tuple(range(aval_to.ndim)):
            return value
        attributes = {"broadcast_dimensions": mlir.int_array(dimensions)}
        return self.op("stablehlo.broadcast_in_dim", [value], [aval_to], attributes)[0]

    def inline(
        self, closed_jaxpr: ClosedJaxpr, values: Sequence[Value], name: str | None = None
    ) -> list[Value]:
        """Add the operations of a jaxpr here; give its results.

        Args:
            closed_jaxpr: the jaxpr.
            values: its operands.
            name: what the stacks of names of its operations have for the equation, such as
                ``"while/body"``; by default the primitive.
        """
        body = self._nested(self._block)
        entry = name or self._name
        body._outer_source = self._source.inside(entry) if entry else self._source
        body._point = self._point
        body._location = self._location
        body._constants = self._constants
        body._effect_token = self._effect_token
        body._manual = self._manual
        consts = [body.constant(mlir.host_constant(const)) for const in closed_jaxpr.consts]
        return body.lower(closed_jaxpr.jaxpr, consts, values)

    def call(self, closed_jaxpr: ClosedJaxpr, values: Sequence[Value], name: str) -> list[Value]:
        """Call the function for a jaxpr, made once for each jaxpr and name; give its results."""
        symbol = self._function(closed_jaxpr, name)
        ordered = is_ordered(closed_jaxpr.jaxpr.effects)
        attributes = {"callee": f"@{mlir.quoted(symbol)}"}
        # XLA writes the name of the call before those of the operations of the function.
        self._location = self._builder.context.location(self._source.inside(f"jit({name})"), "")
        return self._ordered_op("func.call", values, closed_jaxpr.out_avals, attributes, ordered)

    def composite(
        self,
        closed_jaxpr: ClosedJaxpr,
        values: Sequence[Value],
        name: str,
        attributes: Mapping[str, Any],
        version: int,
    ) -> list[Value]:
        """Apply an operation of a name that XLA may know, which the jaxpr is made of.

        Raises:
            TypeError: when an attribute is neither a number nor a string, a dtype or an array.
        """
        symbol = self._function(closed_jaxpr, name)
        texts = {"name": mlir.quoted(name), "decomposition": f"@{mlir.quoted(symbol)}"}
        if attributes:
            pairs = [
                (mlir.quoted(key), attribute_text(name, key, x)) for key, x in attributes.items()
            ]
            texts["composite_attributes"] = f"{{{', '.join(map(' = '.join, pairs))}}}"
        if version:
            texts["version"] = f"{version} : i32"
        return self.op("stablehlo.composite", values, closed_jaxpr.out_avals, texts)

    def callback(
        self,
        function: Callable[..., Any],
        operands: Sequence[Value],
        result_avals: Sequence[ShapedArray],
        *,
        pure: bool = False,
        ordered: bool = False,
    ) -> list[Value]:
        """Call a host function when the program runs.

        Args:
            function: takes read-only NumPy arrays; returns a sequence of arrays, which are
                checked against ``result_avals``.
            operands: its operands, those of the equation.
            result_avals: the types of its results.
            pure: whether calls may be dropped, merged and reordered.
            ordered: whether it is called after the ordered callbacks that came before; the
                equation must have an ordered effect.
        """
        index = len(self._builder.callbacks)
        self._builder.callbacks.append(
            HostCallback(function, tuple(self.avals_in), tuple(result_avals), ordered)
        )
        attributes = {**callback_attributes(index, pure), **self.once(len(result_avals) + ordered)}
        name = "stablehlo.custom_call"
        if self.axes_left():
            return self.by_hand(name, operands, result_avals, attributes, ordered)
        results = self._ordered_op(name, operands, result_avals, attributes, ordered)
        return self.everywhere(results, result_avals)

    def enter_manual(self, mesh: Any, names: Sequence[Any]) -> None:
        """Say that the operations of this block are those of one device along axes of a mesh."""
        before: frozenset[Any] = frozenset() if self._manual is None else self._manual.names
        self._manual = ManualAxes(mesh, before.union(names))

    # ------------------------------------------------------------------------ not for rules

    def lower(self, jaxpr: Jaxpr, consts: Sequence[Value], values: Sequence[Value]) -> list[Value]:
        """Add the operations of an open jaxpr; give its results."""
        env: dict[Any, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, values, strict=True))
        builder = self._builder
        rules, location = builder.rules, builder.context.location
        any_ordered, type_of = is_ordered(jaxpr.effects), builder.expected_type
        outer, before = self._outer_source, current_source.info
        for eqn in jaxpr.eqns:
            invars, outvars, primitive = eqn.invars, eqn.outvars, eqn.primitive
            self.avals_in = tuple([atom.aval for atom in invars])
            self.avals_out = tuple([var.aval for var in outvars])
            if builder.several:  # rules see plain types
                self.avals_in = tuple([aval.plain() for aval in self.avals_in])
                self.avals_out = tuple([aval.plain() for aval in self.avals_out])
            self._name = primitive.name
            self._source = outer.around(eqn.source_info)
            self._location = location(self._source, self._name)
            self._is_ordered = any_ordered and is_ordered(eqn.effects)
            operands = [
                self._literal(atom) if type(atom) is Literal else env[atom] for atom in invars
            ]
            rule = rules.get(primitive) or builder.rule(primitive)
            current_source.info = self._source
            try:
                results = rule(self, *operands, **eqn.params)
            except Exception as error:
                current_source.info = before
                explain_rule(error, eqn, (self, *operands))
                raise
            finally:
                current_source.info = before
            fits = type(results) in (list, tuple) and len(results) == len(outvars)
            if type_of or not fits:
                check_results(eqn, results, type_of)
            if builder.several:
                results = self.as_typed(eqn, results)
            for var, value in zip(outvars, results, strict=False):
                if not isinstance(value, _Value):
                    check_results(eqn, results, type_of)
                env[var] = value
        return [
            self._literal(atom) if type(atom) is Literal else env[atom] for atom in jaxpr.outvars
        ]

    def finish(self, terminator: str, values: Sequence[Value]) -> None:
        """End the block."""
        self._create(terminator, list(values), [])

    def _function(self, closed_jaxpr: ClosedJaxpr, name: str) -> str:
        """The symbol of the function for a jaxpr, which is lowered on the first request."""
        builder = self._builder
        key = (id(closed_jaxpr.jaxpr), name, self._manual)
        found = builder.functions.get(key)
        if found is not None:
            return found[1]
        symbol = builder.new_symbol(mlir.symbol_name(name))
        ordered = is_ordered(closed_jaxpr.jaxpr.effects)
        tokens = [builder.context.token_type] if ordered else []
        types = (
            [*tokens, *builder.types(closed_jaxpr.in_avals)],
            [*tokens, *builder.types(closed_jaxpr.out_avals)],
        )
        private = {"sym_visibility": '"private"'}
        block = builder.context.function(builder.module, symbol, types, private)
        ctx = LoweringContext(builder, block)
        ctx._manual = self._manual
        arguments = list(block.arguments)
        if ordered:
            ctx._effect_token.token = arguments.pop(0)
        results = ctx.inline(closed_jaxpr, arguments)
        ctx.finish("func.return", [ctx.token(), *results] if ordered else results)
        builder.functions[key] = (closed_jaxpr, symbol)
        return symbol

    def _nested(self, block: Any) -> LoweringContext:
        """The context of another block, or of another program in this one."""
        return LoweringContext(self._builder, block)

    def _create(
        self, name: str, operands: Any, types: Any, attributes: Any = None, regions: int = 0
    ) -> Any:
        return mlir.create_operation(
            name, types, operands, attributes, None, regions, self._location, self._point
        )

    def _literal(self, literal: Literal) -> Value:
        return self.constant(np.asarray(mlir.host_constant(literal.val), literal.aval.dtype))

    def _new_constant(self, array: np.ndarray[Any, Any]) -> Value:
        aval = ShapedArray(array.shape, array.dtype)
        if array.size != 1 and (array.size == 0 or not any(array.strides)):
            scalar = array[(0,) * array.ndim] if array.size else np.zeros((), array.dtype)
            return self.broadcast(self.constant(scalar), ShapedArray((), array.dtype), aval)
        stored = np.asarray(array, order="C")
        if stored.dtype.num > LAST_NUMPY_DTYPE:  # a dtype of ml_dtypes: hand over its bits
            stored = stored.view(f"u{stored.dtype.itemsize}")
        builder = self._builder
        attributes = {"value": builder.context.dense(stored, element_type(array.dtype))}
        return self._create("stablehlo.constant", [], [builder.type(aval)], attributes).results[0]

    def _parsed(self, name: str, attributes: Mapping[str, str]) -> dict[str, Any]:
        parse = self._builder.context.attribute
        try:
            return {key: parse(text) for key, text in attributes.items()}
        except mlir.InvalidIR as error:
            raise LoweringError(
                f"an attribute of {name} is not MLIR attribute text: {dict(attributes)}. "
                f"{excerpt(str(error))}"
            ) from error

    def _build_region(
        self,
        region: Region,
        body: Any,
        operation_name: str,
        order: EffectToken | None = None,
        returns: bool = False,
    ) -> None:
        """Build a region; with ``order`` it keeps one, and ``returns`` its last token.

        Without a token in ``order`` the region takes it as its last argument.
        """
        takes = order is not None and order.token is None
        types = self._builder.types(region.arg_avals)
        tokens = [self._builder.context.token_type] if takes else []
        block = self._builder.context.block(body, [*types, *tokens])
        inner = self._nested(block)
        inner.avals_in = tuple(region.arg_avals)
        inner._location = self._location
        inner._source, inner._name = self._source, self._name
        inner._manual = self._manual
        arguments = list(block.arguments)
        if order is not None:
            inner._effect_token = order
            # What a rule adds by itself, outside of a program that it inlines, keeps the order too.
            inner._is_ordered = True
        if takes:
            inner._effect_token.token = arguments.pop()
        values = list(region.build(inner, *arguments))
        if returns:
            values.append(inner.token())
        inner.finish(f"{operation_name.partition('.')[0]}.return", values)
