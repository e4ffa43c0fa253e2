"""Meshes and shardings in a program: the attributes of Shardy, by which XLA divides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.errors import PlacementError
from bindax_core.extend import ShapedArray, default_sharding
from bindax_core.sharding import AbstractMesh, NamedSharding, PartitionSpec, Sharding, open_axes
from bindax_xla_backend.lowering import mlir, shardings

if TYPE_CHECKING:
    from bindax_xla_backend.lowering.module_builder import ModuleBuilder


class DeviceOperations:
    """Base of the context of lowering rules: what concerns several devices."""

    __slots__ = ()

    if TYPE_CHECKING:
        _builder: ModuleBuilder
        _is_manual: bool
        avals_in: tuple[ShapedArray, ...]
        op: Callable[..., list[Any]]

    @property
    def device_count(self) -> int:
        """The number of devices that the program is divided among."""
        return self._builder.device_count

    def sharding(self, sharding: Sharding, ndim: int) -> str:
        """A sharding of an array of ``ndim`` axes, as an attribute ``#sdy.sharding<...>``."""
        return self._builder.meshes.sharding(sharding, ndim)

    def mesh(self, mesh: AbstractMesh) -> str:
        """The symbol of a mesh, which the module declares, for attributes of ``sdy``."""
        return self._builder.meshes.symbol(mesh)

    def once(self, count: int) -> dict[str, str]:
        """The attributes that have an operation with ``count`` results run on one device alone."""
        if not self._builder.several or self._is_manual:
            return {}
        return {"sdy.sharding": self._builder.meshes.on_first_device(count)}

    def everywhere(self, values: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
        """The results of what is run ``once``, on all devices of the program."""
        layout = self._builder.layout
        if layout is None or layout.mesh is None or not self._builder.several or self._is_manual:
            return list(values)
        copies = NamedSharding(layout.mesh, PartitionSpec())
        placed = []
        for value, aval in zip(values, avals, strict=True):
            attributes = {"sharding": self.sharding(copies, aval.ndim)}
            placed += self.op("sdy.sharding_constraint", [value], [aval], attributes)
        return placed

    def inspect_sharding(self, value: Any, callback: Callable[[Sharding], None]) -> None:
        """Call a function with the sharding of the first operand, when the program is compiled."""
        layout, builder = self._builder.layout, self._builder
        if layout is None or layout.mesh is None or not builder.several:
            single = None if layout is None else layout.single
            callback(single or default_sharding())
            return
        (aval,) = self.avals_in
        key, keeper = shardings.inspector(callback, layout.mesh, aval.ndim)
        builder.inspectors.append(keeper)
        attributes = {
            "call_target_name": '"InspectSharding"',
            "has_side_effect": "true",
            "api_version": "1 : i32",
            "backend_config": mlir.quoted_bytes(key),
        }
        self.op("stablehlo.custom_call", [value], [aval], attributes)


class Meshes:
    """The meshes that a module declares."""

    def __init__(self, context: mlir.Context, module: Any, count: int) -> None:
        self._context = context
        self._count = count  # of the devices of the program
        self._module = module
        self._symbols: dict[Any, str] = {}
        self._declared: dict[str, str] = {}  # the attribute of each symbol

    def __bool__(self) -> bool:
        return bool(self._declared)

    def symbol(self, mesh: AbstractMesh) -> str:
        """The name of a mesh in the module, which declares it at the first request."""
        key = mesh.axis_sizes, tuple(map(axis_text, mesh.axis_names))
        found = self._symbols.get(key)
        if mesh.size != self._count:
            raise PlacementError(
                f"a program on {self._count} devices was to be divided among the {mesh.size} of "
                f"{mesh!r}; call it with arrays on a Mesh of that size, or give one in place of an "
                f"abstract mesh."
            )
        if found is None:
            names = ("mesh", *(f"mesh_{i}" for i in range(1, len(self._declared) + 1)))
            found = next(name for name in names if name not in self._declared)
            self._symbols[key] = found
            axes = ", ".join(f"{name}={size}" for size, name in zip(*key, strict=True))
            self._declare(found, f"#sdy.mesh<[{axes}]>")
        return found

    def clashing(self, module: Any) -> dict[str, str]:
        """New symbols for the meshes of another module whose own mean other meshes here."""
        found: dict[str, str] = {}
        for symbol, mesh in mlir.meshes_of(module).items():
            if self._declared.get(symbol, mesh) != mesh:
                found[symbol] = f"{symbol}_{len(self._declared) + len(found)}"
        return found

    def adopt(self, module: Any) -> None:
        """Declare the meshes of another module, whose operations move here."""
        for symbol, mesh in mlir.meshes_of(module).items():
            if symbol not in self._declared:
                self._declare(symbol, mesh)

    def _declare(self, symbol: str, mesh: str) -> None:
        attributes = {"sym_name": mlir.quoted(symbol), "mesh": mesh}
        parsed = {name: self._context.attribute(text) for name, text in attributes.items()}
        self._declared[symbol] = str(parsed["mesh"])
        point = mlir.begin_of(self._module.body)
        location = self._context.unknown_location
        mlir.create_operation("sdy.mesh", [], [], parsed, None, 0, location, point)

    def on_first_device(self, count: int) -> str:
        """An operation with ``count`` results, run once on the first device, as an attribute."""
        if "first_device" not in self._declared:
            self._declare("first_device", "#sdy.mesh<[], device_ids=[0]>")
        values = ", ".join(["<@first_device, []>"] * max(count, 1))
        return f"#sdy.sharding_per_value<[{values}]>"

    def sharding(self, sharding: Sharding, ndim: int) -> str:
        """A sharding of an array of ``ndim`` axes, as the text of an attribute."""
        if not isinstance(sharding, NamedSharding):
            raise TypeError(f"{sharding!r} names no mesh.")
        entries = []
        open_ones = open_axes(sharding, ndim)
        for axes, is_open in zip(sharding.spec.padded(ndim).axes, open_ones, strict=True):
            entries.append("{?}" if is_open else f"{{{', '.join(map(axis_text, axes))}}}")
        return f"#sdy.sharding<@{self.symbol(sharding.mesh)}, [{', '.join(entries)}]>"


def axis_text(name: Any) -> str:
    """The name of a mesh axis, as a string of MLIR."""
    return mlir.quoted(name if isinstance(name, str) else repr(name))
