"""``inspect_mesh``: the report of a program on a mesh of devices that need not exist."""

from __future__ import annotations

import inspect as signatures
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

from bindax_core.extend import (
    api_boundary,
    find_backend,
    flatten_prefix,
    keystr,
    tree_flatten_with_path,
)
from bindax_core.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec, set_mesh
from bindax_inspect.compiled.absorption import absorb
from bindax_inspect.compiled.hlo import Module, parse_hlo
from bindax_inspect.compiled.marks import marked
from bindax_inspect.divided.by_rules import exchanges_by_rules
from bindax_inspect.divided.exchanges import Exchange, exchanges_of, has_unknown_loops
from bindax_inspect.divided.hardware import DeviceKind, device_kind
from bindax_inspect.divided.held import DeviceMemory, Held, held
from bindax_inspect.divided.mesh_report import MeshReport
from bindax_inspect.divided.virtual_mesh import on_mesh, virtual_mesh
from bindax_inspect.divided.work import work_of
from bindax_inspect.program.equations import Program
from bindax_transforms import check_function, jit, physical_jaxpr


@api_boundary
def inspect_mesh(
    fun: Callable[..., Any],
    mesh: AbstractMesh,
    *specs: Any,
    device: str | DeviceKind = "h100",
) -> Callable[..., MeshReport]:
    """Make a function that reports what ``fun`` costs on a mesh of devices that need not exist.

    The program is compiled for as many devices of the CPU, up to 4,096, and read; it is not run.
    Where nothing compiles, exchanges inside of ``shard_map`` alone are known. While ``fun`` is
    traced, ``mesh`` is the mesh that a ``PartitionSpec`` alone refers to.

    Args:
        fun: a function of pytrees of arrays, transformed or not: under ``jit`` with shardings, with
            ``with_sharding_constraint``, or made by ``shard_map``.
        mesh: the devices, an ``AbstractMesh`` or a ``Mesh``. The last axis goes fastest: devices
            next to each other along it share a domain of the hardware.
        specs: for each positional argument a ``PartitionSpec``, or a prefix tree of them; None
            where the compiler decides. Arguments without one lie as their types say.
        device: the kind of the devices, which bounds the time: a name in ``device_kinds()``, or a
            ``DeviceKind``.

    Returns:
        A function of the arguments of ``fun``, or of their types, that returns a ``MeshReport``.

    Raises:
        TypeError: when ``fun`` is not callable, ``mesh`` is no mesh or a spec is none.
        ValueError: when a spec names another axis, or divides an axis of an array unevenly, there
            are more specs than arguments, or the kind of device is not known.

    >>> import numpy as np
    >>> import bindax_lax_basic as lax
    >>> from bindax_core.sharding import AbstractMesh, PartitionSpec as P
    >>> mesh = AbstractMesh((4, 2), ("data", "model"))
    >>> x = np.ones((8, 16), np.float32)
    >>> report = inspect_mesh(lambda x: lax.sin(x) * 2.0, mesh, P("data", "model"))(x)
    >>> report.operations, report.repeated, report.memory.arguments
    (32.0, 1.0, 64.0)
    """
    check_function("inspect_mesh", "fun", fun)
    if not isinstance(mesh, AbstractMesh):
        raise TypeError(
            f"inspect_mesh: mesh must be an AbstractMesh or a Mesh, but it is {mesh!r:.60}."
        )
    kind = device_kind(device, "inspect_mesh: device")

    @wraps(fun)
    @api_boundary
    def inspected(*args: Any, **kwargs: Any) -> MeshReport:
        virtual = virtual_mesh(mesh)
        staged: Any = fun if hasattr(fun, "trace") else jit(fun)
        with set_mesh(virtual):
            traced = staged.trace(*args, **kwargs)
        program = Program(traced.fun_name, physical_jaxpr(traced.jaxpr))
        names = _names(fun, traced)
        shardings = _shardings(traced, specs, virtual, names[0])
        donated = [i in traced.donate_argnums for i in range(len(names[0]))]
        return _report(program, virtual, _Operands(*names, shardings, donated), kind)

    return inspected


class _Operands(NamedTuple):
    """The operands of a program: their names, those of the results, and what is said of each."""

    names: list[str]
    result_names: list[str]
    shardings: list[NamedSharding | None]
    donated: list[bool]


def _names(fun: Callable[..., Any], traced: Any) -> tuple[list[str], list[str]]:
    """The paths of the arguments, by the names of parameters, and of the results."""
    try:
        parameters = [
            one.name
            for one in signatures.signature(fun).parameters.values()
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):  # some functions of extension modules have none
        parameters = []
    args, kwargs = traced.in_avals
    parameters += [f"args[{i}]" for i in range(len(parameters), len(args))]
    found = []
    for name, x in [*zip(parameters, args, strict=False), *kwargs.items()]:
        found += [name + keystr(path) for path, _ in tree_flatten_with_path(x)[0]]
    leaves, _ = tree_flatten_with_path(traced.out_info)
    return found, ["result" + keystr(path) for path, _ in leaves]


def _shardings(
    traced: Any, specs: Sequence[Any], mesh: Mesh, names: Sequence[str]
) -> list[NamedSharding | None]:
    """For each operand its sharding, or None where the compiler decides."""
    args, _ = traced.in_avals
    if len(specs) > len(args):
        raise ValueError(
            f"inspect_mesh: {len(specs)} specs were given, but {traced.fun_name} was called with "
            f"{len(args)} positional arguments."
        )
    given = flatten_prefix(tuple(specs), tuple(args[: len(specs)]), "specs", full_name="args")
    rest = len(names) - len(given)
    own = traced.argument_shardings or [None] * len(names)
    avals = traced.jaxpr.in_avals
    found = [
        _sharding(spec, mesh, f"inspect_mesh: the spec of {name}")
        for spec, name in zip([*given, *own[len(names) - rest :]], names, strict=True)
    ]
    for sharding, aval, name in zip(found, avals, names, strict=True):
        if sharding is not None:
            sharding.check(aval.shape, f"inspect_mesh: {name}")
    return found


def _sharding(given: Any, mesh: Mesh, what: str) -> NamedSharding | None:
    if isinstance(given, PartitionSpec):
        return NamedSharding(mesh, given)
    if isinstance(given, NamedSharding):
        if given.mesh.shape_tuple != mesh.shape_tuple:
            raise ValueError(
                f"{what} is on {given.mesh!r}, but the program is inspected on "
                f"{mesh.abstract_mesh!r}; give a PartitionSpec."
            )
        return NamedSharding(mesh, given.spec)
    if given is None or hasattr(given, "device_assignment"):
        return None  # an array on one device says nothing of the mesh
    raise TypeError(f"{what} must be a PartitionSpec or None, but it is {given!r:.60}.")


class _Division(NamedTuple):
    """The division of a program, and what is not known of it."""

    exchanges: list[Exchange]
    taken: Sequence[NamedSharding | None]
    left: Sequence[NamedSharding | None]
    plan: dict[str, int] | None = None
    module: Module | None = None
    text: str | None = None
    missing: tuple[str, ...] = ()


def _report(program: Program, mesh: Mesh, operands: _Operands, kind: DeviceKind) -> MeshReport:
    virtual: Any = getattr(find_backend(), "virtual", None)
    refusal = _NO_COMPILER if virtual is None else virtual.refusal(mesh.size)
    if refusal is None:
        found = _compiled(program, mesh, operands, virtual)
    else:
        found = _by_rules(program, mesh, operands, refusal)
    arguments = held(operands.names, program.jaxpr.in_avals, found.taken, mesh)
    results = held(operands.result_names, program.jaxpr.out_avals, found.left, mesh)
    return MeshReport(
        *(program.name, mesh.abstract_mesh, kind, arguments, results),
        _memory(arguments, results, found.plan),
        tuple(found.exchanges),
        work_of(program, found.module, mesh),
        found.missing,
        found.text,
    )


def _compiled(program: Program, mesh: Mesh, operands: _Operands, virtual: Any) -> _Division:
    """The division that XLA decides on."""
    divided = virtual.divided(
        on_mesh(marked(program), mesh),
        name=program.name,
        mesh=mesh,
        in_shardings=operands.shardings,
        donated=operands.donated,
    )
    module = parse_hlo(divided.text)
    absorb(program, module)
    return _Division(
        exchanges_of(program, module, mesh),
        divided.operands,
        divided.results,
        divided.memory,
        module,
        divided.text,
        (_LOOP,) if has_unknown_loops(module) else (),
    )


def _by_rules(program: Program, mesh: Mesh, operands: _Operands, reason: str) -> _Division:
    """The exchanges that the program itself asks for: all that is known without a compiler."""
    return _Division(
        exchanges_by_rules(program, mesh),
        operands.shardings,
        [None] * len(operands.result_names),
        missing=(f"exchanges outside of shard_map, and what is in between: {reason}",),
    )


_NO_COMPILER = "nothing compiles here. Install a compiler, as with bindax[xla]."
_LOOP = "the length of a loop, which depends on values: what is in it counts once."


def _memory(
    arguments: Sequence[Held], results: Sequence[Held], plan: dict[str, int] | None
) -> DeviceMemory:
    taken, left = sum(one.bytes for one in arguments), sum(one.bytes for one in results)
    if plan is None:
        return DeviceMemory(taken, left, 0.0, None)
    reused, between = plan["alias_size_in_bytes"], plan["temp_size_in_bytes"]
    return DeviceMemory(taken, left, float(reused), float(between))
