"""Building programs in MLIR: contexts, functions, attributes, text.

The bindings come from ``_jaxlib``; what they return is opaque to the rest of the package.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from bindax_core.extend import Dimension, SourceInfo
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._jaxlib import InvalidIR as InvalidIR
from bindax_xla_backend._jaxlib import _jax, _stablehlo, ir

create_operation: Callable[..., Any] = ir.Operation.create
"""``(name, result types, operands, attributes, successors, regions, location, point)``."""
Value: type = ir.Value
begin_of: Callable[[Any], Any] = ir.InsertionPoint.at_block_begin
end_of: Callable[[Any], Any] = ir.InsertionPoint
"""From a block to the point where operations are added to it."""

_ANY_SIZE = ir.ShapedType.get_dynamic_size()


class Context:
    """An MLIR context with the dialects that programs use, and caches of what it has parsed.

    A context is used by one thread at a time: borrow one, and give it back. Making one takes
    milliseconds, so a few are kept.
    """

    _idle: list[Context] = []  # noqa: RUF012 -- the pool; append and pop are atomic
    _MOST_IDLE = 4
    _MOST_USES = 200

    def __init__(self) -> None:
        self.raw: Any = _jaxlib.make_context()
        self.unknown_location: Any = ir.Location.unknown(context=self.raw)
        self._uses = 0
        self._types: dict[str, Any] = {}
        self._attributes: dict[str, Any] = {}
        self._locations: dict[Any, Any] = {}
        self.tensor_types: dict[Any, Any] = {}

    @cached_property
    def token_type(self) -> Any:
        """The type of tokens; jaxlib imports a module of 65 ms for it, so it is on demand."""
        return self.type("!stablehlo.token")

    @classmethod
    @contextmanager
    def borrow(cls) -> Iterator[Context]:
        """A context that nobody else uses inside the ``with`` block."""
        try:
            context = cls._idle.pop()
        except IndexError:
            context = cls()
        context._uses += 1
        yield context
        # After an exception the context is dropped. It is also dropped when it has been used
        # often, because what a context has interned is freed only with it.
        if context._uses < cls._MOST_USES and len(cls._idle) < cls._MOST_IDLE:
            cls._idle.append(context)

    def type(self, text: str) -> Any:
        """The type with this text."""
        parsed = self._types.get(text)
        if parsed is None:
            parsed = self._types[text] = ir.Type.parse(text, context=self.raw)
        return parsed

    def tensor_type(self, shape: Sequence[int], element: str) -> Any:
        """The type of tensors of a shape; sizes that are expressions are left open."""
        sizes = [_ANY_SIZE if isinstance(size, Dimension) else size for size in shape]
        return ir.RankedTensorType.get(sizes, self.type(element), loc=self.unknown_location)

    def attribute(self, text: str) -> Any:
        """The attribute with this text."""
        parsed = self._attributes.get(text)
        if parsed is None:
            parsed = ir.Attribute.parse(text, context=self.raw)
            self._attributes[text] = parsed
        return parsed

    def dense(self, array: np.ndarray[Any, Any], element: str) -> Any:
        """The elements of a C-ordered array, at least one, as an attribute.

        The array has a dtype that NumPy knows itself, or integers of the same width.
        """
        elements: Any = array
        return ir.DenseElementsAttr.get(
            elements, type=self.type(element), shape=list(array.shape), context=self.raw
        )

    def location(self, source: SourceInfo, name: str) -> Any:
        """The location of an operation: its name within a stack of names, and the user's line."""
        code = source.code
        # Hashing a code object hashes all of its constants; its identity will do, as long as
        # something keeps it alive.
        key = (id(code), source.instruction, source.stack, name)
        known = self._locations.get(key)
        if known is None:
            inner: Any = self.unknown_location
            if code is not None:
                inner = ir.Location.file(source.file, source.line, 0, context=self.raw)
                inner = ir.Location.name(code.co_qualname, childLoc=inner, context=self.raw)
            full = "/".join(filter(None, (source.names, name)))
            known = (ir.Location.name(full, childLoc=inner, context=self.raw), code)
            self._locations[key] = known
        return known[0]

    def new_module(self, name: str) -> Any:
        """An empty module."""
        module = ir.Module.create(self.unknown_location)
        module.operation.attributes["sym_name"] = self.attribute(quoted(symbol_name(name)))
        return module

    def parse_module(self, source: bytes | str) -> Any:
        """A module from bytecode or text."""
        return ir.Module.parse(source, context=self.raw)

    def parse_artifact(self, artifact: bytes) -> Any:
        """The module of a portable artifact."""
        return _jax.mlir.deserialize_portable_artifact(artifact, self.raw)

    def function(
        self,
        module: Any,
        name: str,
        types: tuple[Sequence[Any], Sequence[Any]],
        attributes: dict[str, str],
        parameters: Sequence[str] = (),
    ) -> Any:
        """Append a ``func.func`` to a module; give its empty entry block.

        Names of parameters are their locations.
        """
        inputs, results = types
        kind = ir.FunctionType.get(list(inputs), list(results), context=self.raw)
        parsed = {key: self.attribute(text) for key, text in attributes.items()}
        parsed["sym_name"] = self.attribute(quoted(name))
        parsed["function_type"] = ir.TypeAttr.get(kind, context=self.raw)
        place = self.unknown_location, ir.InsertionPoint(module.body)
        operation = create_operation("func.func", [], [], parsed, None, 1, *place)
        return self.block(operation.regions[0], inputs, parameters)

    def block(self, region: Any, types: Sequence[Any], names: Sequence[str] = ()) -> Any:
        """Append a block with arguments of these types, and names if any, to a region."""
        places = [ir.Location.name(name, context=self.raw) for name in names]
        return region.blocks.append(*types, arg_locs=places or [self.unknown_location] * len(types))


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


def quoted(text: str) -> str:
    """A string as MLIR attribute text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quoted_bytes(data: bytes) -> str:
    """Bytes as the text of an MLIR string."""
    return '"' + "".join(f"\\{byte:02X}" for byte in data) + '"'


def host_constant(value: Any) -> Any:
    """A constant of a jaxpr as something that NumPy understands."""
    numpy = getattr(value, "numpy", None)
    return value if numpy is None else numpy()


def fault_behind(value: Any) -> str | None:
    """The fault of the operation that a value is a result of; None if it is valid."""
    if isinstance(value.owner, ir.Block):
        return None
    try:
        value.owner.verify()
    except InvalidIR as error:
        return str(error)
    return None


def to_bytecode(module: Any) -> bytes:
    """A module, locations included, as bytes."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


def to_text(module: Any, *, debug_info: bool) -> str:
    """A module as text, with or without locations."""
    return str(module.operation.get_asm(enable_debug_info=debug_info))


def to_artifact(module: Any, *, with_meshes: bool = False) -> bytes:
    """A module as a portable artifact; ``with_meshes`` keeps attributes of Shardy as they are."""
    weeks = _stablehlo.StablehloCompatibilityRequirement.WEEK_12
    version = _stablehlo.get_version_from_compatibility_requirement(weeks)
    return bytes(_jax.mlir.serialize_portable_artifact(module, version, with_meshes))


def to_computation(bytecode: bytes) -> Any:
    """A StableHLO module in the language of XLA."""
    convert = _jax.mlir.mlir_module_to_xla_computation
    return convert(bytecode, use_tuple_args=False, return_tuple=False)


def refine_shapes(bytecode: bytes) -> bytes:
    """A module whose sizes are computed, given that those of the parameters of main are known."""
    return bytes(_jax.mlir.refine_polymorphic_shapes(bytecode, True, True))


def symbol_of(function: Any) -> str:
    """The name of a function."""
    return str(ir.StringAttr(function.operation.attributes["sym_name"]).value)


def function_types(function: Any) -> tuple[list[Any], list[Any]]:
    """The types of the parameters and of the results of a function."""
    kind = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)
    return list(kind.inputs), list(kind.results)


def meshes_of(module: Any) -> dict[str, str]:
    """The meshes that a module declares: the attribute of each by its symbol."""
    return {
        symbol_of(op): str(op.operation.attributes["mesh"])
        for op in module.body.operations
        if op.operation.name == "sdy.mesh"
    }


def rename_function(module: Any, old: str, new: str) -> Any:
    """Give a function of a module, and all calls of it, another name; make it private."""
    table = ir.SymbolTable(module.operation)
    function = table[old]
    ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
    ir.SymbolTable.set_symbol_name(function, new)
    private = ir.Attribute.parse('"private"', context=module.context)
    function.operation.attributes["sym_visibility"] = private
    return function
