"""``jax.interpreters.batching``: batching rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from bindax import numpy as jnp
from bindax_core.extend import Primitive, operations_for, rules, typeof
from bindax_core.extend import not_mapped as not_mapped
from bindax_jax_names.shims._tables import RuleMapping, single

__all__ = [
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defvectorized",
    "fancy_primitive_batchers",
    "moveaxis",
    "not_mapped",
    "primitive_batchers",
    "register_vmappable",
]

Function = Callable[..., Any]
moveaxis: Final = jnp.moveaxis


class AxisData:
    """The axis that a batching rule is called for.

    Attributes:
        size: its size.
        name: None: rules of bindax are not told.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.name: None = None
        self.spmd_name: None = None


def _of(primitive: Primitive, rule: Function) -> Any:
    return rules.vmap(
        lambda size, operands, dims, **params: tuple(rule(tuple(operands), tuple(dims), **params))
    )


def _with_axis(primitive: Primitive, rule: Function) -> Any:
    return rules.vmap(
        lambda size, operands, dims, **params: tuple(
            rule(AxisData(size), tuple(operands), tuple(dims), **params)
        )
    )


def _with_size(primitive: Primitive, rule: Function) -> Any:
    return rules.vmap(
        lambda size, operands, dims, **params: tuple(
            rule(size, None, None, tuple(operands), tuple(dims), **params)
        )
    )


def _for_jax(primitive: Primitive, function: Function) -> Function:
    def batcher(operands: Any, dims: Any, **params: Any) -> Any:
        sizes = [typeof(x).shape[d] for x, d in zip(operands, dims, strict=True) if d is not None]
        outs, out_dims = function(sizes[0], operands, dims, **params)
        return single(primitive, outs), single(primitive, out_dims)

    return batcher


primitive_batchers: Final = RuleMapping(rules.vmap, _of, _for_jax)
fancy_primitive_batchers: Final = RuleMapping(rules.vmap, _with_axis)
axis_primitive_batchers: Final = RuleMapping(rules.vmap, _with_size)


def broadcast(x: Any, size: int, axis: int, *more: Any) -> Any:
    """The value repeated along a new axis."""
    return operations_for(typeof(x)).broadcast_axis(x, size, axis)


def bdim_at_front(x: Any, bdim: int | None, size: int, *more: Any) -> Any:
    """The value with its batch axis in front, made if there is none."""
    return broadcast(x, size, 0) if bdim is None else moveaxis(x, bdim, 0)


def defvectorized(primitive: Primitive) -> None:
    """Say that a primitive of one operand acts on each element by itself."""
    primitive_batchers[primitive] = lambda operands, dims, **params: (
        primitive.bind(*operands, **params),
        dims[0],
    )


def defbroadcasting(primitive: Primitive) -> None:
    """Say that a primitive acts element by element on operands of one shape."""

    def batcher(operands: Any, dims: Any, **params: Any) -> Any:
        sizes = [typeof(x).shape[d] for x, d in zip(operands, dims, strict=True) if d is not None]
        front = [bdim_at_front(x, d, sizes[0]) for x, d in zip(operands, dims, strict=True)]
        return primitive.bind(*front, **params), 0

    primitive_batchers[primitive] = batcher


def register_vmappable(kind: type, *rules_of_kind: Any) -> None:
    """Do nothing: values of types that packages define are no operands of ``vmap`` here."""
