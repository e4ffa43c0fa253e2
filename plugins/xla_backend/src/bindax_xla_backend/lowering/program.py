"""Lowering a whole program: which operands it takes, which memory it reuses, and its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import BackendError, ClosedJaxpr, Jaxpr, Literal, ShapedArray
from bindax_core.sharding import AutoLayout, NamedSharding, PartitionSpec
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._errors import LoweringError, excerpt
from bindax_xla_backend.lowering import memory_layouts, mlir
from bindax_xla_backend.lowering.callbacks import HostCallback
from bindax_xla_backend.lowering.context import EMBEDDED_CONSTANT_SIZE, LoweringContext
from bindax_xla_backend.lowering.layout import Layout
from bindax_xla_backend.lowering.memory_layouts import Order
from bindax_xla_backend.lowering.module_builder import ModuleBuilder
from bindax_xla_backend.lowering.types_on_meshes import result_shardings

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend
    from bindax_xla_backend.execution.executable import Executable


@dataclass(frozen=True, eq=False)
class Request:
    """A jaxpr to compile, and what the caller says of its operands."""

    jaxpr: ClosedJaxpr
    name: str
    donated: Sequence[bool]  # whether the memory of each may be reused
    keep_unused: bool  # whether the program takes those that it does not use


@dataclass(frozen=True, eq=False)
class LoweredProgram:
    """A StableHLO program and what is needed to call it."""

    name: str
    platform: str
    bytecode: bytes
    in_avals: tuple[ShapedArray, ...]
    out_avals: tuple[ShapedArray, ...]
    kept: tuple[int, ...]  # the positions of the operands that are parameters of the program
    donated: tuple[int, ...]  # and of those whose memory it reuses
    constants: tuple[np.ndarray[Any, Any], ...]  # its first parameters
    callbacks: tuple[HostCallback, ...]
    has_effects: bool  # whether it does more than compute its results
    layout: Layout | None = None  # None for the first device
    names_meshes: bool = False  # whether it has attributes of Shardy
    inspectors: tuple[Any, ...] = ()  # what is called while it is compiled
    memories: tuple[str | None, ...] = ()  # of the results; None for the devices' own
    operand_orders: tuple[Order, ...] = ()  # of the axes of kept operands
    result_orders: tuple[Order, ...] = ()
    typed: tuple[NamedSharding | None, ...] = ()  # how results lie as types say; None for any way

    def text(self, *, debug_info: bool = False) -> str:
        """The module as text; without locations, programs with one text are the same."""
        with mlir.Context.borrow() as context:
            return mlir.to_text(context.parse_module(self.bytecode), debug_info=debug_info)


class Lowered:
    """A program in StableHLO."""

    def __init__(self, backend: XlaBackend, program: LoweredProgram) -> None:
        self.name: str = program.name
        self.in_avals: tuple[ShapedArray, ...] = program.in_avals
        self.out_avals: tuple[ShapedArray, ...] = program.out_avals
        self._backend = backend
        self._program = program

    def __repr__(self) -> str:
        return f"Lowered({self.name})"

    def as_text(self, dialect: str = "stablehlo", *, debug_info: bool = False) -> str:
        """The program as text; ``debug_info`` shows where each operation comes from."""
        _check_dialect(dialect)
        if dialect == "hlo":
            return _jaxlib.hlo_text(self.compiler_ir("hlo"), debug_info=debug_info)
        return self._program.text(debug_info=debug_info)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program as an object of jaxlib's: an MLIR module, or an XLA computation."""
        _check_dialect(dialect or "stablehlo")
        if dialect == "hlo":
            return mlir.to_computation(self._program.bytecode)
        return mlir.Context().parse_module(self._program.bytecode)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates for the program before optimizations."""
        module = self.compiler_ir("hlo").get_hlo_module()
        return _jaxlib.cost_analysis(self._backend.client(), module)

    def bytecode(self) -> bytes:
        """The StableHLO module as MLIR bytecode, locations included."""
        return self._program.bytecode

    def compile(self, options: Mapping[str, Any] | None = None) -> Executable:
        """Compile for the backend's device, with options of XLA by name.

        Raises:
            BackendError: when the program was lowered for another platform.
        """
        made, own = self._program.platform, self._backend.platform
        if made != own:
            raise BackendError(
                f"{self.name} was lowered for the platform {made!r}, and is compiled where that "
                f"is: the devices here are of {own!r}. A program for other places is kept in a "
                f"file by bindax.export.export(..., platforms=[{made!r}])."
            )
        return self._backend.compile_lowered(self._program, options)


def _check_dialect(dialect: str) -> None:
    if dialect not in ("stablehlo", "hlo"):
        raise ValueError(
            f"there is no program in the dialect {dialect!r}; there is 'stablehlo' and 'hlo'."
        )


@dataclass(frozen=True)
class _Signature:
    """The parameters and results of the function ``main`` of a program."""

    hoisted: Mapping[int, np.ndarray[Any, Any]]  # constants that are parameters, by position
    kept: tuple[int, ...]  # the positions of the operands that are parameters
    aliases: Mapping[int, int]  # from donated operands to the results that take their memory
    memories: tuple[str | None, ...]  # of the results
    operand_orders: Mapping[int, Order]  # of the axes of kept operands, by position
    result_orders: tuple[Order, ...]
    typed: tuple[NamedSharding | None, ...]  # how the results lie, as their types say


def lower_program(
    request: Request,
    platform: str,
    layout: Layout | None,
    *,
    bound: Mapping[int, Any] | None = None,
    checks_types: bool = False,
) -> LoweredProgram:
    """Lower a closed jaxpr to a module whose ``main`` takes and returns tensors.

    It is for the first device without a layout. The axes of operands that are ``bound`` are in the
    order that it has of them. With ``checks_types`` what rules return is checked.
    """
    jaxpr, name = request.jaxpr, request.name
    constants = [np.asarray(mlir.host_constant(const)) for const in jaxpr.consts]
    signature = _signature(request, constants, bound or {})
    with mlir.Context.borrow() as context:
        builder = ModuleBuilder(context, f"jit_{name}", platform, layout)
        builder.expected_type = builder.type if checks_types else None
        if builder.several:
            builder.tell_devices()
        _build_main(builder, request, constants, signature)
        verify(builder.module, name)
        return LoweredProgram(
            name=name,
            platform=platform,
            bytecode=mlir.to_bytecode(builder.module),
            in_avals=tuple(jaxpr.in_avals),
            out_avals=tuple(jaxpr.out_avals),
            kept=signature.kept,
            donated=tuple(sorted(signature.aliases)),
            constants=tuple(signature.hoisted.values()),
            callbacks=tuple(builder.callbacks),
            has_effects=bool(jaxpr.jaxpr.effects),
            layout=layout,
            names_meshes=bool(builder.meshes),
            inspectors=tuple(builder.inspectors),
            memories=signature.memories,
            operand_orders=tuple(signature.operand_orders.values()),
            result_orders=signature.result_orders,
            typed=signature.typed,
        )


def _signature(
    request: Request, constants: Sequence[np.ndarray[Any, Any]], bound: Mapping[int, Any]
) -> _Signature:
    jaxpr = request.jaxpr
    # Large constants are parameters, so that the program does not depend on their values.
    hoisted = {i: x for i, x in enumerate(constants) if x.size > EMBEDDED_CONSTANT_SIZE}
    kept = kept_operands(jaxpr.jaxpr, request.keep_unused)
    requests = memory_layouts.last_requests(jaxpr.jaxpr)
    memories = tuple([kind for kind, _ in requests])
    results = tuple([order for _, order in requests])
    operands = memory_layouts.orders_of_operands(jaxpr.jaxpr, request.name, bound)
    aliases = _aliases(jaxpr.in_avals, jaxpr.out_avals, kept, request.donated, memories)
    orders = {i: operands[i] for i in kept}
    aliases = {i: j for i, j in aliases.items() if _fit(orders[i], results[j])}
    typed = result_shardings(jaxpr.jaxpr)
    return _Signature(hoisted, kept, aliases, memories, orders, results, typed)


def _fit(operand: Order, result: Order) -> bool:
    """Tell whether a result may take the memory of an operand."""
    return operand == result or any(isinstance(x, AutoLayout) for x in (operand, result))


def _build_main(
    builder: ModuleBuilder,
    request: Request,
    constants: Sequence[np.ndarray[Any, Any]],
    signature: _Signature,
) -> None:
    jaxpr, name = request.jaxpr, request.name
    in_avals, out_avals, memories = jaxpr.in_avals, jaxpr.out_avals, signature.memories
    hoisted = {i: ShapedArray(x.shape, x.dtype) for i, x in signature.hoisted.items()}
    operands = {i: in_avals[i] for i in signature.kept}
    block = builder.open_main(
        [*hoisted.values(), *operands.values()],
        out_avals,
        _attributes(builder, list(hoisted.values()), operands, signature),
        [
            _of_result(builder, *known)
            for known in zip(
                memories, signature.result_orders, signature.typed, out_avals, strict=True
            )
        ],
    )
    ctx, arguments = LoweringContext(builder, block, f"jit({name})"), list(block.arguments)
    given = dict(zip(hoisted, arguments, strict=False))
    consts = [given.get(i) or ctx.constant(array) for i, array in enumerate(constants)]
    taken = dict(zip(operands, arguments[len(hoisted) :], strict=True))
    results = ctx.lower(jaxpr.jaxpr, consts, [taken.get(i) for i in range(len(in_avals))])
    ctx.finish("func.return", _placed(ctx, results, out_avals, memories))


def _attributes(
    builder: ModuleBuilder,
    constants: Sequence[ShapedArray],
    operands: Mapping[int, ShapedArray],
    signature: _Signature,
) -> list[str]:
    """For each parameter what XLA is to know of it: its sharding, its order, its memory's use."""
    aliases, orders = signature.aliases, signature.operand_orders
    layout, everywhere = builder.layout, None
    if layout and builder.several and constants:
        everywhere = NamedSharding(layout.mesh, PartitionSpec())
    made = [builder.sharded(everywhere, aval) for aval in constants]
    for i, aval in operands.items():
        found = [builder.sharded(layout.operands[i] if layout else None, aval)]
        found.append(memory_layouts.attribute(orders[i]))
        if i in aliases:
            # What XLA chooses of a result, its sharding or its order, is not known before: there
            # it pairs them itself.
            taken = aliases[i]
            is_open = isinstance(orders[i], AutoLayout) or isinstance(
                signature.result_orders[taken], AutoLayout
            )
            donor, alias = "jax.buffer_donor = true", f"tf.aliasing_output = {taken} : i32"
            found.append(donor if builder.several or is_open else alias)
        made.append(", ".join(filter(None, found)))
    return made


def _of_result(
    builder: ModuleBuilder,
    kind: str | None,
    order: Order,
    typed: NamedSharding | None,
    aval: ShapedArray,
) -> str:
    """The attributes of a result: its memory, the order of its axes, and how it lies."""
    made = [] if kind is None else [f'mhlo.memory_kind = "{kind}"']
    made += filter(None, [memory_layouts.attribute(order)])
    if typed is not None and builder.several:
        made.append(f"sdy.sharding = {builder.meshes.sharding_of_type(typed, aval.ndim)}")
    return ", ".join(made)


def _placed(
    ctx: LoweringContext,
    results: Sequence[Any],
    avals: Sequence[ShapedArray],
    memories: Sequence[str | None],
) -> list[Any]:
    """The results, with an operation that moves each that is left in another memory."""
    placed = list(results)
    for i, kind in enumerate(memories):
        if kind is not None:
            attributes = {
                "call_target_name": '"annotate_device_placement"',
                "has_side_effect": "true",
                "backend_config": '""',
                "mhlo.frontend_attributes": f'{{_xla_buffer_placement = "{kind}"}}',
            }
            placed[i] = ctx.op("stablehlo.custom_call", [placed[i]], [avals[i]], attributes)[0]
    return placed


def verify(module: Any, name: str) -> None:
    """Raise unless a module is valid."""
    try:
        module.operation.verify()
    except mlir.InvalidIR as error:
        raise LoweringError(
            f"the lowering of {name} is not a valid program; the first line names the operation "
            f"and the place in your program it comes from. The lowering rule of that primitive is "
            f"wrong, report it to its package.\n{excerpt(str(error))}"
        ) from error


def kept_operands(jaxpr: Jaxpr, keep_unused: bool) -> tuple[int, ...]:
    """The positions of the operands that the program takes."""
    used = {atom for eqn in jaxpr.eqns for atom in eqn.invars if type(atom) is not Literal}
    used.update(atom for atom in jaxpr.outvars if type(atom) is not Literal)
    return tuple(i for i, v in enumerate(jaxpr.invars) if keep_unused or v in used)


def _aliases(
    in_avals: Sequence[ShapedArray],
    out_avals: Sequence[ShapedArray],
    kept: Sequence[int],
    donated: Sequence[bool],
    memories: Sequence[str | None],
) -> dict[int, int]:
    """Pair each donated operand with the result that takes over its memory."""
    free: dict[tuple[Any, Any], list[int]] = {}
    for position in reversed(range(len(out_avals))):
        aval = out_avals[position]
        if memories[position] is None:
            free.setdefault((aval.shape, aval.dtype), []).append(position)
    aliases: dict[int, int] = {}
    for i in kept:
        if i < len(donated) and donated[i]:
            results = free.get((in_avals[i].shape, in_avals[i].dtype))
            if results:
                aliases[i] = results.pop()
    return aliases
