"""Exported programs: their types, their calls, their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import attrs

from bindax_core.extend import (
    PyTreeDef,
    ShapedArray,
    api_boundary,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_export._backend import exporting_backend
from bindax_export._checks import DisabledSafetyCheck
from bindax_export._errors import ExportError
from bindax_export._places import Places, on_mesh
from bindax_export._primitive import call_exported_p
from bindax_export._shapes import ShapeSolver
from bindax_export._writing import serialize
from bindax_lax_basic.extend import convert
from bindax_transforms import custom_vjp, jit


@attrs.define(eq=False, slots=False)
class Exported:
    """A program that was lowered for export, or read from a file; ``export`` makes one.

    Attributes:
        fun_name: the name of the function.
        in_tree: the structure of ``(args, kwargs)``.
        in_avals: the types of the arguments, flat; sizes can be symbolic.
        out_tree: the structure of the result.
        out_avals: the types of the results, flat.
        platforms: what the program is for, in lower case.
        mlir_module_serialized: the StableHLO portable artifact.
        calling_convention_version: the version of the convention that the module follows.
        module_kept_var_idx: the positions of the arguments that the module takes.
        disabled_safety_checks: the checks that were left out.
        nr_devices: the number of devices that it runs on.
        in_shardings: where the arguments lie, flat, on a mesh without devices; None where the
            compiler decides.
        out_shardings: where the results are left, likewise.
        uses_global_constants: whether the module takes the platform, or sizes, from the shapes.
        ordered_effects: the names of effects that are kept in order; there are none.
        unordered_effects: the names of other effects; there are none.
    """

    fun_name: str
    in_tree: PyTreeDef
    in_avals: tuple[ShapedArray, ...]
    out_tree: PyTreeDef
    out_avals: tuple[ShapedArray, ...]
    platforms: tuple[str, ...]
    mlir_module_serialized: bytes
    calling_convention_version: int
    module_kept_var_idx: tuple[int, ...]
    disabled_safety_checks: tuple[DisabledSafetyCheck, ...] = ()
    nr_devices: int = 1
    in_shardings: Places = attrs.field(
        default=attrs.Factory(lambda made: (None,) * len(made.in_avals), takes_self=True)
    )
    out_shardings: Places = attrs.field(
        default=attrs.Factory(lambda made: (None,) * len(made.out_avals), takes_self=True)
    )
    uses_global_constants: bool = False
    ordered_effects: tuple[str, ...] = ()
    unordered_effects: tuple[str, ...] = ()
    _get_vjp: Callable[[Exported], Exported] | None = attrs.field(default=None, repr=False)

    def __repr__(self) -> str:
        types = ", ".join(aval.str_short() for aval in self.in_avals)
        results = ", ".join(aval.str_short() for aval in self.out_avals)
        platforms = ", ".join(self.platforms)
        return f"Exported({self.fun_name}: ({types}) -> ({results}), for {platforms})"

    @cached_property
    def solver(self) -> ShapeSolver:
        """The dimension variables, from the shapes of the arguments."""
        return ShapeSolver(self.in_avals, self.fun_name, self.in_tree)

    @property
    def in_shardings_hlo(self) -> tuple[Any, ...]:
        """The shardings of the arguments as XLA describes them; None where there is none."""
        return _hlo(self.in_shardings, self.in_avals)

    @property
    def out_shardings_hlo(self) -> tuple[Any, ...]:
        """The shardings of the results as XLA describes them; None where there is none."""
        return _hlo(self.out_shardings, self.out_avals)

    def in_shardings_jax(self, mesh: Any) -> Places:
        """The shardings of the arguments on the devices of a mesh, for ``device_put``.

        Args:
            mesh: a mesh with the axes of the one that the program was exported with.

        Raises:
            ValueError: when it has not these axes.
        """
        return on_mesh(self.in_shardings, mesh)

    def out_shardings_jax(self, mesh: Any) -> Places:
        """The shardings of the results on the devices of a mesh; as ``in_shardings_jax``."""
        return on_mesh(self.out_shardings, mesh)

    def mlir_module(self) -> str:
        """The StableHLO module as text, with the names of arguments and the places in the program.

        Raises:
            BackendError: when this version of ``jaxlib`` cannot read it.
        """
        exporting = exporting_backend().exporting
        return str(exporting.artifact_text(self.mlir_module_serialized, debug_info=True))

    def has_vjp(self) -> bool:
        """Tell whether the program has a reverse derivative."""
        return self._get_vjp is not None

    def vjp(self) -> Exported:
        """The reverse derivative, as an exported program.

        Its arguments are those of this program and the cotangents of its results, flat.

        Raises:
            ExportError: when the file it was read from has none.
        """
        if self._get_vjp is None:
            raise ExportError(
                f"{self.fun_name} has no reverse derivative: it was serialized without. Write it "
                f"with serialize(vjp_order=1), or more for derivatives of derivatives."
            )
        return self._vjp

    @cached_property
    def _vjp(self) -> Exported:
        assert self._get_vjp is not None  # noqa: S101 -- checked by the one caller
        return self._get_vjp(self)

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The program as bytes, in the format of ``jax.export``.

        Args:
            vjp_order: how many reverse derivatives, one of the other, to write with it.

        Raises:
            ExportError: when a container of the arguments has no registered form, or there are
                not so many derivatives.
        """
        return serialize(self, vjp_order)

    def platform_index(self, platform: str) -> int | None:
        """The position of a platform, where the program is for several.

        Raises:
            ExportError: when the program is not for it.
        """
        unchecked = DisabledSafetyCheck.platform() in self.disabled_safety_checks
        if platform not in self.platforms and not (unchecked and len(self.platforms) == 1):
            platforms = " or ".join(self.platforms)
            raise ExportError(
                f"Function {self.fun_name} was exported for platform {platforms}, but is called on "
                f"{platform}. Export it with platforms=[..., {platform!r}]."
            )
        return self.platforms.index(platform) if len(self.platforms) > 1 else None

    @cached_property
    def physical(self) -> Exported:
        """The program with the types of the arrays that represent its arguments and results."""
        types = [
            tuple([aval.physical() for aval in avals]) for avals in (self.in_avals, self.out_avals)
        ]
        if types == [self.in_avals, self.out_avals]:
            return self
        return attrs.evolve(self, in_avals=types[0], out_avals=types[1], get_vjp=None)

    @cached_property
    def compiled(self) -> Any:
        """The program as a function of flat arrays, compiled for the types of each call."""

        def run(*operands: Any) -> Any:
            return call_exported_p.bind(*operands, exported=self)

        run.__name__ = f"call_{self.fun_name}"
        return jit(run, backend="xla")

    @cached_property
    def _differentiable(self) -> Any:
        """The call on flat values, with the reverse derivative that the program brings."""

        def call(*operands: Any) -> tuple[Any, ...]:
            return tuple(call_exported_p.bind(*operands, exported=self))

        def forward(*operands: Any) -> tuple[Any, Any]:
            return made(*operands), operands  # which has a derivative of its own

        def backward(operands: Any, cotangents: Any) -> tuple[Any, ...]:
            return tuple(self.vjp()._differentiable(*operands, *cotangents))

        call.__name__ = f"call_{self.fun_name}"
        made = custom_vjp(call)
        made.defvjp(forward, backward)
        return made

    @api_boundary
    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the program; inside ``jit`` and other transformations too.

        Args:
            args: arrays in the structure of the arguments that it was exported for.
            kwargs: the same, by name.

        Raises:
            ExportError: when structure, types or sizes do not fit, or the program is for another
                platform.
        """
        leaves, tree = tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise ExportError(
                f"The invocation args and kwargs must have the same pytree structure as those that "
                f"{self.fun_name} was exported for: it is {self.in_tree}, but was called with "
                f"{tree}."
            )
        operands = [_yielding(x, aval) for x, aval in zip(leaves, self.in_avals, strict=True)]
        return tree_unflatten(self.out_tree, self._differentiable(*operands))


def _hlo(places: Places, avals: Sequence[ShapedArray]) -> tuple[Any, ...]:
    exporting = exporting_backend().exporting
    return tuple(
        None if s is None else exporting.hlo_sharding(s, aval.ndim)
        for s, aval in zip(places, avals, strict=True)
    )


_KINDS = "biufc"


def _yielding(x: Any, expected: ShapedArray) -> Any:
    """A Python scalar, or what is typed as one, in the dtype that the program expects."""
    aval = typeof(x)
    if not aval.weak_type or aval.dtype == expected.dtype:
        return x
    kind = "f" if expected.dtype.kind == "V" else expected.dtype.kind
    fits = kind in _KINDS and _KINDS.index(aval.dtype.kind) <= _KINDS.index(kind)
    return convert(x, expected.dtype, False) if fits else x


def cotangent_avals(avals: Sequence[ShapedArray]) -> list[ShapedArray]:
    """The types of the cotangents of values of some types."""
    return [aval.strip_weak_type().tangent_aval() for aval in avals]
