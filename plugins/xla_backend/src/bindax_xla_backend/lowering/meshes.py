"""Meshes and shardings in a program: the attributes of Shardy, by which XLA divides it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bindax_core.errors import PlacementError
from bindax_core.extend import JaxprEqn, Region, ShapedArray, default_sharding
from bindax_core.sharding import AbstractMesh, NamedSharding, PartitionSpec, Sharding, open_axes
from bindax_xla_backend._errors import LoweringError
from bindax_xla_backend.lowering import mlir, shardings
from bindax_xla_backend.lowering.types_on_meshes import mesh_in_types, says_sharding, sharding_in

if TYPE_CHECKING:
    from bindax_xla_backend.lowering.module_builder import ModuleBuilder


class ManualAxes(NamedTuple):
    """The axes of a mesh along which a program is that of one device; others are the compiler's."""

    mesh: AbstractMesh
    names: frozenset[Any]


_ONE, _FLAG = ShapedArray((1,), np.int32), ShapedArray((), np.bool_)


class DeviceOperations:
    """Base of the context of lowering rules: what concerns several devices."""

    __slots__ = ()

    if TYPE_CHECKING:
        _builder: ModuleBuilder
        _manual: ManualAxes | None
        avals_in: tuple[ShapedArray, ...]
        constant: Callable[..., Any]
        op: Callable[..., list[Any]]

    @property
    def device_count(self) -> int:
        """The number of devices that the program is divided among."""
        return self._builder.device_count

    def sharding(self, sharding: Sharding, ndim: int) -> str:
        """A sharding of an array of ``ndim`` axes, as an attribute ``#sdy.sharding<...>``."""
        meshes = self._builder.meshes
        if isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes:
            return meshes.sharding_of_type(sharding, ndim)
        return meshes.sharding(sharding, ndim)

    def as_typed(self, eqn: JaxprEqn, results: Sequence[Any]) -> Sequence[Any]:
        """The results of an equation, each constrained to lie as its type says.

        A whole result of divided operands is, too; but not where a parameter of the equation says
        how results lie.
        """
        outs = [v.aval for v in eqn.outvars]
        mesh = mesh_in_types([*[x.aval for x in eqn.invars], *outs])
        if mesh is None or self._manual or says_sharding(eqn):
            return results
        placed = []
        for value, aval in zip(results, outs, strict=True):
            own = sharding_in(aval, mesh)
            text = None if own is None else self._builder.meshes.sharding_of_type(own, aval.ndim)
            if text is not None:
                attributes = {"sharding": text}
                (value,) = self.op("sdy.sharding_constraint", [value], [aval], attributes)
            placed.append(value)
        return placed

    def mesh(self, mesh: AbstractMesh) -> str:
        """The symbol of a mesh, which the module declares, for attributes of ``sdy``."""
        return self._builder.meshes.symbol(mesh)

    def axes_left(self) -> list[Any]:
        """The axes along which the compiler divides a program that is one device's along others."""
        if self._manual is None:
            return []
        mesh, names = self._manual
        return [name for name, size in mesh.shape_tuple if size > 1 and name not in names]

    def by_hand(
        self,
        name: str,
        operands: Sequence[Any],
        result_avals: Sequence[ShapedArray],
        attributes: Mapping[str, str],
        ordered: bool,
    ) -> list[Any]:
        """An operation with effects on the whole operands, which XLA cannot divide by itself.

        It runs on each device, or on the first one alone where it has no results.
        """
        if ordered or self._manual is None:
            raise LoweringError(
                f"ordered effects need a shard_map along all axes of the mesh, but the compiler "
                f"divides along {self.axes_left()!r} here. Leave the order out, or name these axes "
                f"in axis_names."
            )
        mesh, left = self._manual.mesh, self.axes_left()
        sizes, symbol = dict(mesh.shape_tuple), self.mesh(mesh)
        counts = [ShapedArray((sizes[axis],), np.int32) for axis in left]
        iota = {"iota_dimension": "0 : i64"}
        places = [self.op("stablehlo.iota", [], [aval], iota)[0] for aval in counts]

        def run(inner: Any, *values: Any) -> list[Any]:
            return inner.op(name, values, result_avals, attributes)  # type: ignore[no-any-return]

        def body(inner: Any, *args: Any) -> list[Any]:
            inner.enter_manual(mesh, left)
            own, values = args[: len(left)], args[len(left) :]
            if result_avals:
                return run(inner, *values)
            is_first = inner.is_first(own)
            regions = [Region((), lambda ctx: run(ctx, *values)), Region((), lambda ctx: [])]
            return inner.op("stablehlo.if", [is_first], [], regions=regions)  # type: ignore[no-any-return]

        divided = [f"[{{{axis_text(axis)}}}]" for axis in left]
        whole = [_whole(aval) for aval in self.avals_in]
        manual = {
            "in_shardings": _per_value(symbol, [*divided, *whole]),
            "out_shardings": _per_value(symbol, [_whole(aval) for aval in result_avals]),
            "manual_axes": f"#sdy<manual_axes{{{', '.join(map(axis_text, left))}}}>",
        }
        region = Region([*[_ONE] * len(left), *self.avals_in], body)
        given = [*places, *operands]
        return self.op("sdy.manual_computation", given, result_avals, manual, [region])

    def is_first(self, places: Sequence[Any]) -> Any:
        """True where all numbers, of the shape ``[1]``, are zero."""
        total = places[0]
        for place in places[1:]:
            (total,) = self.op("stablehlo.add", [total, place], [_ONE])
        (total,) = self.op("stablehlo.reshape", [total], [ShapedArray((), np.int32)])
        zero = self.constant(np.int32(0))
        direction = {"comparison_direction": "#stablehlo<comparison_direction EQ>"}
        return self.op("stablehlo.compare", [total, zero], [_FLAG], direction)[0]

    def once(self, count: int) -> dict[str, str]:
        """The attributes that have an operation with ``count`` results run on one device alone."""
        if not self._builder.several or self._manual:
            return {}
        return {"sdy.sharding": self._builder.meshes.on_first_device(count)}

    def everywhere(self, values: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
        """The results of what is run ``once``, on all devices of the program."""
        layout = self._builder.layout
        if layout is None or layout.mesh is None or not self._builder.several or self._manual:
            return list(values)
        copies = NamedSharding(layout.mesh, PartitionSpec())
        placed = []
        for value, aval in zip(values, avals, strict=True):
            attributes = {"sharding": self.sharding(copies, aval.ndim)}
            placed += self.op("sdy.sharding_constraint", [value], [aval], attributes)
        return placed

    def whole_along(self, value: Any, aval: ShapedArray, axes: Sequence[int]) -> Any:
        """A value that is not divided along some axes, and along others as the compiler decides."""
        layout = self._builder.layout
        if layout is None or layout.mesh is None or not self._builder.several or self._manual:
            return value
        entries = ["{}" if axis in axes else "{?}" for axis in range(aval.ndim)]
        text = f"#sdy.sharding<@{self.mesh(layout.mesh.abstract_mesh)}, [{', '.join(entries)}]>"
        return self.op("sdy.sharding_constraint", [value], [aval], {"sharding": text})[0]

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
        text = f"#sdy.sharding<@{self.symbol(sharding.mesh)}, [{', '.join(entries)}]"
        return text + _unreduced(sharding) + ">"

    def sharding_of_type(self, sharding: NamedSharding, ndim: int) -> str:
        """The sharding that a type has; along the automatic axes of its mesh it is open.

        Sums that are not added up are whole along these: XLA gives wrong values of open ones.
        """
        mesh, spec = sharding.mesh, sharding.spec.padded(ndim)
        opened = [bool(mesh.auto_axes) or own for own in open_axes(sharding, ndim)]
        entries = [
            f"{{{', '.join([*map(axis_text, axes), *['?'] * (is_open and not spec.unreduced)])}}}"
            for axes, is_open in zip(spec.axes, opened, strict=True)
        ]
        named = {*spec.names, *spec.unreduced}
        copying = [n for n in mesh.explicit_axes if n not in named] if mesh.auto_axes else []
        text = f"#sdy.sharding<@{self.symbol(mesh)}, [{', '.join(entries)}]"
        if copying:
            text += f", replicated={{{', '.join(map(axis_text, copying))}}}"
        return text + _unreduced(sharding) + ">"


def _unreduced(sharding: NamedSharding) -> str:
    """The axes along which values are sums still to be added up, in an attribute."""
    names = [name for name in sharding.mesh.axis_names if name in sharding.spec.unreduced]
    return f", unreduced={{{', '.join(map(axis_text, names))}}}" if names else ""


def _whole(aval: ShapedArray) -> str:
    """The divisions of an array that is not divided."""
    return f"[{', '.join(['{}'] * aval.ndim)}]"


def _per_value(symbol: str, divisions: Sequence[str]) -> str:
    """The shardings of several values, as the text of an attribute."""
    texts = ", ".join(f"<@{symbol}, {one}>" for one in divisions)
    return f"#sdy.sharding_per_value<[{texts}]>"


def axis_text(name: Any) -> str:
    """The name of a mesh axis, as a string of MLIR."""
    return mlir.quoted(name if isinstance(name, str) else repr(name))
