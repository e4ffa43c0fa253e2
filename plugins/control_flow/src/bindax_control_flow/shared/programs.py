"""Programs of functions that belong together, and their values, made to agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Var,
    eval_jaxpr,
    jaxpr_as_fun,
    operations_for,
    typeof,
)
from bindax_lax_basic import broadcast_in_dim
from bindax_transforms import cached_on_jaxpr, trace_to_jaxpr
from bindax_transforms.extend import (
    same_on_devices,
    varying_along,
    varying_of,
    with_varying,
    without_varying,
)

Programs = tuple[ClosedJaxpr, ...]


def converted(values: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """Values of the given dtypes, weak or not, which those of another one are converted to."""
    return [_converted(x, aval) for x, aval in zip(values, avals, strict=True)]


def _converted(x: Any, aval: Any) -> Any:
    if typeof(x) == aval:
        return x
    if same_on_devices(typeof(x)) != same_on_devices(aval):
        x = operations_for(aval).convert(x, aval.dtype, aval.weak_type)
    return varying_along(x, varying_of([aval]))


def compared(avals: Sequence[Any]) -> list[Any]:
    """Types as those of operands are compared with those that a program takes."""
    return [without_varying(aval.strip_weak_type()) for aval in avals]


def with_results(program: ClosedJaxpr, avals: Sequence[Any]) -> ClosedJaxpr:
    """A program whose results are converted to the given dtypes."""
    if program.out_avals == list(avals):
        return program

    def function(*operands: Any) -> list[Any]:
        return converted(eval_jaxpr(program.jaxpr, program.consts, *operands), avals)

    return trace_to_jaxpr(function, program.in_avals, DebugInfo("cond"))


def varied(program: ClosedJaxpr, names: frozenset[Any]) -> ClosedJaxpr:
    """The program for operands that vary along some more manual axes."""
    avals = [with_varying(aval, names) for aval in program.in_avals]

    def make() -> ClosedJaxpr:
        return trace_to_jaxpr(jaxpr_as_fun(program), avals, DebugInfo("cond"))

    return cached_on_jaxpr(program, ("varied", names), make)


def join_consts(programs: Sequence[ClosedJaxpr]) -> tuple[Programs, list[Any]]:
    """Turn the constants of all programs into leading arguments that each of them takes.

    A constant that several programs use becomes one argument.
    """
    consts: dict[int, tuple[Any, Any]] = {}  # by identity: the type and the constant
    for program in programs:
        for v, const in zip(program.jaxpr.constvars, program.consts, strict=True):
            consts.setdefault(id(const), (v.aval, const))
    if not consts:
        return tuple(programs), []
    joined = []
    for program in programs:
        own = dict(zip(map(id, program.consts), program.jaxpr.constvars, strict=True))
        leading = [own.get(key) or Var(aval) for key, (aval, _) in consts.items()]
        jaxpr = program.jaxpr.replace(constvars=(), invars=[*leading, *program.jaxpr.invars])
        joined.append(ClosedJaxpr(jaxpr))
    return tuple(joined), [const for _, const in consts.values()]


def batch_in_front(axis_size: int, x: Any, dim: int | None) -> Any:
    """A batch along the first axis; a value without batch axis is repeated."""
    if dim == 0:
        return x
    operations = operations_for(typeof(x))
    if dim is None:
        return operations.broadcast_axis(x, axis_size, 0)
    return operations.move_axis(x, dim, 0)


def batches_in_front(
    axis_size: int, values: Sequence[Any], dims: Sequence[int | None], flags: Sequence[bool]
) -> list[Any]:
    """Values of which those with a flag have a batch, along the first axis."""
    return [
        batch_in_front(axis_size, x, d) if flag else x
        for x, d, flag in zip(values, dims, flags, strict=True)
    ]


def spread(flags: Any, shape: tuple[int, ...]) -> Any:
    """One flag for each element of a batch, repeated along the other axes."""
    return flags if len(shape) == 1 else broadcast_in_dim(flags, shape, (0,))
