"""Jaxprs on arrays of extended dtypes, as jaxprs on the arrays that represent them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from bindax_core import extend as kinds
from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    DebugInfo,
    JaxprEqn,
    bind_flat,
    has_extended_dtypes,
    interpret_jaxpr,
    is_extended,
    subjaxprs,
)
from bindax_core.sharding import laid_as
from bindax_transforms._flat import cached_on_jaxpr, map_jaxprs
from bindax_transforms.batching.vmap import AxisData, move_batch_axis, vmap_flat
from bindax_transforms.compilation.laying import left_to_compiler
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr

_ORIGIN = DebugInfo("physical_jaxpr")


def physical_jaxpr(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The jaxpr on the arrays that represent a jaxpr's operands and results.

    Equations on extended dtypes follow their primitives' ``physical`` rules. Without one, a
    primitive whose parameters are jaxprs takes the jaxprs that represent those, and any other
    is applied along each axis of the elements, by its ``vmap`` rule.

    Raises:
        TypeError: when an operation has no meaning on the arrays that represent its operands.

    >>> from bindax_transforms import make_jaxpr
    >>> closed = make_jaxpr(lambda x: x)(1.0)
    >>> physical_jaxpr(closed).in_avals == closed.in_avals
    True
    """
    if not has_extended_dtypes(closed):
        return closed
    avals = [aval.physical() for aval in closed.in_avals]
    make = partial(trace_to_jaxpr, lambda *values: _evaluate(closed, values), avals, _ORIGIN)
    return cached_on_jaxpr(closed, "physical", make)


def _evaluate(closed: ClosedJaxpr, values: Sequence[Any]) -> list[Any]:
    outs = interpret_jaxpr(closed.jaxpr, map(_physical, closed.consts), values, _apply)
    return [_physical(x) for x in outs]


def _physical(value: Any) -> Any:
    return value.physical() if isinstance(value, Array) else value


def _apply(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
    operands = [_physical(x) for x in operands]  # a literal may be of an extended dtype
    avals_in = [x.aval for x in eqn.invars]
    shapes = {
        aval.dtype[0].shape
        for aval in (*avals_in, *[v.aval for v in eqn.outvars])
        if is_extended(aval.dtype)
    }
    programs = subjaxprs(eqn.params)
    if not shapes and not any(has_extended_dtypes(program) for _, program in programs):
        return bind_flat(eqn.primitive, operands, eqn.params)
    rule = kinds.physical.find(eqn.primitive)
    if rule is not None:
        return _represented(eqn, rule, operands)
    if programs:
        return bind_flat(eqn.primitive, operands, map_jaxprs(physical_jaxpr, eqn.params))
    if len(shapes) != 1:
        raise _meaningless(eqn, "its operands have elements of several shapes")
    return _structural(eqn, operands, shapes.pop())


def _represented(eqn: JaxprEqn, rule: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """The program of a rule; the compiler decides how its values lie, but for the results."""
    avals = [x.aval for x in eqn.invars]
    if not any(getattr(aval, "is_divided", False) for aval in avals):
        return list(rule(avals, *operands, **eqn.params))
    plain = [aval.plain() for aval in avals]
    outs = rule(plain, *map(left_to_compiler, operands), **eqn.params)
    return [laid_as(x, v.aval.physical()) for x, v in zip(outs, eqn.outvars, strict=True)]


def _structural(eqn: JaxprEqn, operands: Sequence[Any], shape: tuple[int, ...]) -> Sequence[Any]:
    """An operation on elements, along each axis of the arrays that represent them."""

    def along(axes: Sequence[int], values: Sequence[Any]) -> Sequence[Any]:
        if not axes:
            return bind_flat(eqn.primitive, values, eqn.params)
        size, rest = axes[-1], axes[:-1]
        ranks = [len(aval.shape) + len(rest) if extended else None for aval, extended in typed]
        outs, dims = vmap_flat(lambda *xs: along(rest, xs), AxisData(size), values, ranks, _ORIGIN)
        return [_last(x, d, size, v, eqn) for x, d, v in zip(outs, dims, eqn.outvars, strict=True)]

    typed = [(x.aval, is_extended(x.aval.dtype)) for x in eqn.invars]
    return along(shape, operands)


def _last(x: Any, dim: int | None, size: int, v: Any, eqn: JaxprEqn) -> Any:
    if not is_extended(v.aval.dtype):
        if dim is not None:
            raise _meaningless(eqn, f"its result {v.aval.str_short()} would differ among the parts")
        return x
    last = len(kinds.typeof(x).shape) - (dim is not None)
    return move_batch_axis(size, dim, last, x)


def _meaningless(eqn: JaxprEqn, reason: str) -> TypeError:
    types = ", ".join(x.aval.str_short() for x in eqn.invars)
    return TypeError(
        f"{eqn.primitive.name} of ({types}) has no meaning on the arrays that represent its "
        f"operands: {reason}. If it does mean something, give the primitive a 'physical' rule."
    )
