"""Programs for files: lowered for several platforms and all sizes, and read back for one."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.errors import clause
from bindax_core.extend import (
    BackendError,
    ClosedJaxpr,
    Region,
    ShapedArray,
    SourceInfo,
    kernel_sources,
)
from bindax_core.sharding import Sharding
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._errors import LoweringError, excerpt
from bindax_xla_backend.lowering import mlir
from bindax_xla_backend.lowering.context import LoweringContext, Value
from bindax_xla_backend.lowering.layout import Layout, abstract_layout, layout_of
from bindax_xla_backend.lowering.module_builder import ModuleBuilder
from bindax_xla_backend.lowering.program import kept_operands, verify
from bindax_xla_backend.lowering.shardings import hlo_sharding as hlo_sharding
from bindax_xla_backend.lowering.symbolic import (
    Dimensions,
    Number,
    SymbolicContext,
    _dimension_size,
    is_symbolic,
)

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend

INDEX = ShapedArray((), np.int32)
"""The type of the position of the platform among those that a program is for."""


@dataclass(frozen=True)
class Artifact:
    """A program as a StableHLO portable artifact, and what calls of it need to know."""

    module: bytes
    kept: tuple[int, ...]  # the positions of the operands that it takes
    custom_calls: frozenset[str]  # the names of the functions outside of XLA that it calls
    is_symbolic: bool  # whether sizes are computed from the shapes of its operands
    device_count: int


def export_program(
    backend: XlaBackend,
    jaxpr: ClosedJaxpr,
    *,
    name: str,
    platforms: Sequence[str],
    dimensions: Dimensions | None,
    in_shardings: Sequence[Sharding | None] | None,
    out_shardings: Sequence[Sharding | None] | None,
    result_names: Sequence[str] | None,
) -> Artifact:
    """Lower a program whose sizes may be expressions to a portable artifact.

    Arrays that it closes over become part of it. With several platforms it takes the position of
    the platform as first operand. The compiler decides where results lie that have no sharding. No
    sizes are expressions where ``dimensions`` is None; then operands have no names.
    """
    bound = in_shardings or [None] * len(jaxpr.in_avals)
    layout = layout_of(backend, jaxpr, name, bound) or abstract_layout(jaxpr, bound)
    avals = [*jaxpr.in_avals, *(v.aval for eqn in jaxpr.jaxpr.eqns for v in eqn.outvars)]
    symbolic = any(map(is_symbolic, avals))
    # The variables are computed from the shapes, so a program with them keeps all operands.
    kept = kept_operands(jaxpr.jaxpr, symbolic)
    out_shardings = out_shardings or [None] * len(jaxpr.out_avals)
    infos = [f"jax.result_info = {mlir.quoted(path)}" for path in result_names or ()]
    infos = infos or [""] * len(jaxpr.out_avals)
    program = _Program(jaxpr, name, dimensions, kept, symbolic, layout, out_shardings, infos)
    with mlir.Context.borrow() as context:
        texts = set()
        if len(platforms) > 1:
            for platform in platforms:
                builder = program.module(context, [platform])
                texts.add(mlir.to_text(builder.module, debug_info=False))
        builder = program.module(context, platforms, shared=len(texts) == 1)
        verify(builder.module, name)
        if builder.callbacks:
            raise LoweringError(
                f"{name} calls the Python function {builder.callbacks[0].name}, which a file "
                f"cannot hold; leave callbacks out, or give the primitive a lowering."
            )
        calls = frozenset(custom_call_targets(builder.module))
        module = mlir.to_artifact(builder.module, with_meshes=bool(builder.meshes))
        return Artifact(module, kept, calls, symbolic, builder.device_count)


@dataclass(frozen=True)
class _Program:
    """A program to export, the positions of the operands that it takes, and where it runs."""

    jaxpr: ClosedJaxpr
    name: str
    dimensions: Any  # Dimensions, or None where no size is an expression
    kept: Sequence[int]
    symbolic: bool
    layout: Layout | None
    out_shardings: Sequence[Sharding | None]
    result_infos: Sequence[str]

    def module(
        self, context: mlir.Context, platforms: Sequence[str], *, shared: bool = False
    ) -> ModuleBuilder:
        """A module for some platforms; ``shared`` when the program is the same for all."""
        jaxpr, layout, kept = self.jaxpr, self.layout, self.kept
        builder = ModuleBuilder(context, f"jit_{self.name}", platforms[0], layout)
        builder.tell_devices()
        several = len(platforms) > 1
        if self.symbolic or several:  # who reads it computes sizes, or puts the platform in
            builder.tell({"jax.uses_shape_polymorphism": "true"})
        operands = [jaxpr.in_avals[i] for i in kept]
        places = layout.operands if layout else [None] * len(jaxpr.in_avals)
        of_operands = [builder.sharded(places[i], jaxpr.in_avals[i]) for i in kept]
        names = [self.dimensions.paths[i] for i in kept] if self.dimensions else []
        of_results = [
            ", ".join(filter(None, [info, builder.sharded(sharding, aval)]))
            for info, sharding, aval in zip(
                self.result_infos, self.out_shardings, jaxpr.out_avals, strict=True
            )
        ]
        if several:
            operands.insert(0, INDEX)
            of_operands.insert(0, 'jax.global_constant = "_platform_index"')
            names[:0] = ["platform_index"] if names else []
        block = builder.open_main(operands, jaxpr.out_avals, of_operands, of_results, names)
        arguments = list(block.arguments)
        index = arguments.pop(0) if several else None
        taken = dict(zip(kept, arguments, strict=True))
        values = [taken.get(i) for i in range(len(jaxpr.in_avals))]
        ctx = self._context(builder, block, values)
        if index is None or shared:
            results = ctx.inline(jaxpr, values)
        else:
            results = self._by_platform(ctx, values, index, platforms)
        ctx.finish("func.return", results)
        return builder

    def _context(self, builder: ModuleBuilder, block: Any, values: list[Any]) -> LoweringContext:
        if not self.symbolic:
            return LoweringContext(builder, block, f"jit({self.name})")
        ctx = SymbolicContext(builder, block, self.dimensions, {})
        ctx._source = SourceInfo(None, 0, (f"jit({self.name})",))

        def size_of(position: int, axis: int) -> Number:
            return Number(ctx, _dimension_size(ctx, values[position], axis))

        solved = self.dimensions.solve(size_of)
        ctx._variables = {name: number.value for name, number in solved.items()}
        for left, direction, right, message in self.dimensions.checks(size_of):
            _assert(ctx, ctx.size(left), direction, ctx.size(right), message)
        return ctx

    def _by_platform(
        self, ctx: LoweringContext, values: list[Any], index: Value, platforms: Sequence[str]
    ) -> list[Value]:
        builder = ctx._builder

        def region(platform: str) -> Region:
            def build(inner: LoweringContext) -> Sequence[Value]:
                builder.platform = inner.platform = platform
                builder.rules.clear()
                builder.functions.clear()
                return inner.inline(self.jaxpr, values)

            return Region([], build)

        ctx.avals_out = tuple(self.jaxpr.out_avals)
        regions = [region(platform) for platform in platforms]
        return ctx.op("stablehlo.case", [index], self.jaxpr.out_avals, regions=regions)


def _assert(ctx: SymbolicContext, left: Value, direction: str, right: Value, message: str) -> None:
    compare = {
        "comparison_direction": f"#stablehlo<comparison_direction {direction}>",
        "compare_type": "#stablehlo<comparison_type SIGNED>",
    }
    truth = ShapedArray((), np.bool_)
    (holds,) = ctx.op("stablehlo.compare", [left, right], [truth], compare)
    sizes = [ctx.op("stablehlo.convert", [value], [INDEX])[0] for value in (left, right)]
    attributes = {
        "call_target_name": '"shape_assertion"',
        "api_version": "2 : i32",
        "has_side_effect": "true",
        "error_message": mlir.quoted(message),
    }
    ctx.op("stablehlo.custom_call", [holds, *sizes], [], attributes)


def custom_call_targets(module: Any) -> list[str]:
    """The names of the functions that the custom calls of a module name."""
    text = mlir.to_text(module, debug_info=False)
    pretty = re.findall(r"custom_call @(\"(?:[^\"\\]|\\.)*\"|[\w$.]+)", text)
    generic = re.findall(r'call_target_name = "([^"]*)"', text)
    return [name.strip('"') for name in pretty] + generic


# ---------------------------------------------------------------------------- reading it back


def artifact_text(artifact: bytes, *, debug_info: bool = False) -> str:
    """The StableHLO module of an artifact, with or without the names and places in it."""
    with mlir.Context.borrow() as context:
        return mlir.to_text(_read(artifact, context), debug_info=debug_info)


def _read(artifact: bytes, context: mlir.Context) -> Any:
    try:
        return context.parse_artifact(artifact)
    except (_jaxlib.RuntimeFailure, mlir.InvalidIR, ValueError) as error:
        raise BackendError(
            f"the program is no StableHLO artifact that this version of jaxlib "
            f"({_jaxlib.VERSION}) reads: {clause(excerpt(str(error)))}. It is damaged, or "
            f"was written by a newer version: export it again, or update jaxlib."
        ) from error


def call_artifact(
    ctx: LoweringContext,
    artifact: bytes,
    values: Sequence[Value],
    *,
    name: str,
    operand_avals: Sequence[ShapedArray],
    parameter_avals: Sequence[ShapedArray],
    result_avals: Sequence[ShapedArray],
    declared_avals: Sequence[ShapedArray],
    platform_index: int | None,
) -> list[Value]:
    """Call the program of an artifact from a program that is being lowered.

    Sizes may be expressions in the types of its parameters, and in those that are declared for its
    results; the other types are for these operands.
    """
    context, builder = ctx._builder.context, ctx._builder
    indices = [] if platform_index is None else [ctx.constant(np.int32(platform_index))]
    is_open = any(map(is_symbolic, [*operand_avals, *result_avals]))
    is_declared_open = any(map(is_symbolic, [*parameter_avals, *declared_avals]))
    if is_open or (platform_index is None and not is_declared_open):
        module = _read(artifact, context)
    else:
        fixed = [INDEX] * len(indices) + list(operand_avals)
        refined = _refined(artifact, tuple(fixed), tuple(result_avals), platform_index)
        module = context.parse_module(refined)
    attributes = {"callee": f"@{mlir.quoted(_merge(builder, module, name))}"}
    if not is_open:
        return ctx.op("func.call", list(values), result_avals, attributes)
    given = [*indices, *_converted(ctx, values, operand_avals, parameter_avals)]
    outs = LoweringContext.op(ctx, "func.call", given, declared_avals, attributes)
    return _converted(ctx, outs, declared_avals, result_avals)


def _converted(
    ctx: LoweringContext, values: Sequence[Value], given: Sequence[Any], wanted: Sequence[Any]
) -> list[Value]:
    """The values as tensors of other types, where known sizes differ."""

    def sizes(aval: Any) -> list[int | None]:
        return [n if isinstance(n, int) else None for n in aval.shape]

    return [
        x if sizes(of) == sizes(to) else ctx.op("stablehlo.convert", [x], [to])[0]
        for x, of, to in zip(values, given, wanted, strict=True)
    ]


@functools.lru_cache(maxsize=64)
def _refined(
    artifact: bytes,
    avals: tuple[ShapedArray, ...],
    results: tuple[ShapedArray, ...],
    platform_index: int | None,
) -> bytes:
    """The program for operands of these types, as bytecode; its sizes are numbers."""
    with mlir.Context.borrow() as context:
        module = _read(artifact, context)
        builder = ModuleBuilder(context, "refined", "")
        builder.module = module
        old = mlir.rename_function(module, "main", "exported_main")
        inputs, outputs = mlir.function_types(old)
        visible = avals if platform_index is None else avals[1:]
        block = builder.open_main(visible, results)
        ctx = LoweringContext(builder, block)
        arguments = list(block.arguments)
        if platform_index is not None:
            arguments.insert(0, ctx.constant(np.int32(platform_index)))
        given = [_cast(ctx, x, kind) for x, kind in zip(arguments, inputs, strict=True)]
        attributes = {"callee": context.attribute('@"exported_main"')}
        outs = list(ctx._create("func.call", given, outputs, attributes).results)
        types = builder.types(results)
        ctx.finish("func.return", [_cast(ctx, x, to) for x, to in zip(outs, types, strict=True)])
        bytecode = mlir.to_bytecode(module)
    try:
        return mlir.refine_shapes(bytecode)
    except _jaxlib.RuntimeFailure as error:
        raise BackendError(
            f"the sizes of an exported program could not be computed for operands of the types "
            f"({', '.join(aval.str_short() for aval in avals)}): {excerpt(str(error))}"
        ) from error


def _cast(ctx: LoweringContext, x: Value, kind: Any) -> Value:
    return x if x.type == kind else ctx._create("stablehlo.convert", [x], [kind]).results[0]


def _merge(builder: ModuleBuilder, module: Any, name: str) -> str:
    """Move the functions of a module into the one that is being built; give the main one's name."""
    if kernel_sources:
        for target in custom_call_targets(module):
            any(has_kernel(target, builder.platform) for has_kernel in kernel_sources)
    clashing = builder.meshes.clashing(module)
    if clashing:
        text = mlir.to_text(module, debug_info=False)
        for old, new in clashing.items():
            text = re.sub(rf"@{re.escape(old)}(?![\w$.-])", f"@{new}", text)
        module = builder.context.parse_module(text)
    builder.meshes.adopt(module)
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    names = {}
    for function in functions:
        old = mlir.symbol_of(function)
        new = builder.new_symbol(mlir.symbol_name(name if old == "main" else f"{name}_{old}"))
        names[old] = new
    # Renamed in two steps, because a new name can be the old name of another function.
    for i, old in enumerate(names):
        mlir.rename_function(module, old, f"moving.{i}")
    for i, new in enumerate(names.values()):
        mlir.rename_function(module, f"moving.{i}", new)
    for function in functions:
        builder.module.body.append(function)
    return names["main"]
