"""From a lowered program to one that XLA has loaded, and where that takes and leaves arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import ShapedArray
from bindax_core.sharding import NamedSharding, PartitionSpec
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._errors import CompilationError, excerpt
from bindax_xla_backend.execution import compilation_cache
from bindax_xla_backend.execution.placement import ProgramPlacements
from bindax_xla_backend.lowering import memory_layouts, mlir, shardings
from bindax_xla_backend.lowering.program import LoweredProgram

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend


def load(backend: XlaBackend, program: LoweredProgram, compiler_options: Mapping[str, Any]) -> Any:
    """Compile a program for its devices, or take it from a cache; opaque."""
    client, options = backend.client(), _options(program)
    options.env_option_overrides = list(compiler_options.items())
    devices = (backend.device(),) if program.layout is None else program.layout.devices
    if program.callbacks or program.inspectors:
        # It calls Python functions of this process, so it can be used by nobody else.
        return _compile(client, devices, program, options)
    key = compilation_cache.program_key(
        program.text(),
        options.SerializeAsString(),
        f"jaxlib {_jaxlib.VERSION} {backend.platform} {len(backend.devices())} {devices} "
        f"{backend.device()}",
    )

    def load_or_compile() -> Any:
        directory = compilation_cache.compilation_cache_dir()
        if directory is None:
            return _compile(client, devices, program, options)
        stored = compilation_cache.read_entry(directory, key)
        if stored is not None:
            try:
                return _jaxlib.load_executable(client, devices, stored, options)
            except _jaxlib.RuntimeFailure:
                pass  # written by something that is not quite this version: compile it anew
        loaded = _compile(client, devices, program, options)
        compilation_cache.write_entry(directory, key, bytes(loaded.serialize()))
        return loaded

    return backend.compiled.get(key, len(program.bytecode), load_or_compile)


def compile_for(
    client: Any, devices: Any, program: LoweredProgram, compiler_options: Mapping[str, Any]
) -> Any:
    """Compile a program for the devices of any client, which take the place of its own; opaque."""
    options = _options(program, [device.id for device in devices])
    options.env_option_overrides = list(compiler_options.items())
    return _compile(client, devices, program, options)


def placements_of(backend: XlaBackend, program: LoweredProgram, loaded: Any) -> ProgramPlacements:
    """Where a loaded program takes its parameters, and leaves its results."""
    layout, kept, results = program.layout, program.kept, program.out_avals
    of_operands, of_results = _orders(program, loaded)
    if layout is None:
        own = backend.default_placement
        operands = [
            own if order is None else backend.place(own.sharding, committed=False, layout=order)
            for order in of_operands
        ]
        left = [
            own
            if kind is order is None
            else backend.place(own.sharding.with_memory_kind(kind), layout=order)
            for kind, order in zip(program.memories, of_results, strict=True)
        ]
        return ProgramPlacements(operands, left, own)
    everywhere: Any
    if layout.mesh is None:
        everywhere = layout.single
        taken, chosen = [everywhere] * len(kept), [everywhere] * len(results)
    else:
        everywhere = NamedSharding(layout.mesh, PartitionSpec())
        given = [*program.constants, *(program.in_avals[i] for i in kept)]
        taken = shardings.chosen(loaded.get_parameter_shardings(), layout.mesh, given)
        taken = taken[len(program.constants) :]
        left = loaded.get_output_shardings()
        chosen = shardings.chosen(left, layout.mesh, results, program.typed)
        chosen = [
            shardings.as_typed(sharding, typed, aval)
            for sharding, typed, aval in zip(chosen, program.typed, results, strict=True)
        ]
        said = list(zip(layout.operands, program.in_avals, strict=True))
        chosen = [
            sharding if typed is not None else _as_said(sharding, aval, said)
            for sharding, typed, aval in zip(chosen, program.typed, results, strict=True)
        ]
    bound = [layout.operands[i] for i in kept]
    return ProgramPlacements(
        [
            backend.place(free if own is None else own, committed=own is not None, layout=order)
            for own, free, order in zip(bound, taken, of_operands, strict=True)
        ],
        [
            backend.place(
                sharding.with_memory_kind(kind),
                committed=layout.committed or bool(kind) or order is not None,
                layout=order,
            )
            for sharding, kind, order in zip(chosen, program.memories, of_results, strict=True)
        ],
        backend.place(everywhere, committed=False),
    )


def _as_said(sharding: Any, aval: ShapedArray, said: Sequence[tuple[Any, ShapedArray]]) -> Any:
    """The sharding of a result in the words of an operand that lies alike, if there is one.

    On explicit axes alone it is in those of the result's type.
    """
    if sharding.mesh.are_all_axes_explicit:
        return sharding
    for own, given in said:
        alike = type(own) is NamedSharding and given.ndim == aval.ndim
        if alike and own.mesh == sharding.mesh and own.is_equivalent_to(sharding, aval.ndim):
            return own
    return sharding


def _orders(program: LoweredProgram, loaded: Any) -> tuple[list[Any], list[Any]]:
    """The orders of the axes of operands and results, None for the default."""
    of_operands, of_results = program.operand_orders, program.result_orders
    if not (any(of_operands) or any(of_results)):
        return [None] * len(of_operands), [None] * len(of_results)
    taken = loaded.get_parameter_layouts()[len(program.constants) :]
    left = loaded.get_output_layouts()
    return memory_layouts.chosen(of_operands, taken), memory_layouts.chosen(of_results, left)


def _options(program: LoweredProgram, device_ids: Sequence[int] | None = None) -> Any:
    """The options of a program, on its own devices unless others are named.

    On several devices XLA chooses the shardings of the results, and of the operands that are bound
    to none. Its partitioner Shardy reads the mesh that a program names.
    """
    layout = program.layout
    if layout is None:
        return _jaxlib.compile_options()
    options = _jaxlib.compile_options(len(layout.devices))
    build, several = options.executable_build_options, len(layout.devices) > 1
    build.use_spmd_partitioning = several
    build.use_shardy_partitioner = program.names_meshes or several
    if several:
        build.allow_spmd_sharding_propagation_to_parameters = [
            *([False] * len(program.constants)),
            *(layout.operands[i] is None for i in program.kept),
        ]
        results = max(len(program.out_avals), 1)
        build.allow_spmd_sharding_propagation_to_output = [True] * results
    ids = device_ids or [device.id for device in layout.devices]
    options.device_assignment = _jaxlib.xla_client.DeviceAssignment.create(np.array([ids]))
    return options


def _compile(client: Any, devices: Any, program: LoweredProgram, options: Any) -> Any:
    try:
        if not program.callbacks:
            return _jaxlib.compile_program(client, devices, program.bytecode, options)
        with mlir.Context.borrow() as context:
            module, called = context.parse_module(program.bytecode), list(program.callbacks)
            return _jaxlib.compile_program(client, devices, module, options, called)
    except _jaxlib.RuntimeFailure as error:
        missing = re.search(r"No FFI handler registered for (\S+) on a platform (\w+)", str(error))
        advice = "lower(...).as_text() shows the program that was given to it."
        if missing is not None:
            advice = (
                f"It calls the kernel {missing[1]!r}, which nobody registered in this process. "
                f"Import the package that brings it, or call register_ffi_target({missing[1]!r}, "
                f"capsule) of bindax.ffi, before the program is called."
            )
        raise CompilationError(
            f"XLA could not compile {program.name}: {excerpt(str(error))}\n{advice}"
        ) from error
