"""A barrier that a compiler does not move computations across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from bindax_core.extend import Primitive, primitive, rules, tree_flatten, tree_unflatten
from bindax_transforms.zeros import Zero

T = TypeVar("T")

__all__ = ["optimization_barrier", "optimization_barrier_p"]


def optimization_barrier(operand: T, /) -> T:
    """The same values, of which a compiler computes all before any is used.

    Args:
        operand: an array, or a tree of arrays.

    Returns:
        The tree, with the same values.

    Compilers do not fuse, merge, drop or reorder operations across it; that controls what is kept
    in memory, and keeps measurements honest.

    >>> optimization_barrier((np.float32(1), np.float32(2)))
    (Array(1., dtype=float32), Array(2., dtype=float32))
    """
    leaves, tree = tree_flatten(operand)
    return tree_unflatten(tree, optimization_barrier_p.bind(*leaves))


def _barrier_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    outs = optimization_barrier_p.bind(*primals)
    return outs, _through(tangents)


def _through(values: Sequence[Any]) -> list[Any]:
    """Put a barrier before all that is not a symbolic zero."""
    behind = iter(optimization_barrier_p.bind(*[v for v in values if type(v) is not Zero]))
    return [v if type(v) is Zero else next(behind) for v in values]


optimization_barrier_p: Primitive = primitive(
    "optimization_barrier",
    rules.impl(lambda *arrays: list(arrays)),
    rules.abstract_eval(lambda *avals: list(avals)),
    rules.jvp(_barrier_jvp, symbolic_zeros=True),
    rules.vmap(lambda size, operands, dims: (optimization_barrier_p.bind(*operands), list(dims))),
    rules.transpose(lambda cotangents, *operands: _through(cotangents), symbolic_zeros=True),
    rules.lowering["stablehlo"](
        lambda ctx, *values: ctx.op("stablehlo.optimization_barrier", values) if values else []
    ),
    rules.sharding(
        lambda *avals: [aval.sharding.spec for aval in avals],
        linear="own",
        manual=lambda _, *mats: mats,
    ),
    multiple_results=True,
)
