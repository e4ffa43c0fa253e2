"""State that the functions of one StableHLO module share while it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.extend import Primitive, ShapedArray, lowering
from bindax_xla_backend._element_types import element_type
from bindax_xla_backend.lowering import mlir
from bindax_xla_backend.lowering.callbacks import HostCallback, callback_lowering
from bindax_xla_backend.lowering.meshes import Meshes

if TYPE_CHECKING:
    from bindax_core.sharding import Sharding
    from bindax_xla_backend.lowering.layout import Layout


class ModuleBuilder:
    """State that the functions of one module share."""

    def __init__(
        self, context: mlir.Context, name: str, platform: str, layout: Layout | None = None
    ) -> None:
        self.context = context
        self.module: Any = context.new_module(name)
        self.platform = platform
        self.layout = layout
        self.device_count: int = 1 if layout is None else len(layout.devices)
        self.several: bool = self.device_count > 1
        self.meshes: Meshes = Meshes(context, self.module, self.device_count)
        self.inspectors: list[Any] = []
        self.callbacks: list[HostCallback] = []
        self.rules: dict[Primitive, Callable[..., Any]] = {}
        # What the types of results are compared with, once a program has turned out to be wrong.
        self.expected_type: Callable[[ShapedArray], Any] | None = None
        self._symbols: dict[str, int] = {"main": 1}
        # The jaxpr is part of the value so that its id stays taken while the module is built.
        self.functions: dict[tuple[int, str, Any], tuple[Any, str]] = {}

    def tell(self, attributes: Mapping[str, str]) -> None:
        """Add attributes to the module, from their texts."""
        for key, text in attributes.items():
            self.module.operation.attributes[key] = self.context.attribute(text)

    def tell_devices(self) -> None:
        """Add the number of devices, as readers of modules expect it."""
        count = f"{self.device_count} : i32"
        self.tell({"mhlo.num_partitions": count, "mhlo.num_replicas": "1 : i32"})

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
        found = lowering["stablehlo"].find(primitive, self.platform) or callback_lowering(primitive)
        self.rules[primitive] = found
        return found

    def open_main(
        self,
        in_avals: Sequence[ShapedArray],
        out_avals: Sequence[ShapedArray],
        of_arguments: Sequence[str] = (),
        of_results: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> Any:
        """Start the function that is called from outside, with attributes and names of operands."""
        attributes = {"sym_visibility": '"public"'}
        for key, texts in (("arg_attrs", of_arguments), ("res_attrs", of_results)):
            if any(texts):
                attributes[key] = f"[{', '.join([f'{{{text}}}' for text in texts])}]"
        types = self.types(in_avals), self.types(out_avals)
        return self.context.function(self.module, "main", types, attributes, names)

    def sharded(self, sharding: Sharding | None, aval: ShapedArray) -> str:
        """The attribute of an argument or a result with a sharding; empty where none is needed."""
        if sharding is None or not self.several:
            return ""
        return f"sdy.sharding = {self.meshes.sharding(sharding, aval.ndim)}"

    def new_symbol(self, name: str) -> str:
        """A symbol that no function of the module has, made of a name."""
        count = self._symbols.get(name, 0)
        self._symbols[name] = count + 1
        return name if count == 0 else self.new_symbol(f"{name}_{count}")
