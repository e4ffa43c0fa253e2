"""Values that programs keep: constants of a traced function, and computations without results."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import (
    Array,
    Effect,
    LoweringContext,
    Primitive,
    Tracer,
    as_array,
    full_raise,
    primitive,
    rules,
    trace_state,
    tree_leaves,
)

_KEPT = Effect("dce_sink", repeatable=True)


def stage(x: Any, /) -> Array:
    """Lift a value into the function that is traced, where it becomes an array of its program.

    Args:
        x: an array or a number.

    Returns:
        A traced array inside of ``jit`` and its like, and an array elsewhere.

    >>> from bindax_transforms import jit
    >>> kinds = []
    >>> jit(lambda: kinds.append(type(stage(1.0)).__name__)).trace().out_info
    >>> kinds, stage(1.0)
    (['JaxprTracer'], Array(1., dtype=float64, weak_type=True))
    """
    staged: Any = as_array(x)
    main = trace_state.dynamic
    if main is not None and not isinstance(staged, Tracer):
        staged = full_raise(main.trace, staged)
    return staged  # type: ignore[no-any-return]


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Use the arrays of a tree, so that no transformation drops what they are computed from.

    Args:
        val: an array, or a tree of arrays.
        prevent_mlir_dce: whether the compiler keeps the computation, too; it is the call of a
            function on the host then, which does nothing.

    >>> from bindax_transforms import jit
    >>> def f(x):
    ...     dce_sink(x * 2)
    ...     return x
    >>> [eqn.primitive.name for eqn in jit(f).trace(1.0).jaxpr.eqns]
    ['mul', 'dce_sink']
    """
    dce_sink_p.bind(*tree_leaves(val), prevent_mlir_dce=bool(prevent_mlir_dce))


def _lowering(ctx: LoweringContext, *values: Any, prevent_mlir_dce: bool) -> list[Any]:
    if not prevent_mlir_dce:
        return []
    return ctx.callback(lambda *arrays: [], values, ())


def _jvp(primals: Any, tangents: Any, **params: Any) -> tuple[list[Any], list[Any]]:
    dce_sink_p.bind(*primals, **params)
    return [], []


def _vmap(size: int, operands: Any, dims: Any, **params: Any) -> tuple[list[Any], list[Any]]:
    dce_sink_p.bind(*operands, **params)
    return [], []


dce_sink_p: Primitive = primitive(
    "dce_sink",
    rules.impl(lambda *arrays, **params: []),
    rules.abstract_eval(lambda *avals, **params: []),
    rules.effects(lambda **params: frozenset({_KEPT})),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose.absent("it has no result that could have a cotangent"),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Uses its operands. Parameter: ``prevent_mlir_dce``, whether the compiler is to keep them."""
